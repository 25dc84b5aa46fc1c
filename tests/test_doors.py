"""Every door gives the same bytes for the same request: what one can draw, all can; and two requests do not disturb each other."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import cute_viz as cv
from cute_viz.documents.embed import embed
from cute_viz.engine import Request, ask
from cute_viz.errors import CuteVizError
from cute_viz.ext.markdown import formatter
from cute_viz.gallery.plan import plan
from cute_viz.gallery.run import update
from cute_viz.limits import limit
from cute_viz.renderers.inline import inlined
from cute_viz.spec import Library, read
from tests.commands import run

TV = "((16,8),8):((64,1),8)"
FRAGMENT = "((4,8),(2,2)):((32,1),(16,8))"
MMA = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))"
COPY = "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, (16,8):(8,1), (1,8))"
SWIZZLED = "Sw<3,3,3> o 0 o (8,64):(64,1)"
REQUESTS: list[tuple[str, dict[str, str]]] = [
    ("(4,8):(8,1)", {}),
    ("(4,8):(8,1)", {"coords": "true"}),
    ("(4,8):(8,1)", {"labels": "coord"}),
    ("(4,8):(8,1)", {"labels": "none"}),
    ("(4,8):(8,1)", {"labels": "full"}),
    ("(4,8):(8,1)", {"title": "A title"}),
    ("(4,8):(8,1)", {"palette": "viridis"}),
    ("(4,8):(8,1)", {"theme": "dark"}),
    ("(4,8):(8,1)", {"theme": "print"}),
    ("(4,8):(8,1)", {"width": "700"}),
    ("(4,64):(64,1)", {"cell": "12"}),
    ("(4,64):(64,1)", {"fold": "16"}),
    ("(4,64):(64,1)", {"crop": "2x8"}),
    ("(4,64):(64,1)", {"crop": "2x32", "fold": "8"}),
    *(("((2,2),(2,4)):((1,4),(2,8))", {"color_by": word}) for word in ("offset", "mod8", "row", "column", "tile", "none")),
    ("(4,8):(1@0,1@1)", {}),
    ("(2,3,4)", {}),
    ("8:2", {}),
    ("(4,4):(F1,F4)", {}),
    (SWIZZLED, {}),
    (SWIZZLED, {"view": "banks", "type": "f16"}),
    (SWIZZLED, {"view": "address", "type": "half_t"}),
    ("Sw<3,3,3>", {}),
    (TV, {"tile": "8x128"}),
    (TV, {"tile": "8x128", "thread": "5"}),
    (TV, {"tile": "8x128", "warp": "0..1", "value": "0..3"}),
    (FRAGMENT, {"tile": "16x8", "view": "table"}),
    (FRAGMENT, {"tile": "16x8", "view": "both", "coords": "true"}),
    ("SM80_16x8x16_F32F16F16F32_TN", {}),
    ("SM80_16x8x16_F32F16F16F32_TN", {"operand": "A", "thread": "5"}),
    ("16x8x16_F32F16F16F32", {}),
    ("SM75_U32x4_LDSM_N", {}),
    (MMA, {}),
    (MMA, {"color_by": "thread"}),
    (MMA, {"operand": "C", "thread": "3", "tensor": "(64,64):(64,1)"}),
    (COPY, {}),
    (COPY, {"operand": "D"}),
    ("GMMA::Layout_K_SW128_Atom<half_t>", {}),
    ("logical_divide((8,6), (4,3))", {}),
    ("logical_divide((8,6), (4,3))", {"view": "operation"}),
    ("(4,8):(8,1) o (2,4):(4,8)", {"view": "operation"}),
    ("complement(4:2, 24)", {"view": "operation", "coords": "true"}),
    ("ampere_gemm", {}),
    ("tv_8x128", {}),
    ("tv_8x128", {"thread": "7"}),
    ("cute.make_layout((4,8), stride=(8,1))", {}),
    ("Layout<Shape<_16,_2>,Stride<_2,_1>>{}", {}),
]  # fmt: skip
WRONG: list[tuple[str, dict[str, str]]] = [
    ("(4,8", {}),
    ("(4,8):(8,1)", {"tile": "8"}),
    ("(4,8):(8,1)", {"thread": "5"}),
    ("(4,8):(8,1)", {"view": "nope"}),
    ("(4,8):(8,1)", {"color_by": "thread"}),
    ("(4,8):(8,1)", {"palette": "nope"}),
    ("ampere_gem", {}),
    (TV, {"view": "tv"}),
    ("SM80_16x8x16_F32F16F16F32_TN", {"thread": "99"}),
    (MMA, {"tensor": "(64,64"}),
]


def by_engine(text: str, options: dict[str, str], folder: Path) -> bytes:
    return ask(Request((text,), options, formats=("svg",))).write("svg")


def by_command(text: str, options: dict[str, str], folder: Path) -> bytes:
    words = [word for name, value in options.items() for word in _words(name, value)]
    done = run("render", text, "-T", "svg", *words)
    if done.returncode:
        raise CuteVizError(done.stderr.decode().removeprefix("error: "))
    return done.stdout


def _words(name: str, value: str) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    return [option] if value == "true" else [option, value]


def by_python(text: str, options: dict[str, str], folder: Path) -> bytes:
    return cv.render(text, "svg", **options)  # type: ignore[arg-type]


def by_object(text: str, options: dict[str, str], folder: Path) -> bytes:
    """The object and its options as values; what only a text has, a title of a spec or an operation, stays a text."""
    values = {name: True if word == "true" else word for name, word in options.items()}
    if options.get("view") != "operation" and Library().spec_file(text) is None:
        return cv.render(cv.parse(text), "svg", **values)  # type: ignore[arg-type]
    return cv.render(text, "svg", **values)  # type: ignore[arg-type]


def by_figure(text: str, options: dict[str, str], folder: Path) -> bytes:
    page = {name: options[name] for name in ("palette", "theme", "width", "cell") if name in options}
    if options.get("labels") == "full":
        pytest.skip("a finished figure does not know that its labels were asked for")
    if text == "ampere_gemm":
        pytest.skip("a finished figure does not know the page that its spec asks for")
    figure = cv.figure(text, **{name: word for name, word in options.items() if name not in page})  # type: ignore[arg-type]
    figure.save(folder / "x.svg", **page)  # type: ignore[arg-type]
    return (folder / "x.svg").read_bytes()


def by_document(text: str, options: dict[str, str], folder: Path) -> bytes:
    words = " ".join(f"{name}='{value}'" for name, value in options.items())
    done = embed(f"```cute-viz {words}\n{text}\n```\n", "markdown", "x")
    if done.failures:
        raise done.failures[0]
    (data,) = done.pictures.values()
    return data


def by_gallery(text: str, options: dict[str, str], folder: Path) -> bytes:
    """A spec file that says the same; the specs of the library have theirs."""
    if Library().spec_file(text) is not None:
        pytest.skip("a spec is not inside another")
    quoted = {name: "'" + value.replace("'", "''") + "'" for name, value in {"layout": text, **options}.items()}
    top = [name for name in ("layout", "title", "palette") if name in quoted]
    inner = "".join(f"  {name}: {value}\n" for name, value in quoted.items() if name not in top)
    spec = "".join(f"{name}: {quoted[name]}\n" for name in top) + (f"figure:\n{inner}" if inner else "")
    (folder / "x.yaml").write_text(spec, encoding="utf-8")
    outcome = update(plan([str(folder / "x.yaml")], (), Library()), str(folder / "out"), 1, False, lambda results, count: results)
    if outcome.failures:
        raise CuteVizError(outcome.failures[0])
    return (folder / "out" / "x.svg").read_bytes()


def by_markdown_site(text: str, options: dict[str, str], folder: Path) -> bytes:
    page = formatter(text, "cute-viz", "cute-viz", dict(options), None)
    found = re.search(r"<svg .*</svg>\n", page, re.S)
    if found is None:
        raise CuteVizError(re.sub(r".*<pre>|</pre>.*", "", page, flags=re.S))
    return HEAD + found[0].encode()


HEAD = b'<?xml version="1.0" encoding="utf-8"?>\n'
DOORS: dict[str, Callable[[str, dict[str, str], Path], bytes]] = {
    f.__name__: f for f in (by_command, by_python, by_object, by_figure, by_document, by_gallery, by_markdown_site)
}


def test_there_are_fifty_requests() -> None:
    assert len(REQUESTS) >= 50


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("text", "options"), REQUESTS, ids=lambda x: str(x)[:40])
def test_every_door_draws_the_same_bytes(text: str, options: dict[str, str], door: str, tmp_path: Path) -> None:
    if door in ("by_object", "by_gallery") and text.startswith("logical_divide") and not options:
        pytest.skip("a result alone, and what a spec says is a layout, is drawn as a layout")
    if door in ("by_object", "by_gallery") and text.startswith("GMMA::Layout"):
        pytest.skip("the name that CUTLASS has for a layout is in its text alone")
    wanted = _wanted(text, *options.items())
    if door == "by_markdown_site":  # whose pictures follow the page's theme
        wanted = HEAD + inlined(wanted.removeprefix(HEAD).decode()).encode()
    assert DOORS[door](text, options, tmp_path) == wanted


@cache
def _wanted(text: str, *options: tuple[str, str]) -> bytes:
    return by_engine(text, dict(options), Path())


@pytest.mark.parametrize("door", [name for name in DOORS if name != "by_object"])
@pytest.mark.parametrize(("text", "options"), WRONG, ids=lambda x: str(x)[:40])
def test_every_door_refuses_the_same_with_the_same_words(text: str, options: dict[str, str], door: str, tmp_path: Path) -> None:
    with pytest.raises(CuteVizError) as first:
        by_engine(text, options, tmp_path)
    with pytest.raises(CuteVizError) as second:
        DOORS[door](text, options, tmp_path)

    def words(message: str) -> set[str]:
        """Without what a door adds, and without how it spells options."""
        return set(re.findall(r"[a-z]{4,}", message.replace("&#x27;", "'").lower()))

    missing = words(re.sub(r"`\w+=[^`]*`", "", first.value.message)) - words(second.value.explain())
    assert missing <= {"value", "invalid"}  # click has its own words for what is no choice


def test_a_note_of_the_device_is_in_every_figure_of_an_atom() -> None:
    assert any("Verified on" in note for note in cv.figure("SM80_16x8x16_F32F16F16F32_TN").notes)
    assert any("Verified on" in note for note in cv.figure(read("SM80_16x8x16_F32F16F16F32_TN").pick()).notes)


def test_two_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    """One has a library and a limit of its own; the other must see neither, however they take turns."""
    (tmp_path / "mine.yaml").write_text("specs:\n  only_mine:\n    layout: (3,5):(5,1)\n")
    mine = Request(("only_mine",), library=Library((str(tmp_path),)), limits={"nesting": 100}, formats=("svg",))
    deep = "(" * 70 + "1" + ")" * 70
    wrong: list[str] = []
    start = threading.Barrier(2)

    def with_both() -> None:
        start.wait()
        for _ in range(40):
            data = ask(mine).write("svg")
            found = ask(Request((deep,), limits={"nesting": 100})).subjects[0].obj
            if b"(3,5):(5,1)" not in data or found is None:
                wrong.append("the one with a library and a limit")

    def with_neither() -> None:
        start.wait()
        for _ in range(40):
            for request in (Request(("only_mine",)), Request((deep,))):
                try:
                    ask(request).write("svg")
                    wrong.append("the one without")
                except CuteVizError:
                    continue

    threads = [threading.Thread(target=target) for target in (with_both, with_neither)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert limit("nesting") == 64


def test_a_command_leaves_nothing_set(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("specs:\n  only_mine:\n    layout: (3,5):(5,1)\n")
    deep = "(" * 70 + "1" + ")" * 70
    assert run("--limit", "nesting=70", "eval", deep).returncode == 0
    assert run("render", "only_mine", "--layouts", str(tmp_path)).returncode == 0
    assert run("eval", deep).returncode == 1
    assert run("render", "only_mine").returncode == 1
    with pytest.raises(CuteVizError):
        cv.parse("only_mine")


def test_a_figure_does_not_change() -> None:
    figure = cv.figure("(4,8):(8,1)")
    assert hash(figure) == hash(cv.figure("(4,8):(8,1)"))
    for change in (lambda: figure.facts.update(size=3), lambda: figure.panels[0].data.__setitem__("offset", ())):  # type: ignore[attr-defined]
        with pytest.raises(TypeError):
            change()
    with pytest.raises(AttributeError):
        figure.title = "another"  # type: ignore[misc]


def test_an_error_does_not_change() -> None:
    error = CuteVizError("no", hint="`tile=8x8`")
    for name in ("message", "hint", "span", "text", "name"):
        with pytest.raises(AttributeError):
            setattr(error, name, None)
    assert error.options == ("tile",)
    assert [error.explain(door).splitlines()[1].strip() for door in ("cli", "python", "spec", "block")] == [
        "hint: --tile 8x8",
        'hint: tile="8x8"',
        "hint: tile: 8x8",
        "hint: tile=8x8",
    ]


def test_the_names_of_the_package_and_nothing_leaked() -> None:
    public = {
        "ComposedLayout",
        "CuteVizError",
        "Figure",
        "Layout",
        "Report",
        "Swizzle",
        "algebra",
        "compare",
        "explain",
        "figure",
        "find_layout",
        "find_swizzle",
        "interact",
        "parse",
        "record",
        "render",
        "report",
        "who",
        "__version__",
    }
    assert set(dir(cv)) == public
    assert all(getattr(cv, name) is not None for name in public - {"algebra"})


def test_a_report_prints_as_analyze_does_and_its_parts_are_short(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "void f(float* p) {\n  auto s = make_tensor(make_smem_ptr(p), make_layout(Shape<_32,_32>{}, GenRowMajor{}));\n"
        "  copy(make_tensor<float>(_32{}), local_partition(s, Layout<_32>{}, threadIdx.x));\n}\n"
    )
    report = cv.report(path)
    assert run("analyze", str(path)).stdout.decode() == f"{report}\n"
    assert repr(report) == "Report: 1 access, worst 8-way at line 3"
    assert repr(cv.report(path.read_text().replace("GenRowMajor", "GenColMajor"))) == "Report: 1 access, all ideal"
    (row,) = report.accesses
    assert repr(row) == "Access: line 3, st.shared.128, 8-way, 256 wavefronts, ideal 32"
    assert len(repr(row.cost)) < 200 > len(repr(row.move))


def test_keywords_of_the_command_line_and_who() -> None:
    found = cv.find_swizzle("128x64", type="f16", read="ldmatrix", write=["cp.async"])
    assert "128x64 of 16-bit elements, Sw<3,3,3>" in repr(found)
    assert [line.split()[0] for line in str(found).splitlines()[1:4]] == ["Sw<3,3,3>", "padding", "padding"]
    assert found == cv.find_swizzle("128x64", ("ldmatrix", "cp.async")) != cv.find_swizzle("128x64", "ldmatrix")
    for draw in (cv.figure, cv.render):
        with pytest.raises(TypeError, match=rf"^{draw.__name__}\(\) got .*'colour_by'; did you mean color_by\?$"):
            draw("(2,2)", colour_by="row")  # type: ignore[call-arg,operator]
    with pytest.raises(TypeError, match="'theme'; it is a keyword of `render`, and of a figure's `render` and `save`"):
        cv.figure("(2,2)", theme="dark")  # type: ignore[call-arg]
    for source, where, tile in (("SM75_U32x4_LDSM_N", "T9 V1", None), ("((4,8),(2,2)):((32,1),(16,8))", "(5,3)", "16x8")):
        said = run("show", source, "--who", where, *(["--tile", tile] if tile else [])).stdout.decode()
        assert said == f"{cv.who(source, where, tile=tile)}\n"
    with pytest.raises(cv.CuteVizError, match=r"nothing here is 'C\(5,3\)'"):
        cv.who("(2,2)", "C(5,3)")


def test_a_users_program_runs(tmp_path: Path) -> None:
    from tests.user_api import answers, main, values

    assert values()[:12] == [10, 34, 8, 16, 1, (4, 8), 32, 1, 1, 10, 64, 514]
    assert answers()[0] == (3, 4, 4)
    titles = main(tmp_path)
    assert titles[0] == "A grid"
    assert all(titles)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grid.svg", "tv.png"]


def test_numbers_and_arrays_of_other_libraries():
    import numpy as np

    tiled = cv.figure(FRAGMENT, tile="16x8", thread=5)
    for tile in ([16, 8], np.array([16, 8]), (np.int64(16), np.int32(8))):
        assert cv.figure(FRAGMENT, tile=tile, thread=np.int64(5)) == tiled
    assert cv.figure("(4,M):(8,1)", let={"M": np.int64(8)}, coords=np.bool_(True), limits={"cells": np.int64(500)}).title
    assert cv.parse((np.int64(4), 8)) == cv.parse(np.array([4, 8])) == (4, 8)
    for option in ("view", "diff", "tensor", "style", "theme", "fragment", "width", "fold", "coords"):
        with pytest.raises(CuteVizError, match=option):
            cv.render("(4,8):(8,1)", "svg", **{option: np.array([1, 2])})


def test_nothing_is_no_source():
    for door in (cv.parse, cv.figure, cv.render):
        with pytest.raises(CuteVizError, match="the source is None"):
            door(None)


def test_a_figure_of_a_spec_keeps_the_page_that_its_spec_asks_for() -> None:
    drawn = cv.figure("ampere_gemm")  # whose spec has `target: readme`
    assert drawn.svg() == cv.render("ampere_gemm", "svg").decode()
    assert drawn.svg(target="screen") == cv.render("ampere_gemm", "svg", target="screen").decode() != drawn.svg()
    assert drawn.render() == cv.render("ampere_gemm")
    assert b'"page":' not in drawn.render("json").replace(b'"kind":"page"', b"")
