"""The extensions of Sphinx and of Markdown sites: a small project of each is built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cute_viz.errors import CuteVizError
from cute_viz.renderers.inline import inlined
from tests.commands import run

ROOT = Path(__file__).parent.parent
CONF = """
project = "Layouts"
extensions = ["cute_viz.ext.sphinx", "myst_parser"]
myst_fence_as_directive = ["cute-viz"]
"""
INDEX = """Layouts
=======

.. toctree::

   page
   sub/other

.. cute-viz:: ((4,8),(2,2)):((32,1),(16,8))
   :tile: 16x8
   :caption: The *accumulator*
   :name: accumulator

.. cute-viz::
   :coords:

   a = (4,8):(8,1)
   logical_divide(a, (2,2))

.. cute-viz:: mma_sm80_16x8x16
   :style: cutlass
   :alt: fragments & more

.. cute-viz:: smem
"""
PAGE = """# Page

```{cute-viz} (4,8):(8,1)
:view: grid
```

```cute-viz tile=16x8
((4,8),(2,2)):((32,1),(16,8))
```
"""
OTHER = """Other
=====

.. cute-viz:: (2,2)
   :alt: two by two
   :align: center

.. cute-viz:: (2,4)
   :color-by: row
   :interactive:
"""
SPECS = "layout: (8,8):(8,1)\n"


def build(folder: Path, builder: str, *more: str) -> str:
    """Build the project; what Sphinx says."""
    command = [sys.executable, "-m", "sphinx", "-b", builder, *more, str(folder), str(folder / "_build" / builder)]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "CUTE_VIZ_LAYOUTS": str(folder / "mine"), "NO_COLOR": "1"}
    environment |= {key: value for key, value in os.environ.items() if key.startswith(("COVERAGE", "CUTE_VIZ_DEBUG"))}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return done.stdout.decode() + done.stderr.decode()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in {
        "conf.py": CONF + f"exclude_patterns = ['_build', 'mine']\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n",
        "index.rst": INDEX,
        "page.md": PAGE,
        "sub/other.rst": OTHER,
        "mine/specs/smem.yaml": SPECS,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def pictures(path: Path) -> list[str]:
    """The pictures in the text of a page."""
    return re.findall(r"<svg.*?</svg>", path.read_text(), re.S)


def drawn(*args: str) -> str:
    """A picture as pages have it in their text."""
    return inlined(run("render", *args, "--fragment").stdout.decode().strip())


def test_sphinx_html(project: Path) -> None:
    build(project, "html", "-W", "-j", "2")
    out = project / "_build" / "html"
    index, page, other = (pictures(out / name) for name in ("index.html", "page.html", "sub/other.html"))
    c_fragment = drawn("((4,8),(2,2)):((32,1),(16,8))", "--tile", "16x8", "-T", "svg", "--theme", "light")
    assert index[:2] == [c_fragment, drawn("logical_divide((4,8):(8,1), (2,2))", "--coords", "-T", "svg", "--theme", "light")]
    assert index[2:] == [drawn("(8,8):(8,1)", "-T", "svg", "--theme", "light")]
    assert page == [drawn("(4,8):(8,1)", "-T", "svg", "--theme", "light"), c_fragment]
    (image,) = re.findall(r'<img src="([^"]+)" alt="fragments &amp; more">', (out / "index.html").read_text())
    assert (out / image).read_bytes() == run("render", "SM80_16x8x16_F32F16F16F32_TN", "--style", "cutlass", "-T", "svg").stdout
    assert 'aria-label="two by two"' in other[0]
    (frame,) = re.findall(r'<iframe sandbox="allow-scripts"[^>]* src="([^"]+)"', (out / "sub" / "other.html").read_text())
    assert b'id="find"' in (out / "sub" / frame).read_bytes()
    text = (out / "index.html").read_text()
    assert "<em>accumulator</em>" in text
    assert 'id="accumulator"' in text
    assert "align-center" in (out / "sub" / "other.html").read_text()


@pytest.mark.slow
def test_sphinx_text(project: Path) -> None:
    build(project, "text", "-W")
    text = (project / "_build" / "text" / "page.txt").read_text()
    grid = run("render", "(4,8):(8,1)").stdout.decode()
    assert "\n".join(line.rstrip() for line in grid.rstrip().splitlines()) in "\n".join(line.rstrip() for line in text.splitlines())
    assert "T31 V3" in text


@pytest.mark.slow
def test_sphinx_latex(project: Path, tmp_path: Path) -> None:
    build(project, "latex", "-W")
    out = project / "_build" / "latex"
    (main,) = out.glob("layouts.tex")
    shown = re.findall(r"\\par\\noindent\\resizebox.*?\{(cute-viz-\w+\.\w+)\}+\\par", main.read_text())
    assert len(shown) >= 6
    assert all((out / name).stat().st_size > 0 for name in shown)
    if shutil.which("pdflatex") is None:
        return  # that what is written compiles is tested where there is TeX
    lines = [line for line in main.read_text().splitlines() if line.startswith(r"\par\noindent\resizebox")]
    document = r"\documentclass{article}\usepackage{graphicx,tikz}\begin{document}" + "\n".join(lines) + r"\end{document}"
    (out / "small.tex").write_text(document)
    done = subprocess.run(["pdflatex", "-interaction=batchmode", "-halt-on-error", "small.tex"], cwd=out, capture_output=True)
    assert done.returncode == 0, (out / "small.log").read_text(errors="replace")[-2000:]
    assert "Overfull" not in (out / "small.log").read_text(errors="replace")


@pytest.mark.slow
def test_sphinx_reads_again_what_changed(project: Path) -> None:
    build(project, "html")
    assert re.search(r"0 added, 0 changed, 0 removed", build(project, "html"))
    (project / "mine" / "specs" / "smem.yaml").write_text("layout: (8,16):(16,1)\n")
    assert re.search(r"0 added, 1 changed, 0 removed", build(project, "html"))
    shown = pictures(project / "_build" / "html" / "index.html")
    assert shown[-1] == drawn("(8,16):(16,1)", "-T", "svg", "--theme", "light")
    (project / "mine" / "specs" / "smem.yaml").write_text(SPECS)


def test_sphinx_tells_mistakes_with_the_documents_line(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text(CONF)
    (tmp_path / "index.rst").write_text(
        "Title\n=====\n\n.. toctree::\n\n   page\n\n.. cute-viz:: (4,8\n   :tile: 2x2\n\n.. cute-viz::\n   :coords:\n\n"
        "   a = (4,8)\n\n   composition(a, (3\n\n.. cute-viz:: (4)\n   :tile: hello\n\nAfter.\n"
    )
    (tmp_path / "page.md").write_text("# Page\n\n```{cute-viz}\na = 3\n\n(4,8):(8\n```\n\n```cute-viz tille=3\n(4)\n```\n")
    said = build(tmp_path, "html")
    for place, words in (
        ("index.rst:8", "'(' is never closed"),
        ("index.rst:16", "'(' is never closed"),
        ("index.rst:18", "tile=hello is not a tile"),
        ("page.md:6", "'(' is never closed"),
        ("page.md:9", "there is no option 'tille'"),
    ):
        assert re.search(rf"{re.escape(str(tmp_path / place))}: WARNING: cute-viz: .*{re.escape(words)}", said), (place, said)
    html = (tmp_path / "_build" / "html" / "index.html").read_text()
    assert "After." in html
    assert html.count("cute-viz-error") == 3


def site(text: str, **config: object) -> str:
    """A page as MkDocs renders it."""
    import markdown

    from cute_viz.ext.markdown import formatter, validator

    fence = {"name": "cute-viz", "class": "cute-viz", "format": formatter, "validator": validator}
    extensions = ["cute_viz.ext.markdown", "attr_list", "pymdownx.superfences"]
    configs = {"pymdownx.superfences": {"custom_fences": [fence]}, "cute_viz.ext.markdown": config}
    return markdown.markdown(text, extensions=extensions, extension_configs=configs)


@pytest.mark.slow
def test_the_cells_of_a_document_have_letters_of_one_size(tmp_path: Path) -> None:
    """What `letters` says is the size of every label of a cell, however large the figure, in all three kinds of documents."""
    sources = ("(8,8):(8,1)", "(8,16):(16,1)", "logical_divide((4,8):(8,1), (2,4))")
    text = "".join(f"```cute-viz{' target=readme' * n}{' view=steps' * (n == 2)}\n{x}\n```\n\n" for n, x in enumerate(sources[:2]))
    for letters in (9, 12):
        pictures = re.findall(r"<svg.*?</svg>", site(text, letters=letters), re.S)
        assert len(pictures) == 2
        (tmp_path / "d.md").write_text(text)
        run("embed", str(tmp_path / "d.md"), "--letters", str(letters))
        (tmp_path / "conf.py").write_text(f"extensions = ['cute_viz.ext.sphinx']\ncute_viz_letters = {letters}\n")
        (tmp_path / "index.rst").write_text("Page\n====\n\n" + "".join(f".. cute-viz:: {x}\n\n" for x in sources))
        built = subprocess.run(
            [sys.executable, "-m", "sphinx", "-qEb", "html", ".", "o"], cwd=tmp_path, capture_output=True, text=True
        )
        assert built.returncode == 0, built.stderr
        pictures += re.findall(r"<svg.*?</svg>", (tmp_path / "o" / "index.html").read_text(), re.S)
        pictures += [path.read_text() for path in tmp_path.glob("*.svg")]
        assert len(pictures) == 2 + 3 + 2
        for picture in pictures:
            labels = re.findall(r'<g[^>]*font-size="([\d.]+)[^"]*"[^>]*>(?:(?!</g>).)*?>0</text>', picture, re.S)
            assert labels
            assert {float(size) for size in labels} == {letters}
        for path in tmp_path.glob("*.svg"):
            path.unlink()


def test_a_fence_of_a_site_is_inline_svg() -> None:
    item = "- item\n\n    ```cute-viz tile='16x8' title='a <b>'\n    ((4,8),(2,2)):((32,1),(16,8))\n    ```\n"
    html = site(f"# Page\n\n{item}\n```cute-viz\n(2,2)\n```\n")
    pictures = re.findall(r"<svg.*?</svg>", html, re.S)
    assert len(pictures) == 2
    for picture in pictures:
        ElementTree.fromstring(picture)
    assert "a &lt;b&gt;" in pictures[0]
    assert html.index("<li>") < html.index(pictures[0]) < html.index("</li>")
    assert pictures[1] == drawn("(2,2)", "-T", "svg")
    bare = site("```cute-viz tile=4x8 color-by=row title='a b'\n(4,8):(1,4)\n```\n")
    assert ("<svg" in bare, "a b" in bare, "```" in bare) == (True, True, False)
    assert '<iframe sandbox="allow-scripts"' in site("```cute-viz interactive\n(2,2)\n```\n")
    assert "<svg" in site("```{ .cute-viz tile='4x8' labels='coord' }\n(4,8):(1,4)\n```\n")


@pytest.mark.parametrize(
    ("fence", "words"),
    [
        ("```cute-viz\n(4,<8\n```", "&lt;8"),
        ("```cute-viz tille='3'\n(4)\n```", "did you mean"),
        ("```cute-viz tile='3'\n(4)\n```", "is not a tile"),
        ("```cute-viz theme='pink'\n(4)\n```", "invalid value"),
        ("```cute-viz\n```", "nothing to draw"),
    ],
)
def test_a_mistake_is_shown_in_its_place(fence: str, words: str, caplog: pytest.LogCaptureFixture) -> None:
    html = site(f"before\n\n{fence}\n\nafter\n")
    assert words in html
    assert 'role="alert"' in html
    assert html.index("before") < html.index("cute-viz-error") < html.index("after")
    assert [record.name for record in caplog.records] == ["mkdocs.plugins.cute_viz"]


def test_sphinx_writes_into_its_output_alone(tmp_path: Path) -> None:
    from cute_viz.ext import sphinx as sphinx_ext

    (tmp_path / "outside").mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "_images").symlink_to(tmp_path / "outside")
    with pytest.raises(CuteVizError, match="leads out of the folder"):
        sphinx_ext._file(str(out), "_images", b"picture", ".svg")
    assert not list((tmp_path / "outside").iterdir())
    (out / "_images").unlink()
    name = sphinx_ext._file(str(out), "_images", b"picture", ".svg")
    (out / "_images" / name).unlink()
    (out / "_images" / name).symlink_to(tmp_path / "outside" / "x")
    assert sphinx_ext._file(str(out), "_images", b"picture", ".svg") == name
    assert not list((tmp_path / "outside").iterdir())
    assert (out / "_images" / name).read_bytes() == b"picture"


@pytest.mark.slow
def test_sphinx_tells_what_cannot_be_written(tmp_path: Path) -> None:
    late = """
def setup(app):
    def fail(*_):
        from cute_viz.errors import FigureError
        from cute_viz.ext import sphinx

        def picture(*_):
            raise FigureError("no such page")

        sphinx.picture = picture

    app.connect("env-updated", fail)
"""
    (tmp_path / "conf.py").write_text(CONF + late)
    (tmp_path / "index.rst").write_text("Title\n=====\n\n.. cute-viz:: (4,8)\n\nAnd more.\n")
    said = build(tmp_path, "html")
    assert "index.rst:4: WARNING: cute-viz: no such page" in said
    assert "And more." in (tmp_path / "_build/html/index.html").read_text()
