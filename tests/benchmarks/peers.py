"""How others draw the same grid: `svgwrite` an element a cell, `tensor-layouts` as it is. Arguments: which, cells a side."""

import sys
import tempfile


def with_svgwrite(n: int) -> None:
    import svgwrite

    drawing = svgwrite.Drawing("/dev/null", size=(n * 40, n * 26))
    for r in range(n):
        for c in range(n):
            drawing.add(drawing.rect((c * 40, r * 26), (40, 26), fill="#77aadd"))
            drawing.add(drawing.text(str(r * n + c), insert=(c * 40 + 20, r * 26 + 17)))
    drawing.save()


def with_tensor_layouts(n: int) -> None:
    from tensor_layouts import Layout
    from tensor_layouts.viz import draw_layout

    with tempfile.TemporaryDirectory() as folder:
        draw_layout(Layout((n, n), (n, 1)), filename=f"{folder}/peer.svg")


if __name__ == "__main__":
    {"svgwrite": with_svgwrite, "tensor-layouts": with_tensor_layouts}[sys.argv[1]](int(sys.argv[2]))
