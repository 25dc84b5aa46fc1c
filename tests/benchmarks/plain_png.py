"""The floor that PNG is measured against: one PolyCollection of squares through matplotlib, no text. Argument: cells a side."""

import sys

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

HUES = ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00")


def write(n: int) -> None:
    r, c = np.divmod(np.arange(n * n), n)
    corners = np.stack([c, r, c + 1, r, c + 1, r + 1, c, r + 1], axis=1).reshape(-1, 4, 2) * 6.0
    figure = Figure(figsize=(n * 6 / 96, n * 6 / 96), dpi=192)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, n * 6)
    axes.set_ylim(n * 6, 0)
    axes.add_collection(PolyCollection(corners, facecolors=[HUES[k % 8] for k in range(n * n)]))
    figure.savefig("/dev/null", format="png")


if __name__ == "__main__":
    write(int(sys.argv[1]) if len(sys.argv) > 1 else 256)
