#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times Flashpad on the host beside PyTorch, ONNX Runtime and zentorch, on one machine, in one run.

Every cell (one problem, one number of threads) goes round all contenders in turn before the next begins, so that
a change of the machine's clock or of its other load meets them all; a problem's numbers of threads follow each other,
and the roofs are measured anew for each type and width. One estimator for all: the median over the rounds of each
round's median call. Threads wait for work as each contender's runtime has them wait by default. One cache state for
all: inputs rotate through copies that are together twice the last-level cache, on huge pages where the kernel lends
them: NumPy asks for those by itself, the others' malloc does by GLIBC_TUNABLES (--pages small leaves that out, for all
but NumPy). Causal cells count half the full FLOPs on every side. Peers come from the interpreters given; one that has
none of them, and a peer that none has, is named as not run.

usage: bench_host.py --flashpad build/flashpad --json results/host.json --python python3 --python venv/bin/python
"""
import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from peers import bars, cells

PEERS = ("torch", "onnxruntime", "zentorch")


def fail(message):
    sys.exit(f"bench_host.py: {message}")


def environment(threads, huge_pages):
    """All contenders are bound and have the same pages; what slows or forces one BLAS alone, and how threads wait, is
    taken out."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("OPENBLAS_")
           and name not in ("GLIBC_TUNABLES", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")}
    if huge_pages:
        env.update(GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
    env.update(OMP_PROC_BIND="spread", OMP_PLACES="threads", OMP_NUM_THREADS=str(threads))
    return env


class Worker:
    """One peer in one of the interpreters, for one number of threads."""

    def __init__(self, python, peer, env):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers", "worker.py")
        try:
            self.process = subprocess.Popen([python, script, peer], env=env, text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except OSError as error:
            fail(f"--python {python}: {error.strerror}")
        self.python = python
        presence = self.answer()
        self.version, self.why = presence["version"], presence.get("why")

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            fail(f"--python {self.python}: it ended with code {self.process.wait()} and no answer")
        return json.loads(line)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def find(name, pythons, env):
    """The peer in the first interpreter that has it, or why none has."""
    why = "not installed"
    for python in pythons:
        worker = Worker(python, name, env)
        if worker.version:
            return worker, None
        worker.close()
        why = why if worker.why == "not installed" else worker.why
    return None, why


class Pool(contextlib.AbstractContextManager):
    """The peers' workers, some for each number of threads: each holds its last inputs."""

    def __init__(self, arguments):
        self.arguments, self.workers, self.missing = arguments, {}, {}

    def of(self, threads):
        if threads not in self.workers:
            env = environment(threads, self.arguments.pages == "huge")
            found = {name: find(name, self.arguments.python, env) for name in PEERS}
            self.workers[threads] = {name: worker for name, (worker, _) in found.items() if worker}
            self.missing = {name: why for name, (_, why) in found.items() if why}
        return self.workers[threads]

    def __exit__(self, *_):
        for workers in self.workers.values():
            for worker in workers.values():
                worker.close()


def run_flashpad(driver, cell, repetitions, folder, env, limit="auto"):
    """One round of ours, in a process of its own: (row, context) of its report."""
    experiment = os.path.join(folder, "cell.yaml")
    report = os.path.join(folder, "cell.json")
    with open(experiment, "w", encoding="utf-8") as file:
        file.write(f"""name: cell
problem: {{heads: {cell.heads}, kv_heads: {cell.kv_heads}, seq_q: {cell.seq_q}, seq_k: {cell.seq_k},
  head_dim: {cell.head_dim}, dtype: {cell.dtype}, mask: {'causal' if cell.kind == 'causal' else 'none'}}}
kernels: fused
backend: openmp
verify: false
memory_limit: {limit}
timing: {{warmup: 1, repetitions: {repetitions}}}
""")
    done = subprocess.run([driver, "run", experiment, "--json", report], env=env,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        fail(f"{driver}: {cell.name}: {lines[-1]}")
    with open(report, encoding="utf-8") as file:
        document = json.load(file)
    return document["rows"][0], document["context"]


def summary(medians, least, within):
    """`within`: what half of one round's calls differ by, for want of a second round."""
    median = statistics.median(medians)
    spread = (max(medians) - min(medians)) / median if len(medians) > 1 else within
    return {"median_s": median, "min_s": least, "spread": spread}


def middle_half(seconds):
    low, _, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return (high - low) / statistics.median(seconds)


class Roofs:
    """The machine's peaks. Each process of ours measures them for itself, in arrays of many times the last-level
    cache; where that takes longer than the cells, they are measured once for each type, width and number of threads,
    before the first cell that has them."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.known = arguments, folder, {}

    def of(self, cell):
        key = (cell.threads, cell.dtype, cell.head_dim)
        if key not in self.known:
            probe = cells.square("full", cell.dtype, cell.threads, 64, 512)
            env = environment(cell.threads, self.arguments.pages == "huge")
            row, context = run_flashpad(self.arguments.flashpad, probe, 3, self.folder, env)
            if row["roof_fraction"] is None:
                fail(f"the machine's peaks: {row['reason']}")
            self.known[key] = context
        return self.known[key]

    def limit(self, cell):
        """Bytes that hold the cell's cold inputs and not the probe's arrays, or none."""
        cache = self.of(cell)["last_level_cache_bytes"]
        limit = 7 * cache
        return f"{limit:.0f}" if cache > 2**28 and limit > 3 * cache + 3 * cell.input_bytes else "auto"


def under_roof(row, cell, context):
    """The row with the peaks it is held against. A decode step reads and hardly writes; else the better of reading
    and copying counts, as in the driver's own reports."""
    backend = context["backends"][0]
    row["peak_flops"] = backend.get(f"peak_flops_{cell.dtype}") or backend["peak_flops_fp32"]
    row["peak_bytes_per_s"] = backend["peak_read_bytes_per_s" if cell.kind == "decode" else "peak_bytes_per_s"]
    compute, memory = row["flops"] / row["peak_flops"], row["bytes_model"] / row["peak_bytes_per_s"]
    if row["roof_fraction"] is None:
        row["reason"] = None  # that it has no roof
    return dict(row, roof="compute" if compute > memory else "memory",
                roof_fraction=max(compute, memory) / row["median_s"])


def measure(cell, arguments, pool, roofs, folder):
    """All rows of one cell, ours first."""
    workers = pool.of(cell.threads)
    ours, seconds, refused, context = [], {}, {}, None
    repetitions = cell.repetitions(arguments.seconds)
    limit = roofs.limit(cell)
    for turn in range(arguments.rounds):
        def own():
            nonlocal context
            row, context = run_flashpad(arguments.flashpad, cell, repetitions, folder,
                                         environment(cell.threads, arguments.pages == "huge"), limit)
            if limit != "auto":
                context = roofs.of(cell)
            ours.append(under_roof(row, cell, context))

        def other(name, worker):
            copies = min(4096, int(2 * context["last_level_cache_bytes"] // cell.input_bytes) + 1)
            answer = worker.ask({"copies": copies, "warmup": 1, "repetitions": repetitions,
                                 **{key: getattr(cell, key) for key in ("kind", "dtype", "threads", "head_dim",
                                                                       "seq_q", "seq_k", "heads", "kv_heads")}})
            if "refused" in answer:
                refused[name] = answer["refused"]
            else:
                seconds.setdefault(name, []).append(answer["seconds"])

        own()
        names = [name for name in PEERS if name in workers and name not in refused]
        for name in names if turn % 2 == 0 else reversed(names):
            other(name, workers[name])

    row = dict(ours[-1], **summary([r["median_s"] for r in ours], min(r["min_s"] for r in ours),
                               ours[-1]["spread"]))
    row.update(case=cell.name, threads=cell.threads, rounds=arguments.rounds, peer="flashpad")
    row["roof_fraction"] = statistics.median(r["roof_fraction"] for r in ours)
    rows = [row]
    for name in PEERS:
        row = {key: None if key not in ("dtype", "batch", "heads", "kv_heads", "seq_q", "seq_k", "head_dim",
                                        "value_dim", "mask", "layout") else value for key, value in rows[0].items()}
        row.update(case=cell.name, kernel=name, peer=name, threads=cell.threads)
        if name in seconds:
            row.update(status="ok", cache=rows[0]["cache"], repetitions=repetitions, rounds=arguments.rounds,
                       **summary([statistics.median(s) for s in seconds[name]], min(min(s) for s in seconds[name]),
                                 middle_half(seconds[name][-1])))
        else:
            row.update(status="skipped", reason=refused.get(name) or f"{pool.missing[name]}: not run")
        rows.append(row)
    for row in rows:
        if row["median_s"]:
            row["flops"] = cell.flops
            row["tflops"] = cell.flops / row["median_s"] / 1e12
    return rows, context


def key_of(row, kind):
    return (kind, row["dtype"], row["threads"], row["head_dim"], row["seq_k"], row["heads"] // row["kv_heads"])


def print_cell(cell, rows, others):
    rates = {row["peer"]: row["tflops"] * 1e12 for row in rows if row["tflops"]}
    held = bars.bars_of(cell, rates, rows[0]["peak_flops"], rows[0]["roof_fraction"], others)
    numbers = "".join(f"{rates[name] / 1e9:12.1f}" if name in rates else f"{'-':>12}" for name in ("flashpad", *PEERS))
    spread = max(row["spread"] for row in rows if row["median_s"])
    print(f"{cell.name:34}{numbers}{spread:7.0%}  " + "; ".join(str(bar) for bar in held), flush=True)
    rows[0]["bars"] = [{"against": bar.what, "ratio": bar.ratio, "wanted": bar.wanted, "met": bar.met} for bar in held]
    return held


def write(path, document):
    """Whole or not at all."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=os.path.dirname(os.path.abspath(path)),
                                     delete=False) as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"context": None, "rows": []}
    except (OSError, ValueError) as error:
        fail(f"--json {path}: {error}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--flashpad", default="build/flashpad", help="the driver (default: %(default)s)")
    parser.add_argument("--python", action="append", default=[], help="an interpreter with peers; may be repeated")
    parser.add_argument("--json", required=True, help="file that the rows go to")
    parser.add_argument("--merge", action="store_true", help="keep the other cells of an existing file: runs in slices")
    parser.add_argument("--filter", default="", help="only cells whose name this regular expression finds")
    parser.add_argument("--pages", choices=("huge", "small"), default="huge",
                        help="memory of all contenders (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="two lengths, d = 64")
    parser.add_argument("--rounds", type=int, default=2, help="turns of all contenders in a cell (default: 2)")
    parser.add_argument("--seconds", type=float, default=0.3, help="time of one contender's round (default: 0.3)")
    arguments = parser.parse_args()
    if arguments.rounds < 1 or not 0 < arguments.seconds < 3600:
        fail("--rounds and --seconds: allowed: 1 or more, and above 0, below 3600")
    if not os.access(arguments.flashpad, os.X_OK):
        fail(f"--flashpad {arguments.flashpad}: not there; `make build` makes it")
    return arguments


def main():
    arguments = parse()
    try:
        wanted = [cell for cell in cells.all_cells()
                  if re.search(arguments.filter, cell.name) and (not arguments.quick or cells.is_quick(cell))]
    except re.error as error:
        fail(f"--filter {arguments.filter}: {error}")
    if not wanted:
        fail(f"--filter {arguments.filter}: finds none of {len(cells.all_cells())} cells")
    document = load(arguments.json) if arguments.merge else {"context": None, "rows": []}
    document["rows"] = [row for row in document["rows"] if row["case"] not in {cell.name for cell in wanted}]
    others = {key_of(row, row["case"].split("_")[0]): row["tflops"] * 1e12
              for row in document["rows"] if row["peer"] == "flashpad"}
    missed = total = 0
    with tempfile.TemporaryDirectory() as folder, Pool(arguments) as pool:
        roofs = Roofs(arguments, folder)
        versions = {name: worker.version for name, worker in pool.of(wanted[0].threads).items()}
        print("peers: " + ", ".join(f"{name} {versions[name]}" if name in versions else
                                    f"{name} not run ({pool.missing[name]})" for name in PEERS))
        print(f"{'cell, GFLOP/s (causal: half the full count)':34}{'flashpad':>12}"
              + "".join(f"{name:>12}" for name in PEERS) + " spread  ratio, bar")
        for cell in wanted:
            rows, context = measure(cell, arguments, pool, roofs, folder)
            others[key_of(rows[0], cell.kind)] = rows[0]["tflops"] * 1e12
            held = print_cell(cell, rows, others)
            total += len(held)
            missed += sum(not bar.met for bar in held)
            document["context"] = dict(context, command=" ".join(sys.argv), peers=versions, experiment="bench-host",
                                       pages=arguments.pages,
                                       flops_rule="4 d heads seq_q seq_k, halved under a causal mask, on every side")
            document["rows"] += rows
            write(arguments.json, document)
    print(f"{total - missed} of {total} bars met; wrote {arguments.json}")


if __name__ == "__main__":
    main()
