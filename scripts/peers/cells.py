# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured: one cell is one problem at one number of threads."""
import dataclasses

LENGTHS = (512, 1024, 2048, 4096, 8192)
DECODE_LENGTHS = (4096, 16384, 131072)
DIMS = (64, 128)
THREADS = (1, 2)
DTYPES = ("fp32", "bf16", "fp16")
BYTES = {"fp32": 4, "bf16": 2, "fp16": 2}


@dataclasses.dataclass(frozen=True)
class Cell:
    kind: str  # full, causal, decode
    dtype: str
    threads: int
    head_dim: int
    seq_q: int
    seq_k: int
    heads: int
    kv_heads: int

    @property
    def name(self):
        group = f"_g{self.heads // self.kv_heads}" if self.kind == "decode" else ""
        return f"{self.kind}_{self.dtype}_t{self.threads}_d{self.head_dim}_n{self.seq_k}{group}"

    @property
    def flops(self):
        """Full count; half of it under a causal mask, as public benchmarks count, for every contender."""
        full = 4.0 * self.heads * self.seq_q * self.seq_k * self.head_dim
        return full / 2 if self.kind == "causal" else full

    @property
    def input_bytes(self):
        rows = self.heads * self.seq_q + 2 * self.kv_heads * self.seq_k
        return BYTES[self.dtype] * rows * self.head_dim

    def repetitions(self, seconds):
        """As many calls as a core at 100 GFLOP/s and 25 GB/s makes in that time, 3 to 15."""
        one = max(self.flops / (self.threads * 100e9), self.input_bytes / 25e9)
        return min(15, max(3, int(seconds / one)))


def square(kind, dtype, threads, dim, length):
    heads = 8 if length <= 2048 else 2
    return Cell(kind, dtype, threads, dim, length, length, heads, heads)


def decode(dtype, threads, dim, length, group):
    # As many key heads as make the shortest and the next length equally large; the longest is one head alone.
    kv_heads = max(1, 8 * DECODE_LENGTHS[0] // length)
    return Cell("decode", dtype, threads, dim, 1, length, group * kv_heads, kv_heads)


def all_cells():
    """A problem's numbers of threads follow each other, and decoding the roofs: the machine is the same for both."""
    cells = []
    for dtype in DTYPES:
        for dim in DIMS:
            cells += [decode(dtype, threads, dim, length, group)
                      for length in DECODE_LENGTHS for group in (1, 8) for threads in THREADS]
            for kind in ("full", "causal"):
                cells += [square(kind, dtype, threads, dim, length) for length in LENGTHS for threads in THREADS]
    return cells


def is_quick(cell):
    """One short and one middling cell of each sort."""
    return cell.head_dim == 64 and cell.seq_k in ((4096,) if cell.kind == "decode" else (512, 2048))
