#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the rows of a JSON report as a picture: the time of each kernel, problem by problem.

usage: plot_rows.py ROWS.json PICTURE.svg    (needs matplotlib)
"""
import drawing
from drawing import plt

COLOURS = {"naive": "#b8bec9", "fused": "#0e7c86"}


def problem(row):
    """What the kernels of one comparison share."""
    return (row["seq_k"], row["head_dim"], row["dtype"], row["mask"])


def draw(report):
    rows = [row for row in report["rows"] if row["status"] == "ok"]
    problems = list(dict.fromkeys(problem(row) for row in rows))
    height = 0.38
    figure, axes = plt.subplots(figsize=(8.5, 0.8 + 0.36 * len(problems)))
    for index, kernel in enumerate(COLOURS):
        mine = {problem(row): row for row in rows if row["kernel"] == kernel}
        where = [i + (index - 0.5) * height for i, key in enumerate(problems) if key in mine]
        times = [mine[key]["median_s"] * 1e3 for key in problems if key in mine]
        axes.barh(where, times, height, color=COLOURS[kernel], label=kernel)
        for y, key in zip(where, (key for key in problems if key in mine)):
            row = mine[key]
            text = f"{row['median_s'] * 1e3:.3g} ms"
            if kernel == "fused" and row["speedup_vs_naive"]:
                text += f"   {row['speedup_vs_naive']:.1f}x, {row['byte_ratio']:.0f}x fewer bytes"
            axes.text(row["median_s"] * 1e3, y, " " + text, va="center", fontsize=7)
    axes.set_yticks(range(len(problems)), [f"N {n}, d {d}, {dtype}, {mask}" for n, d, dtype, mask in problems],
                    fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(right=axes.get_xlim()[1] * 1.15)
    axes.set_xlabel("time of one call, ms (less is better)")
    context = report["context"]
    axes.set_title(f"{context['cpu']}, {context['cores']} cores; every row verified", fontsize=9)
    axes.legend(loc="upper right", frameon=False)
    drawing.without_frame(axes)
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    drawing.main(__doc__, draw)
