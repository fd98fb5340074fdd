#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws what bench_host.py or gpu_peers.py measured: TFLOP/s over the length, ours and the peers', a panel for each
type, head dimension and mask.

usage: plot_peers.py RESULTS.json PICTURE.svg    (needs matplotlib)
"""
import drawing
from drawing import plt

OURS = {"flashpad": "#0e7c86", "flashpad-auto": "#0e7c86"}
PEERS = ["#c2562d", "#7a5ea8", "#8a8f98", "#b59b3b", "#4f6d9a", "#a8577e", "#5f8f5a", "#3b3f46"]


def points(report):
    """(panel, contestant, length, TFLOP/s) of every prefill row: causal counted as half the full FLOPs."""
    for row in report["rows"]:
        if "peer" in row:  # bench_host.py; one thread, where more would hide the kernels behind the threads
            if row["status"] != "ok" or row["threads"] != 1 or row["seq_q"] != row["seq_k"] or "tflops" not in row:
                continue
            yield (row["dtype"], row["head_dim"], row["mask"] != "none"), row["peer"], row["seq_k"], row["tflops"]
        elif row["nq"] == row["nk"] and row["kv_heads"] == row["h"]:  # gpu_peers.py
            yield (row["dtype"], row["d"], row["causal"]), row["name"], row["nk"], row["tflops"]


def draw(report):
    measured = list(points(report))
    lengths = {}
    for panel, _, n, _ in measured:
        lengths.setdefault(panel, set()).add(n)
    panels = [p for p in sorted(lengths, key=lambda p: (p[0] != "fp32", *p)) if len(lengths[p]) > 2]
    names = sorted({name for _, name, _, _ in measured}, key=lambda name: (name not in OURS, name))
    colours = dict(zip([n for n in names if n not in OURS], PEERS)) | OURS
    columns = min(4, len(panels))
    lines = -(-len(panels) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(2.4 * columns, 2.2 * lines + 0.4), squeeze=False)
    for axes in grid.flat[len(panels):]:
        axes.axis("off")
    for axes, panel in zip(grid.flat, panels):
        for name in names:
            mine = sorted((n, tflops) for p, who, n, tflops in measured if (p, who) == (panel, name))
            if mine:
                axes.plot(*zip(*mine), marker="o", markersize=3, color=colours[name], label=name,
                          linewidth=2.2 if name in OURS else 1.1, zorder=3 if name in OURS else 2)
        axes.set_xscale("log", base=2)
        axes.set_xticks(sorted(lengths[panel]), [f"{n // 1024}k" if n >= 1024 else str(n) for n in sorted(lengths[panel])])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.tick_params(labelsize=7)
        axes.set_title(f"{panel[0]}, d = {panel[1]}, {'causal' if panel[2] else 'full'}", fontsize=8)
        drawing.without_frame(axes)
    for axes in grid[:, 0]:
        axes.set_ylabel("TFLOP/s", fontsize=7)
    handles = {label: line for axes in grid.flat for line, label in zip(*axes.get_legend_handles_labels())}
    figure.legend([handles[n] for n in names if n in handles], [n for n in names if n in handles], loc="lower center",
                  ncols=len(names), frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.45 / figure.get_figheight(), 1, 1))
    return figure


if __name__ == "__main__":
    drawing.main(__doc__, draw)
