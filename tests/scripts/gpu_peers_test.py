# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/gpu_peers.py without a GPU: its arguments, its orders, what it calls best and what fails it."""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")
sys.path.insert(0, SCRIPTS)
import gpu_peers  # noqa: E402


def run(*arguments):
    """Isolated, so that no PyTorch is there whatever this Python has: a folder that shadows it."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "torch.py"), "w") as f:
            f.write("raise ImportError('no torch here')\n")
        return subprocess.run([sys.executable, os.path.join(SCRIPTS, "gpu_peers.py"), *arguments], text=True,
                              capture_output=True, env=dict(os.environ, PYTHONPATH=folder))


CELL = dict(dtype="bf16", d=64, causal=False, nq=512, nk=512, b=32, h=32, kv_heads=32)


def row(name, ms, **more):
    return {"name": name, **CELL, "ms": ms, "ms_min": ms * 0.9, "ms_max": ms * 1.2, "tflops": 100 / ms,
            "kv_bytes_per_s": 1e12 / ms, "verified": True, **more}


class Arguments(unittest.TestCase):
    def test_help_needs_no_torch(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--seed", done.stdout)

    def test_without_torch_it_says_so(self):
        done = run("--library", sys.executable)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("needs PyTorch: no torch here", done.stderr)

    def test_a_bad_one_is_one_line_and_status_2(self):
        bad = {("--dims", "0"): "--dims", ("--dims", "4096"): "--dims: 4096: no head fits --hidden 2048",
               ("--lengths", "0"): "--lengths", ("--decode", "0"): "--decode", ("--rounds", "0"): "--rounds",
               ("--peers", "fa4"): "fa4", ("--causal", "7"): "7", ("--dtype", "fp8"): "fp8",
               ("--kv-heads", "5"): "--kv-heads: 5 does not divide the 32 heads", ("--seconds", "-1"): "--seconds",
               ("--lengths",): "no cell", ("--peers", "fa3", "fa3"): "named twice",
               ("--out", "no/such/folder/x.json"): "no such folder", ("--lengths", "many"): "--lengths"}
        for extra, says in bad.items():
            done = run("--library", sys.executable, *extra)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), (extra, done.stderr))
            self.assertIn(says, done.stderr)

    def test_the_library_has_to_be_one(self):
        for path, says in (("/no/such.so", "No such file"), (__file__, "not a shared library"), (SCRIPTS, "directory")):
            done = run("--library", path)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(says, done.stderr)

    def test_nobody_may_be_asked_for(self):
        a = gpu_peers.arguments(["--library", sys.executable, "--peers", "--lengths", "--causal", "0", "--decode", "4096"])
        self.assertEqual((a.peers, [c["nk"] for c in gpu_peers.cells_of(a)]), ([], [4096] * 4))

    def test_float32_has_engines_and_the_seed_is_kept_or_drawn(self):
        given = ["--library", sys.executable, "--dtype", "fp32", "--ours", "fused:mma-tf32x3", "fused:simt"]
        self.assertEqual(gpu_peers.arguments([*given, "--seed", "7"]).seed, 7)
        self.assertNotEqual(gpu_peers.arguments(given).seed, gpu_peers.arguments(given).seed)


class Orders(unittest.TestCase):
    def test_balanced(self):
        for count in range(2, 10):
            names = [str(i) for i in range(count)]
            rounds = count * (1 + count % 2)
            drawn = list(gpu_peers.orders(names, rounds, 1, CELL))
            places, pairs = collections.Counter(), collections.Counter()
            for order in drawn:
                self.assertEqual(sorted(order), names)
                places.update(enumerate(order))
                pairs.update(zip(order, order[1:]))
            self.assertEqual((len(places), set(places.values())), (count**2, {rounds // count}))
            self.assertEqual((len(pairs), set(pairs.values())), (count * (count - 1), {rounds // count}))

    def test_two_rounds_are_an_order_and_its_reverse(self):
        one, two = gpu_peers.orders("abc", 2, 1, CELL)
        self.assertEqual(one, two[::-1])

    def test_cells_and_seeds_differ_and_repeat(self):
        def first(seed, n):
            return next(gpu_peers.orders("abcdefgh", 1, seed, dict(CELL, nq=n, nk=n)))
        self.assertGreater(len({tuple(first(1, n)) for n in range(1, 30)}), 20)
        self.assertGreater(len({tuple(first(seed, 1)) for seed in range(30)}), 20)
        self.assertEqual(first(5, 512), first(5, 512))

    def test_nobody_is_no_order(self):
        self.assertEqual(list(gpu_peers.orders([], 2, 1, CELL)), [[], []])


class Verdict(unittest.TestCase):
    names = ["flashpad-auto", "flashpad-fused", "fa3", "cudnn"]

    def test_spread_and_ratio(self):
        line = gpu_peers.report([row("flashpad-auto", 1.0), row("fa3", 2.0), row("cudnn", 1.6, dry_rounds=2)], self.names)
        self.assertIn("flashpad-auto 100 (83.33 to 111.1)", line)
        self.assertIn("flashpad-fused -", line)
        self.assertIn("[host-bound in 2 rounds]", line)
        self.assertIn("ratio 1.600", line)

    def test_a_wrong_peer_is_not_the_best(self):
        wrong = row("fa3", 0.1, verified=False, max_abs_err=1.0, tolerance=0.1)
        line = gpu_peers.report([row("flashpad-auto", 1.0), wrong, row("cudnn", 2.0)], self.names)
        self.assertIn("ratio 2.000", line)
        self.assertIn("fa3: WRONG: 1.0 > 0.1", line)
        self.assertEqual(gpu_peers.failed([row("flashpad-auto", 1.0), wrong], self.names), [])

    def test_any_wrong_row_of_ours_fails(self):
        good = row("flashpad-auto", 1.0)
        for name in ("flashpad-auto", "flashpad-fused", "baseline"):
            self.assertEqual(len(gpu_peers.failed([good, row(name, 1.0, verified=False)], self.names)), 1)
        refused = {**CELL, "error": "out of memory"}
        self.assertEqual(len(gpu_peers.failed([{"name": "flashpad-fused", **refused}], self.names)), 0)
        self.assertEqual(len(gpu_peers.failed([{"name": "flashpad-auto", **refused}], self.names)), 1)

    def test_the_file_is_whole_after_each_cell(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            gpu_peers.write(path, {"seed": 1}, [row("fa3", 1.0)])
            with self.assertRaises(TypeError):
                gpu_peers.write(path, {"seed": 1}, [object()])
            with open(path) as f:
                self.assertEqual(json.load(f)["rows"][0]["name"], "fa3")


if __name__ == "__main__":
    unittest.main()
