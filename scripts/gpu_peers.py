#!/usr/bin/env python3
"""Times Flashpad and the attention kernels a user would otherwise pick, in one process on one NVIDIA GPU.

Flashpad is called through its C interface (libflashpad_c.so, or a shared libflashpad.so; --library). The others are
PyTorch's flash (FlashAttention-2), cuDNN, efficient and math backends, FlashAttention-3 (PyPI's fa3-fwd, bf16) and a
Triton kernel; one that is missing or refuses a shape is a row with the reason. In each cell all take turns, --rounds
times in an order drawn anew each time: a card at its power limit is slower after a heavy kernel than after a light one,
so nobody may always have the same neighbour; with --settle each runs for a while before it is timed, and has only its own
heat. A time is the median of launches timed by events, the second-level cache flushed before each; a cell reports the
median of its rounds, and the clock of the multiprocessors while they ran (where Python has pynvml).

Each kernel is checked on sampled rows against float64: allowed is twice the error of a plain evaluation that rounds P
and O to the 16-bit type, plus one unit of rounding. FLOPs are 4 d a pair of query and key, causal counted as half, as
public benchmarks do. Exit status 1: a Flashpad row that is wrong or did not run.
"""
import argparse
import ctypes
import json
import math
import random
import statistics
import subprocess
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

DTYPES = {"fp16": (torch.float16, 2), "bf16": (torch.bfloat16, 3)}


class Shape(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int64) for n in ("batch", "heads", "kv_heads", "seq_q", "seq_k", "head_dim", "value_dim")]


class Options(ctypes.Structure):
    _fields_ = [("mask_left", ctypes.c_int64), ("mask_right", ctypes.c_int64), ("scale", ctypes.c_double),
                ("kernel", ctypes.c_char_p), ("engine", ctypes.c_char_p), ("tile_q", ctypes.c_int),
                ("tile_k", ctypes.c_int), ("splits", ctypes.c_int), ("workspace_limit", ctypes.c_double)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("stride", ctypes.c_int64 * 4)]


class Flashpad:
    """The C interface of flashpad/flashpad.h."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name in ("message", "plan_kernel", "plan_engine", "plan_why"):
            getattr(self.lib, "flashpad_" + name).restype = ctypes.c_char_p
        for name in ("plan_kernel", "plan_engine", "plan_why", "plan_destroy"):
            getattr(self.lib, "flashpad_" + name).argtypes = [ctypes.c_void_p]
        self.lib.flashpad_plan_run.argtypes = [ctypes.c_void_p] * 7
        self.check(self.lib.flashpad_initialize(-1))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.lib.flashpad_message().decode())

    def prepare(self, cell, q, k, v, kernel, workspace_limit):
        """A call without arguments that returns O, and what the plan chose."""
        o = torch.empty_like(q)
        options = Options()
        self.lib.flashpad_default_options(ctypes.byref(options))
        options.kernel = kernel.encode()
        options.workspace_limit = workspace_limit
        if cell["causal"]:
            options.mask_right = 0
        shape = Shape(*(q.shape[:2]), k.shape[1], q.shape[2], k.shape[2], q.shape[3], q.shape[3])
        plan = ctypes.c_void_p()
        self.check(self.lib.flashpad_plan_create(ctypes.byref(plan), b"cuda", ctypes.byref(shape),
                                                 DTYPES[cell["dtype"]][1], ctypes.byref(options)))
        tensors = [Tensor(t.data_ptr(), t.stride()) for t in (q, k, v, o)]
        arguments = [ctypes.addressof(t) for t in tensors]
        stream = torch.cuda.current_stream().cuda_stream

        def call():
            status = self.lib.flashpad_plan_run(plan, stream, *arguments, None)
            if status:
                self.check(status)
            return o

        call.keep = tensors, (q, k, v)  # the pointers' owners
        call.close = lambda: self.lib.flashpad_plan_destroy(plan)
        call.choice = {"kernel": self.lib.flashpad_plan_kernel(plan).decode(),
                       "engine": self.lib.flashpad_plan_engine(plan).decode() or None,
                       "why": self.lib.flashpad_plan_why(plan).decode() or None}
        return call


BACKENDS = {"flash2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}


def bottom_right(cell):
    """PyTorch aligns is_causal top-left; with one query nothing is hidden, and other shapes are left out."""
    if cell["causal"] and cell["nq"] != cell["nk"]:
        raise RuntimeError("its causal mask is aligned top-left")
    return cell["causal"]


def prepare_peer(peer, cell, q, k, v):
    causal = cell["causal"]
    if peer == "fa3":
        from fa3_fwd_interface import flash_attn_func
        if cell["dtype"] != "bf16":
            raise RuntimeError("fa3-fwd is built for bf16 alone")
        qt, kt, vt = (t.transpose(1, 2) for t in (q, k, v))

        def fa3():
            o = flash_attn_func(qt, kt, vt, causal=causal)
            return (o[0] if isinstance(o, tuple) else o).transpose(1, 2)
        return fa3
    if peer == "triton":
        from gpu_peers_triton import prepare
        return prepare(q, k, v, bottom_right(cell))
    is_causal = bottom_right(cell)
    gqa = q.shape[1] != k.shape[1]

    def sdpa():
        with sdpa_kernel(BACKENDS[peer]):
            return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal, enable_gqa=gqa)
    return sdpa


def expected(cell, q, k, v):
    """Sampled (b, h, rows), O there in float64, and the error that is allowed."""
    torch.manual_seed(1)
    rows = torch.unique(torch.cat([torch.randint(cell["nq"], (60,)), torch.tensor([0, cell["nq"] - 1])])).cuda()
    heads = sorted({(0, 0), (cell["b"] - 1, cell["h"] - 1), (cell["b"] // 2, cell["h"] // 3)})
    group = cell["h"] // cell["kv_heads"]
    samples, plain_error, top = [], 0.0, 0.0
    for b, h in heads:
        kk, vv = k[b, h // group].double(), v[b, h // group].double()
        s = q[b, h, rows].double() @ kk.T / math.sqrt(cell["d"])
        if cell["causal"]:
            hidden = torch.arange(cell["nk"], device="cuda")[None] > rows[:, None] + cell["nk"] - cell["nq"]
            s.masked_fill_(hidden, -math.inf)
        p = torch.exp(s - s.amax(1, keepdim=True))
        o = p @ vv / p.sum(1, keepdim=True)
        rounded = (p.to(q.dtype).double() @ vv / p.sum(1, keepdim=True)).to(q.dtype).double()
        plain_error = max(plain_error, (rounded - o).abs().max().item())
        top = max(top, o.abs().max().item())
        samples.append((b, h, o))
    unit = torch.finfo(q.dtype).eps * 2.0 ** math.floor(math.log2(top))
    return rows, samples, 2 * plain_error + unit


def error_of(o, rows, samples):
    worst = 0.0
    for b, h, want in samples:
        error = (o[b, h, rows].double() - want).abs().max().item()
        worst = max(worst, math.inf if math.isnan(error) else error)
    return worst


def clock_reader():
    """A call that reads the multiprocessors' clock in MHz; None where it cannot be read."""
    try:
        import pynvml
        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(0).uuid}")
        read = lambda: pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM)
        read()
        return read
    except Exception:  # no pynvml, or a driver that does not tell
        return lambda: None


FLUSH = None


def time_ms(call, seconds, settle=0.0, clock=lambda: None):
    """Median of single launches, each after the second-level cache was overwritten; and the clock halfway."""
    global FLUSH
    if FLUSH is None:
        FLUSH = torch.empty(256 * 2**20, dtype=torch.int8, device="cuda")

    def launches(count):
        events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
        for start, end in events:
            FLUSH.zero_()
            start.record()
            call()
            end.record()
        events[count // 2][0].synchronize()
        mhz = clock()
        torch.cuda.synchronize()
        return statistics.median(start.elapsed_time(end) for start, end in events), mhz

    once, _ = launches(3)
    if settle > 0:
        launches(max(1, int(settle * 1e3 / (once + 0.1))))
    return launches(max(10, min(200, int(seconds * 1e3 / (once + 0.1)))))


def measure(cell, names, flashpad, baseline, clock, a):
    """One row for each name."""
    dtype = DTYPES[cell["dtype"]][0]
    torch.manual_seed(0)
    make = lambda heads, n: torch.randn(cell["b"], heads, n, cell["d"], device="cuda", dtype=dtype)
    q, k, v = make(cell["h"], cell["nq"]), make(cell["kv_heads"], cell["nk"]), make(cell["kv_heads"], cell["nk"])
    rows, samples, tolerance = expected(cell, q, k, v)
    calls, out = {}, {}
    for name in names:
        out[name] = {"name": name, **cell}
        try:
            ours = name.removeprefix("flashpad-") if name.startswith("flashpad-") else None
            limit = a.vendor_limit if ours == "naive-vendor" else 0
            if name == "baseline":
                call = baseline.prepare(cell, q, k, v, a.ours[0], 0)
            else:
                call = flashpad.prepare(cell, q, k, v, ours, limit) if ours else prepare_peer(name, cell, q, k, v)
            out[name].update(getattr(call, "choice", {}))
            out[name]["max_abs_err"], out[name]["tolerance"] = error_of(call(), rows, samples), tolerance
            out[name]["verified"] = out[name]["max_abs_err"] <= tolerance
            torch.cuda.synchronize()
            calls[name] = call
        except Exception as e:  # one that refuses a shape is a row
            out[name]["error"] = str(e).splitlines()[0][:200] if str(e) else type(e).__name__
    times, clocks = {name: [] for name in calls}, {name: [] for name in calls}
    order = list(calls)
    draw = random.Random(0)
    for _ in range(a.rounds):
        draw.shuffle(order)
        for name in order:
            ms, mhz = time_ms(calls[name], a.seconds, a.settle, clock)
            times[name].append(ms)
            clocks[name] += [mhz] * (mhz is not None)
    flops = 4.0 * cell["b"] * cell["h"] * cell["nq"] * cell["nk"] * cell["d"] * (0.5 if cell["causal"] else 1.0)
    kv_bytes = 2.0 * q.element_size() * cell["b"] * cell["kv_heads"] * cell["nk"] * cell["d"]
    for name, ms in times.items():
        out[name]["round_ms"], out[name]["ms"] = ms, statistics.median(ms)
        out[name]["tflops"] = flops / out[name]["ms"] * 1e-9
        out[name]["kv_bytes_per_s"] = kv_bytes / out[name]["ms"] * 1e3
        if clocks[name]:
            out[name]["clock_mhz"] = statistics.median(clocks[name])
    for call in calls.values():
        getattr(call, "close", lambda: None)()
    return list(out.values())


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


def report(rows, names, best_of):
    """The cell's line: TFLOP/s (decode: TB/s of keys and values), and ours over the better of two."""
    first = rows[0]
    decode = first["nq"] != first["nk"]
    line = f"{first['dtype']} d={first['d']} {'causal' if first['causal'] else 'full':6} " \
           f"{first['nq']}x{first['nk']} h={first['h']}/{first['kv_heads']}"
    value = {r["name"]: r["kv_bytes_per_s"] / 1e12 if decode else r["tflops"] for r in rows if "ms" in r}
    for name in names:
        line += f"  {name} {value[name]:.4g}" if name in value else f"  {name} -"
    best = max((value[n] for n in best_of if n in value), default=None)
    if names[0] in value and best:
        line += f"  ratio {value[names[0]] / best:.3f}"
    for row in rows:
        if not row.get("verified", False):
            line += f"\n    {row['name']}: " + row.get("error", f"WRONG: {row.get('max_abs_err')} > {row.get('tolerance')}")
    print(line, flush=True)


def card():
    query = "name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw,clocks_throttle_reasons.active"
    try:
        run = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"], capture_output=True, text=True)
        return run.stdout.strip()
    except OSError:
        return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--library", required=True, help="libflashpad_c.so, or a shared libflashpad.so")
    p.add_argument("--baseline", help="another build of the library, whose kernel takes turns too, as `baseline`")
    p.add_argument("--out", help="JSON with every row")
    p.add_argument("--ours", nargs="+", default=["auto"], help="Flashpad's kernels, the first in the ratio")
    p.add_argument("--peers", nargs="*", default=["fa3", "cudnn", "flash2"],
                   help="of fa3 cudnn flash2 efficient math triton")
    p.add_argument("--dtype", nargs="+", default=["bf16"], choices=list(DTYPES))
    p.add_argument("--dims", nargs="+", type=int, default=[64, 128])
    p.add_argument("--lengths", nargs="*", type=int, default=[512, 1024, 4096, 16384])
    p.add_argument("--causal", nargs="+", type=int, default=[0, 1])
    p.add_argument("--tokens", type=int, default=16384, help="of a batch: batch = tokens / length")
    p.add_argument("--hidden", type=int, default=2048, help="heads = hidden / d")
    p.add_argument("--heads", type=int)
    p.add_argument("--kv-heads", type=int)
    p.add_argument("--decode", nargs="*", type=int, default=[], help="key lengths of decode cells, 64 over 8 heads")
    p.add_argument("--queries", nargs="+", type=int, default=[1, 16], help="of decode cells")
    p.add_argument("--decode-tokens", type=int, default=131072)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.05, help="of launches in one turn")
    p.add_argument("--settle", type=float, default=0.0, help="seconds that each runs before it is timed")
    p.add_argument("--vendor-limit", type=float, default=0, help="workspace_limit of naive-vendor in bytes")
    a = p.parse_args()
    flashpad = Flashpad(a.library)
    baseline = Flashpad(a.baseline) if a.baseline else None
    names = ["flashpad-" + kernel for kernel in a.ours] + ["baseline"] * bool(baseline) + a.peers
    context = {"command": " ".join(["gpu_peers.py"] + [x for x in sys.argv[1:] if "/" not in x]),
               "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
               "cudnn": torch.backends.cudnn.version(), "card_before": card()}
    print(json.dumps(context), flush=True)
    rows = []
    clock = clock_reader()
    for cell in cells_of(a):
        measured = measure(cell, names, flashpad, baseline, clock, a)
        report(measured, names, [n for n in ("fa3", "cudnn") if n in names])
        rows += measured
    context["card_after"] = card()
    if a.out:
        with open(a.out, "w") as f:
            json.dump({"context": context, "rows": rows}, f, indent=1)
    for each in filter(None, (flashpad, baseline)):
        each.check(each.lib.flashpad_finalize())
    bad = [r for r in rows if r["name"] == names[0] and not r.get("verified", False)]
    print(f"{len(rows)} rows; Flashpad wrong or absent in {len(bad)}")
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
