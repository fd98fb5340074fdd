# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the scripts that draw results share: matplotlib set up for small SVGs, and the command line."""
import json
import sys

try:
    import matplotlib
except ImportError:
    sys.exit(f"{sys.argv[0]}: matplotlib is not installed; `python3 -m pip install matplotlib` does it")

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "flashpad", "svg.fonttype": "none"})  # same rows, same small file
import matplotlib.pyplot as plt  # noqa: E402, F401


def without_frame(axes):
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main(usage, draw):
    """Calls draw(report) with the JSON of the first argument, and keeps the figure it returns as the second."""
    if len(sys.argv) != 3:
        sys.exit(usage)
    results, picture = sys.argv[1:]
    try:
        with open(results, encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"{sys.argv[0]}: {results}: {error}")
    draw(report).savefig(picture, metadata={"Date": None})
