# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each cell is held to: ratios of rates, ours over theirs, in this run."""


class Bar:
    """One comparison: a measured ratio and the least that is wanted of it."""

    def __init__(self, what, ratio, wanted):
        self.what, self.ratio, self.wanted = what, ratio, wanted

    @property
    def met(self):
        return self.ratio >= self.wanted

    def __str__(self):
        return f"{self.ratio:.2f} {'>=' if self.met else '< '} {self.wanted:.2f} {self.what}"


def bars_of(cell, rates, peak, roof_fraction, others):
    """Bars of a cell. `rates`: FLOP/s by contender, ours as "flashpad"; `others`: our rate in other cells of
    this run, by (kind, dtype, threads, head_dim, seq_k, group)."""
    bars = []
    ours = rates["flashpad"]
    peers = {name: rate for name, rate in rates.items() if name != "flashpad"}

    def against(name, wanted):
        if name in peers:
            bars.append(Bar(name, ours / peers[name], wanted))

    def best(wanted):
        if peers:
            name = max(peers, key=peers.get)
            bars.append(Bar(f"best ({name})", ours / peers[name], wanted))

    def another(what, wanted, **changes):
        key = dict(kind=cell.kind, dtype=cell.dtype, threads=cell.threads, head_dim=cell.head_dim,
                   seq_k=cell.seq_k, group=cell.heads // cell.kv_heads)
        rate = others.get(tuple({**key, **changes}.values()))
        if rate:
            bars.append(Bar(what, ours / rate, wanted))

    narrow = cell.head_dim == 64
    if cell.kind == "decode":
        bars.append(Bar("roof", roof_fraction, 0.85))
        return bars
    if cell.dtype == "fp32" and cell.kind == "full":
        best(1.0)
        if cell.seq_k >= 1024:
            bars.append(Bar("FMA peak", ours / peak, 0.84 if narrow else 0.88))
    elif cell.dtype == "fp32":
        best(1.15 if cell.seq_k <= 4096 else 1.08)
        if cell.seq_k == 512:
            against("torch", 1.5)
    elif cell.dtype == "bf16" and cell.kind == "full":
        against("zentorch", 1.1 if narrow else 1.05)
        against("torch", 1.8)
    elif cell.dtype == "bf16":
        against("zentorch", 1.15 if cell.seq_k <= 2048 else 1.1)
    else:
        another("fp32", 0.95, dtype="fp32")
    if cell.threads == 2:
        another("one thread", 1.9, threads=1)
    return bars
