#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times Flashpad and the attention kernels a user would otherwise pick, in one process on one NVIDIA GPU.

Flashpad is called through its C interface (libflashpad_c.so, or a shared libflashpad.so; --library). The others are
PyTorch's flash (FlashAttention-2), cuDNN, efficient and math backends, FlashAttention-3 (PyPI's fa3-fwd, bf16) and a
Triton kernel; one that is missing or refuses a shape is a row with the reason. In each cell all take turns, --rounds
times: a card at its power limit is slower after a heavy kernel than after a light one, so the orders are balanced (each
goes first, and follows each other, about equally often) and drawn for each cell from --seed; with --settle each runs
for a while before it is timed, and has only its own heat. A time is the median of launches timed by events, the
second-level cache flushed before each; the launches are queued ahead of the device, and a row whose queue ran dry says
in how many rounds (dry_rounds), for the host's work is in its time. A cell reports the median of its rounds, the least
and the most, and the clock of the multiprocessors while they ran (where Python has pynvml).

Each kernel is checked on sampled rows against float64: allowed is twice the error of a plain evaluation that rounds P
and O to the 16-bit type, plus one unit of rounding; float32 2e-5, and the engine mma-tf32, which rounds to 11 bits,
twice the error of a plain evaluation that rounds so, plus one unit. Who is wrong is not timed. float32 is full-precision
products for PyTorch too (no tf32). FLOPs are 4 d a pair of query and key, causal counted as half, as public benchmarks
do. The JSON is whole after each cell.

Exit status 1: a row of Flashpad is wrong, or one of its first kernel did not run. 2: bad arguments, or no PyTorch or GPU.
"""
import argparse
import json
import os
import random
import sys

PEERS = ("fa3", "cudnn", "flash2", "efficient", "math", "triton")
TYPES = ("fp32", "fp16", "bf16")


def whole(least):
    """An argument that is an integer of at least this."""
    def read(word):
        value = int(word)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value}; allowed: at least {least}")
        return value
    read.__name__ = "integer"
    return read


def seconds(word):
    value = float(word)
    if not 0 <= value < 60:
        raise argparse.ArgumentTypeError(f"{value:g}; allowed: 0 to 60")
    return value


def arguments(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    # One line for one error.
    p.error = lambda message: p.exit(2, f"gpu_peers.py: error: {message}\n")
    p.add_argument("--library", required=True, help="libflashpad_c.so, or a shared libflashpad.so")
    p.add_argument("--baseline", help="another build of the library, whose kernel takes turns too, as `baseline`")
    p.add_argument("--out", help="JSON with every row")
    p.add_argument("--ours", nargs="+", default=["auto"], metavar="KERNEL[:ENGINE]",
                   help="Flashpad's kernels, the first in the ratio; fused:simt is a kernel with an engine")
    p.add_argument("--peers", nargs="*", default=["fa3", "cudnn", "flash2"], choices=PEERS)
    p.add_argument("--dtype", nargs="+", default=["bf16"], choices=TYPES)
    p.add_argument("--dims", nargs="+", type=whole(1), default=[64, 128])
    p.add_argument("--lengths", nargs="*", type=whole(1), default=[512, 1024, 4096, 16384])
    p.add_argument("--causal", nargs="+", type=int, choices=(0, 1), default=[0, 1])
    p.add_argument("--tokens", type=whole(1), default=16384, help="of a batch: batch = tokens / length")
    p.add_argument("--hidden", type=whole(1), default=2048, help="heads = hidden / d")
    p.add_argument("--heads", type=whole(1))
    p.add_argument("--kv-heads", type=whole(1))
    p.add_argument("--decode", nargs="*", type=whole(1), default=[], help="key lengths of decode cells, 64 over 8 heads")
    p.add_argument("--queries", nargs="+", type=whole(1), default=[1, 16], help="of decode cells")
    p.add_argument("--decode-tokens", type=whole(1), default=131072)
    p.add_argument("--rounds", type=whole(1), default=3)
    p.add_argument("--seconds", type=seconds, default=0.05, help="of launches in one turn")
    p.add_argument("--settle", type=seconds, default=0.0, help="seconds that each runs before it is timed")
    p.add_argument("--seed", type=whole(0), help="of the orders; drawn when not given, and kept in the JSON")
    p.add_argument("--vendor-limit", type=float, default=0, help="workspace_limit of naive-vendor in bytes")
    a = p.parse_args(argv)
    for name in ("library", "baseline"):
        path = getattr(a, name)
        if path is None:
            continue
        try:
            with open(path, "rb") as f:
                magic = f.read(4)
        except OSError as e:
            p.error(f"argument --{name}: {path}: {e.strerror}")
        if magic != b"\x7fELF":
            p.error(f"argument --{name}: {path}: not a shared library")
    for name in ("ours", "peers"):
        asked = getattr(a, name)
        if len(set(asked)) < len(asked):
            p.error(f"argument --{name}: {' '.join(asked)}: one is named twice")
    if a.out and not os.path.isdir(os.path.dirname(a.out) or "."):
        p.error(f"argument --out: {a.out}: no such folder")
    if a.seed is None:
        a.seed = random.SystemRandom().randrange(2**31)
    cells = list(cells_of(a))
    if not cells:
        p.error("no cell: neither --lengths nor, with --causal 0, --decode has any")
    for cell in cells:
        if cell["h"] == 0:
            p.error(f"argument --dims: {cell['d']}: no head fits --hidden {a.hidden}; allowed: 1 to {a.hidden}, or --heads")
        if cell["h"] % cell["kv_heads"] != 0:
            p.error(f"argument --kv-heads: {cell['kv_heads']} does not divide the {cell['h']} heads")
    return a


def cells_of(a):
    for dtype in a.dtype:
        for d in a.dims:
            for causal in a.causal:
                for n in a.lengths:
                    h = a.heads or a.hidden // d
                    yield dict(dtype=dtype, d=d, causal=bool(causal), nq=n, nk=n, b=max(1, a.tokens // n), h=h,
                               kv_heads=a.kv_heads or h)
                if a.decode and not causal:
                    for nk in a.decode:
                        for nq in a.queries:
                            h = a.heads or 64
                            yield dict(dtype=dtype, d=d, causal=False, nq=nq, nk=nk, b=max(1, a.decode_tokens // nk),
                                       h=h, kv_heads=a.kv_heads or 8)


def name_of(cell):
    return f"{cell['dtype']} d={cell['d']} {'causal' if cell['causal'] else 'full':6} " \
           f"{cell['nq']}x{cell['nk']} h={cell['h']}/{cell['kv_heads']}"


def orders(names, rounds, seed, cell):
    """Who runs when in each round: a Williams design, and each of its orders followed by its reverse.

    In as many rounds as there are names (twice as many, where their number is odd) each has been at each place, and
    behind each other, equally often. Who is who in the design is drawn for the cell.
    """
    names = list(names)
    random.Random(f"{seed} {name_of(cell)}").shuffle(names)
    zigzag = [(i + 1) // 2 if i % 2 else -(i // 2) for i in range(len(names))]
    for turn in range(rounds):
        order = [names[(place + turn // 2) % len(names)] for place in zigzag]
        yield order[::-1] if turn % 2 else order


def best_of(cell):
    """The ratio is over the better of these."""
    return ("efficient", "math") if cell["dtype"] == "fp32" else ("fa3", "cudnn")


def report(rows, names):
    """The cell's lines: TFLOP/s (decode: TB/s of keys and values), the least and most of the rounds, the ratio."""
    cell = rows[0]
    decode = cell["nq"] != cell["nk"]
    timed = {r["name"]: r for r in rows if "ms" in r and r.get("verified", False)}
    value = {name: r["kv_bytes_per_s"] / 1e12 if decode else r["tflops"] for name, r in timed.items()}
    line = name_of(cell)
    for name in names:
        if name not in timed:
            line += f"  {name} -"
            continue
        slowest, fastest = (value[name] * timed[name]["ms"] / timed[name][end] for end in ("ms_max", "ms_min"))
        line += f"  {name} {value[name]:.4g} ({slowest:.4g} to {fastest:.4g})"
        if timed[name].get("dry_rounds", 0):
            line += f" [host-bound in {timed[name]['dry_rounds']} rounds]"
    best = max((value[n] for n in best_of(cell) if n in value), default=None)
    if names[0] in value and best:
        line += f"  ratio {value[names[0]] / best:.3f}"
    for row in rows:
        if not row.get("verified", False):
            line += f"\n    {row['name']}: " + row.get("error", f"WRONG: {row.get('max_abs_err')} > {row.get('tolerance')}")
    return line


def failed(rows, names):
    """Rows of ours that are wrong, or of our first kernel and did not run."""
    ours = [r for r in rows if r["name"].startswith("flashpad-") or r["name"] == "baseline"]
    return [r for r in ours if r.get("verified") is False or
            (r["name"] == names[0] and ("error" in r or not r.get("verified", False)))]


def write(path, context, rows):
    """The whole file or none of it."""
    part = f"{path}.part"
    with open(part, "w") as f:
        json.dump({"context": context, "rows": rows}, f, indent=1)
    os.replace(part, path)


def main(argv):
    a = arguments(argv)
    try:
        import gpu_peers_cuda as device
    except ImportError as e:
        print(f"gpu_peers.py: error: needs PyTorch: {e}", file=sys.stderr)
        return 2
    if not device.torch.cuda.is_available():
        print("gpu_peers.py: error: PyTorch finds no CUDA device", file=sys.stderr)
        return 2
    flashpad = device.Flashpad(a.library)
    baseline = device.Flashpad(a.baseline) if a.baseline else None
    names = ["flashpad-" + kernel for kernel in a.ours] + ["baseline"] * bool(baseline) + a.peers
    context = {"command": " ".join(["gpu_peers.py"] + [x for x in argv if "/" not in x]), "seed": a.seed,
               **device.context()}
    print(json.dumps(context), flush=True)
    rows, clock = [], device.clock_reader()
    for cell in cells_of(a):
        with device.torch.no_grad():  # nobody prepares a backward pass
            measured = device.measure(cell, names, flashpad, baseline,
                                      lambda who: orders(who, a.rounds, a.seed, cell), clock, a)
        print(report(measured, names), flush=True)
        rows += measured
        context["card_after"] = device.card()
        if a.out:
            write(a.out, context, rows)
    for each in filter(None, (flashpad, baseline)):
        each.check(each.lib.flashpad_finalize())
    bad = failed(rows, names)
    print(f"{len(rows)} rows; Flashpad wrong or absent in {len(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
