"""Every field of a request has its effect in every part of the answer, and the options of a request win over those of a spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cute_viz.engine import Folder, Request, ask
from cute_viz.engine.evaluate import evaluate
from cute_viz.engine.request import Source
from cute_viz.errors import CuteVizError
from cute_viz.options.words import read as read_word
from cute_viz.spec import Library, read
from cute_viz.spec.build import read_specs
from tests.commands import run

TV = "((4,8),(2,2)):((32,1),(16,8))"
FMA = "  Shape_MNK: (1,1,1)\n  ThrID: 1:0\n  ALayout: (1,1):(0,0)\n  BLayout: (1,1):(0,0)\n  CLayout: (1,1):(0,0)\n"
DEEP = "(" * 70 + "8" + ")" * 70
LET = {"n": "4", "m": "n * 2"}
DEEPER = {"nesting": 100}  # a limit
SPEC = "title: mine\npalette: mono\nstyle: cutlass\nfigure: {tile: 16x8, labels: coord}\nlayout: " + TV + "\n"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A user's folder: the atom MINE, and specs and an operation that name it."""
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "atoms.yaml").write_text(f"library: mma\narch: sm80\n\nMINE:\n{FMA}\nOTHER:\n{FMA}")
    (folder / "specs.yaml").write_text(
        "specs:\n  an_atom: {mma_atom: MINE}\n  tiled: {tiled_mma: {atom: MINE, layout: '(2,2,1)'}}\n"
        "  a_call: {layout: 'make_tiled_mma(MINE{})', figure: {view: operation}}\n"
        "  one: {layout: '(2,3)'}\n  two: {layout: '(5,7)'}\n"
    )
    return Library((str(folder),))


def obj(*sources: Any, **fields: Any) -> Any:
    return ask(Request(sources, **fields)).subjects[0].obj


def figure(*sources: Any, **fields: Any) -> Any:
    return ask(Request(sources, **fields)).figure


class TestLibrary:
    @pytest.mark.parametrize("source", ["MINE", "MINE{}", "make_tiled_mma(MINE{})", "an_atom", "tiled"])
    def test_of_a_source(self, source: str, library: Library) -> None:
        assert "MINE" in repr(obj(source, library=library))
        with pytest.raises(CuteVizError):
            obj(source)

    def test_of_a_spec_file(self, library: Library, tmp_path: Path) -> None:
        path = tmp_path / "x.yaml"
        path.write_text("tiled_mma: {atom: MINE, layout: '(2,2,1)'}\n")
        assert obj(str(path), files=True, library=library) == obj("tiled", library=library)
        assert read_specs(path.read_text(), library=library)[0].obj == obj("tiled", library=library)
        with pytest.raises(CuteVizError):
            obj(str(path), files=True)

    def test_of_what_stands_in_options_and_names(self, library: Library) -> None:
        assert obj("x", let={"x": "MINE{}"}, library=library).shape_mnk == (1, 1, 1)
        with pytest.raises(CuteVizError, match="MINE"):
            obj("x", let={"x": "MINE{}"})
        assert figure(read("(2,2)").pick(), "OTHER{}", library=library).panels
        options = {"thread": "0", "tensor": "one"}
        assert figure("make_tiled_mma(MINE{})", options=options, library=library).notes[0] == "tensor (2,3):(1,2)"
        with pytest.raises(CuteVizError) as caught:
            figure("SM80_16x8x16_F32F16F16F32_TN", options=options)
        assert caught.value.explain("cli").startswith("--tensor:1:1: 'one' is undefined")

    def test_of_an_operation(self, library: Library) -> None:
        options = {"view": "operation"}
        for source in ("make_tiled_mma(MINE{})", "a_call"):
            (operand,) = obj(source, options=options, library=library).operands
            assert operand.shape_mnk == (1, 1, 1)
        with pytest.raises(CuteVizError):
            obj("make_tiled_mma(MINE{})", options=options)

    def test_of_kept_reports(self, library: Library) -> None:
        folder = Path(library.folders[0]) / "verified"
        folder.mkdir()
        (folder / "x.json").write_text('{"device": "x", "agree": {}, "known": {"MINE": "it is mine"}}')
        assert figure("MINE", library=library).notes[-1] == "Known to differ from hardware: it is mine."

    def test_of_facts(self, library: Library) -> None:
        assert ask(Request(("MINE",), library=library)).facts["arch"] == "SM80"


class TestLet:
    def test_of_a_source_and_each_name_before(self) -> None:
        assert str(obj("(n,m):(m,1)", let=LET)) == "(4,8):(8,1)"

    def test_of_an_operation(self) -> None:
        call = obj("logical_divide((m,n), (2,n))", options={"view": "operation"}, let=LET)
        assert call.operands[1] == (2, 4)

    def test_of_the_tensor(self) -> None:
        options = {"thread": "0", "tensor": "(m * 2,m):(m,1)"}
        drawn = figure("SM80_16x8x16_F32F16F16F32_TN", options=options, let=LET)
        assert drawn.notes[0] == "tensor (16,8):(8,1)"

    def test_a_mistake_in_one_is_told_by_its_name(self) -> None:
        with pytest.raises(CuteVizError) as caught:
            obj("n", let={"n": "(4"})
        assert caught.value.explain("cli").startswith("--let n")


class TestName:
    TEXT = "auto a = make_layout(make_shape(_2{}, _3{}));\nauto b = make_layout(make_shape(_5{}, _7{}));\nint n = 3;\n"

    def test_of_a_text(self) -> None:
        assert [obj(self.TEXT, name=name).shape for name in ("a", None)] == [(2, 3), (5, 7)]
        assert list(ask(Request((self.TEXT,))).objects) == ["a", "b", "n"]

    def test_of_a_spec(self, library: Library) -> None:
        path = f"{library.folders[0]}/specs.yaml"
        assert obj(path, name="one", files=True, library=library) == (2, 3)
        assert obj("specs", name="two", library=library) == (5, 7)
        with pytest.raises(CuteVizError, match="no spec 'three'"):
            obj(path, name="three", files=True, library=library)

    @pytest.mark.parametrize("fields", [{"name": "a"}, {"dialect": "dsl"}])
    def test_not_of_an_operation(self, fields: dict[str, str]) -> None:
        with pytest.raises(CuteVizError, match="cannot be combined with"):
            obj("coalesce((4,8))", options={"view": "operation"}, **fields)

    def test_not_of_the_tensor(self) -> None:
        """Neither the name nor the dialect; nor is the tensor itself an operation to draw."""
        text = "m = cute.make_tiled_mma(cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16)))\nn = 3\n"
        options = {"thread": "0", "tensor": "make_layout(Shape<_16,_8>{})"}
        for fields in ({"name": "m"}, {"dialect": "dsl", "name": "m"}):
            assert figure(text, options=options, **fields).kind == "partition"


def test_the_dialect() -> None:
    text = "a = cute.make_layout((4,8), stride=(8,1))"
    assert str(obj(text, dialect="dsl")) == "(4,8):(8,1)"
    with pytest.raises(CuteVizError):
        obj(text, dialect="cpp")
    with pytest.raises(CuteVizError):
        obj("(4,8):(8,1)", dialect="dsl")


def test_files_are_read_where_a_door_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.cu").write_text("auto a = make_layout(make_shape(_2{}, _3{}));\n")
    (tmp_path / "x.yaml").write_text("layout: (2,3)\n")
    (tmp_path / "x.json").write_bytes(ask(Request(("(2,3)",))).write("json"))
    for name in ("x.cu", "x.yaml", "x.json"):
        assert figure(str(tmp_path / name)).panels[0].rows == 2
        for folder in (None, Folder(str(tmp_path / "no"), str(tmp_path / "no"))):
            with pytest.raises(CuteVizError, match=r"cannot be read here|leads out of the folder"):
                figure(str(tmp_path / name), folder=folder)
    (tmp_path / "wrong.cu").write_text("make_layout(make_shape(_2{}\n")
    with pytest.raises(CuteVizError) as caught:
        obj(str(tmp_path / "wrong.cu"), files=True)
    assert caught.value.name == str(tmp_path / "wrong.cu")
    with pytest.raises(CuteVizError) as caught:
        obj(Source("(4,", "standard input"))
    assert caught.value.line().startswith("standard input")


def test_strict_is_a_line_that_cannot_be_read() -> None:
    text = "(4,8):(8,1)\n(4,8:(3,5\n(2,3)"
    assert figure(text).panels[0].rows == 4
    with pytest.raises(CuteVizError):
        figure(text, strict=True)


class TestLimits:
    def test_of_every_part_of_an_answer(self) -> None:
        for part in ("subjects", "figure", "how", "facts", "explanation"):
            source = DEEP if part != "explanation" else f"coalesce({DEEP})"
            assert getattr(ask(Request((source,), limits=DEEPER)), part) is not None
            with pytest.raises(CuteVizError, match="nested"):
                getattr(ask(Request((source,))), part)

    def test_of_options_that_are_read_late(self) -> None:
        """The title is read with the figure, and again for the page; a tensor is a source of its own."""
        answer = ask(Request(("(2,2)",), {"title": "x" * 3000}, limits={"title": 4000}))
        assert len(answer.figure.title) == 3000
        assert answer.how.full is False
        assert len(ask(Request(("(2,2)",), {"title": "x" * 3000}, limits={"title": 4000})).write("svg")) > 3000
        with pytest.raises(CuteVizError, match="a title of 3000"):
            figure("(2,2)", options={"title": "x" * 3000})
        options = {"thread": "0", "tensor": f"({DEEP},8)"}
        with pytest.raises(CuteVizError, match="nested"):
            figure("SM80_16x8x16_F32F16F16F32_TN", options=options)

    def test_of_writing(self) -> None:
        assert ask(Request(("(2,2)",))).write("png")
        with pytest.raises(CuteVizError, match="pixels; the limit is 1"):
            ask(Request(("(2,2)",), limits={"pixels": 1})).write("png")

    def test_of_evaluate(self) -> None:
        assert str(evaluate(DEEP, Request((), limits=DEEPER))[0]) == DEEP.replace(")", ",)")
        with pytest.raises(CuteVizError, match="nested"):
            evaluate(DEEP, Request(()))

    def test_that_cannot_be_set(self) -> None:
        with pytest.raises(CuteVizError, match="there is no limit 'colour'"):
            ask(Request(("(2,2)",), limits={"colour": 3}))


class TestOptions:
    def test_an_option_that_there_is_not(self) -> None:
        with pytest.raises(CuteVizError, match="there is no option 'colour'"):
            ask(Request(("(2,2)",), {"colour": None}))

    def test_those_of_a_spec(self) -> None:
        (spec,) = read_specs(SPEC)
        answer = ask(Request((spec,)))
        assert (answer.figure.title, answer.figure.kind) == ("mine", "tv")
        assert answer.figure.panels[0].labels[0] != figure(TV, options={"tile": "16x8"}).panels[0].labels[0]
        assert (answer.how.palette, answer.how.style, answer.how.full) == ("mono", "cutlass", True)

    def test_those_of_the_request_win(self) -> None:
        (spec,) = read_specs(SPEC)
        options = {"title": "yours", "palette": "grey", "style": "default", "labels": "none", "tile": "8x16"}
        answer = ask(Request((spec,), options))
        assert (answer.figure.title, answer.figure.panels[0].rows) == ("yours", 8)
        assert not any(answer.figure.panels[0].labels)
        assert (answer.how.palette, answer.how.style, answer.how.full) == ("grey", "default", False)
        assert ask(Request((spec,), dict.fromkeys(options))).figure == ask(Request((spec,))).figure  # None is not given

    @pytest.mark.parametrize(
        ("line", "place", "words"),
        [
            ("figure: {tile: 8}", "2:16", "is not a tile"),
            ("figure: {thread: 3..1}", "2:18", "not a number or a range"),
            ("figure: {color_by: thread}", "2:9", "does not apply to"),
        ],
    )
    def test_a_mistake_of_a_spec_has_its_place_and_one_of_the_request_has_none(self, line: str, place: str, words: str) -> None:
        (spec,) = read_specs(f"layout: (4,8):(8,1)\n{line}\n", "x.yaml")
        with pytest.raises(CuteVizError, match=words) as caught:
            figure(spec)
        assert caught.value.line().startswith(f"x.yaml:{place}: ")
        (spec,) = read_specs("layout: (4,8):(8,1)\n", "x.yaml")
        with pytest.raises(CuteVizError) as caught:
            figure(spec, options={"color_by": "thread"})
        assert caught.value.place() == ""

    def test_of_several_sources(self) -> None:
        both = figure("(2,3)", "(5,7)", options={"title": "both", "crop": "1x2"})
        assert both.title == "both"
        assert all(panel.caption.startswith("(") or "×" in panel.caption for panel in both.panels)
        assert "both" not in "".join(panel.caption for panel in both.panels)
        assert {(panel.rows, panel.cols) for panel in both.panels} == {(1, 2)}
        assert figure("(2,3)", "(5,7)", options={"labels": "none"}).panels[1].labels[:1] in ((), ("",))
        titled = [read_specs(f"layout: (4,{n})\ntitle: t\n")[0] for n in (4, 5)]
        assert figure(*titled).title == "Column-major: each column is contiguous"
        assert figure(*titled, options={"title": "u"}).title == "u"
        specs = [read_specs(f"layout: (4,{n})\npalette: {name}\ntitle: t\n")[0] for n, name in ((4, "mono"), (5, "grey"))]
        assert ask(Request(tuple(specs))).how.palette == "mono"
        assert ask(Request((read("(2,2)").pick(), specs[1]))).how.palette == "grey"
        assert ask(Request((read("(2,2)").pick(), "(4,4)"), {"labels": "full"})).how.full
        with pytest.raises(CuteVizError, match="there is nothing to draw"):
            figure()

    def test_of_a_difference(self) -> None:
        differs = figure("(4,8):(8,1)", "(4,8):(1,4)", options={"diff": True, "title": "what differs"})
        assert (differs.title, differs.kind) == ("what differs", figure("(4,8)", "(4,8)", options={"diff": True}).kind)
        assert differs != figure("(4,8):(8,1)", "(4,8):(1,4)", options={"title": "what differs"})
        for sources in (("(4,8)",), ("(4,8)",) * 3):
            with pytest.raises(CuteVizError, match="compares two sources"):
                figure(*sources, options={"diff": True})
        for name, word in (("color_by", "row"), ("thread", "0"), ("warp", "0"), ("value", "0")):
            with pytest.raises(CuteVizError, match=f"{name}= cannot be combined with diff="):
                figure(TV, TV, options={"diff": True, "tile": "16x8", name: word})
        tensor = {"diff": True, "thread": "0", "tensor": "(16,8):(8,1)"}
        assert figure("SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x8_F32F16F16F32_TN", options=tensor).panels

    def test_folding_and_cropping(self) -> None:
        assert [panel.cols for panel in figure("(4,8)", options={"fold": 4}).panels] == [4, 4]
        (panel,) = figure("(4,8)", options={"crop": "2x3"}).panels
        assert (panel.rows, panel.cols) == (2, 3)

    def test_of_a_finished_figure(self) -> None:
        finished = figure("(4,8)")
        assert figure(finished, options={"title": "another"}).title == "another"
        assert figure(finished) is finished
        assert figure(finished, options={"crop": "2x2"}).panels[0].rows == 2
        for name, word in (("tile", "2x2"), ("labels", "none"), ("coords", True)):
            with pytest.raises(CuteVizError, match="cannot be applied to a finished figure"):
                figure(finished, options={name: word})
        with pytest.raises(CuteVizError, match="does not contain the object"):
            figure(
                "SM80_16x8x16_F32F16F16F32_TN", options={"thread": "0", "tensor": ask(Request(("(4,8)",))).write("json").decode()}
            )

    def test_a_palette_that_there_is_not(self) -> None:
        with pytest.raises(CuteVizError, match="nope"):
            ask(Request(("(4,8)",), {"palette": "nope"})).how  # noqa: B018

    @pytest.mark.parametrize(
        ("name", "word", "fine", "wrong"),
        [
            ("theme", "dark", ("svg", "html", "tikz"), ("text", "json")),
            ("width", 300, ("svg", "html", "tikz"), ("text", "json")),
            ("cell", 9, ("svg", "html", "tikz"), ("text", "json")),
            ("fragment", True, ("svg", "tikz"), ("text", "html", "json")),
        ],
    )
    def test_of_a_page(self, name: str, word: Any, fine: tuple[str, ...], wrong: tuple[str, ...]) -> None:
        answer = ask(Request(("(4,64)",), {name: word}))
        for format_ in fine:
            assert answer.write(format_) != ask(Request(("(4,64)",))).write(format_)
        for format_ in wrong:
            with pytest.raises(CuteVizError, match=f"{name}= applies to"):
                answer.write(format_)

    def test_cutes_own_style_has_no_title(self) -> None:
        with pytest.raises(CuteVizError, match="write no title"):
            ask(Request(("(4,8)",), {"style": "cutlass", "title": "mine"})).write("text")

    def test_images_where_every_format_shows_them(self) -> None:
        options = {"max_cells": 64}
        assert figure("(64,64)", options=options, formats=("svg", "png")).kind == "heat"
        for formats in ((), ("text",), ("svg", "text")):
            if not formats:
                continue  # a door that does not know yet may show one
            with pytest.raises(CuteVizError, match="4096 cells"):
                figure("(64,64)", options=options, formats=formats)

    def test_a_door_may_say_how_to_write(self) -> None:
        answer = ask(Request(("(4,8)",)))
        assert answer.write("svg", fragment=True) != answer.write("svg")

    def test_a_note_of_a_device(self) -> None:
        assert any("Verified on" in note for note in figure("SM80_16x8x16_F32F16F16F32_TN").notes)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("labels", "ful"), ("labels", 3), ("view", ""), ("title", 3), ("title", "x" * 2001), ("operand", ""), ("tile", "0x8"),
        ("tile", "8x0"), ("tile", (0, 8)), ("tile", (8,)), ("tile", (True, 8)), ("tile", "8"), ("thread", "3..1"), ("thread", -1.5),
        ("thread", True), ("thread", range(0, 8, 2)), ("thread", "x"), ("coords", "maybe"), ("coords", 3), ("fold", 0),
        ("fold", "0"), ("fold", True), ("fold", 1.5), ("max_cells", -1), ("type", "f17"), ("type", True), ("type", 1.5),
        ("width", 199), ("width", 20001), ("width", "wide"), ("width", True), ("cell", 0), ("cell", float("nan")),
    ],
)  # fmt: skip
def test_values_that_an_option_does_not_take(name: str, value: Any) -> None:
    with pytest.raises(CuteVizError) as caught:
        read_word(name, value)
    assert name in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("thread", "5", range(5, 6)), ("thread", "0..3", range(4)), ("thread", 5, range(5, 6)), ("coords", "no", False),
        ("coords", "Yes", True), ("coords", "false", False), ("fold", "8", 8), ("tile", "(_8,_128)", (8, 128)),
        ("width", "200", 200.0),
        ("cell", 400, 400.0), ("type", "half_t", 16), ("thread", None, None),
    ],
)  # fmt: skip
def test_values_that_it_does(name: str, value: Any, meant: Any) -> None:
    assert read_word(name, value) == meant


class TestSpecs:
    def test_names_are_those_of_the_spec_over_those_of_the_file(self) -> None:
        text = "let: {n: '4', m: n * 2}\nspecs:\n  a: {layout: '(n,m)'}\n  b: {let: {m: n * 3, k: m + 1}, layout: '(m,k)'}\n"
        assert [spec.obj for spec in read_specs(text)] == [(4, 8), (12, 13)]
        text = "let: {n: 16}\nmma_atom: SM80_16x8x16_F32F16F16F32_TN\nfigure: {thread: 0, tensor: '(n,8)'}\n"
        assert figure(read_specs(text)[0]).notes[0].startswith("tensor (16,8)")
        text = "let: {n: 16}\nlayout: coalesce((n,8))\nfigure: {view: operation}\n"
        assert read_specs(text)[0].obj.operands == ((16, 8),)

    def test_every_field_is_kept(self) -> None:
        text = "title: t\ndescription: d\nsource: s\nformats: svg, pdf\nstyle: cutlass\npalette: mono\nlayout: (4,8)\n"
        (spec,) = read_specs(text)
        kept = (spec.title, spec.description, spec.source, spec.formats, spec.style, spec.palette)
        assert kept == ("t", "d", "s", ("svg", "pdf"), "cutlass", "mono")
        assert read_specs("layout: (4,8)\nfigure: {coords: yes}\n")[0].figure == {"coords": True}
        assert read_specs("layout: (4,8)\nfigure: {coords: no}\n")[0].figure == {"coords": False}

    def test_a_lone_one_goes_by_no_other_name(self, tmp_path: Path) -> None:
        (tmp_path / "x.yaml").write_text("layout: (4,8)\n")
        assert obj(str(tmp_path / "x.yaml"), files=True, name="x") == (4, 8)
        with pytest.raises(CuteVizError, match="no spec 'y'"):
            obj(str(tmp_path / "x.yaml"), files=True, name="y")

    def test_the_place_of_an_error_that_has_one_stays(self) -> None:
        (spec,) = read_specs("layout: (4,8)\n", "x.yaml")
        with pytest.raises(CuteVizError) as caught:
            obj("(4,")
        assert spec.locate(caught.value) is caught.value


def test_a_command_passes_all_of_it_on(library: Library, tmp_path: Path) -> None:
    out = run("render", "make_tiled_mma(MINE{})", "--layouts", library.folders[0], "-T", "json", "--title", "x")
    assert out.returncode == 0
    assert b'"title":"x"' in out.stdout.replace(b": ", b":")
    assert run("--limit", "nesting=100", "show", DEEP).returncode == 0
    assert run("show", DEEP).returncode == 1


def test_a_spec_is_cropped_beside_another_source(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("layout: (4,64):(64,1)\nfigure: {crop: 2x8}\n")
    both = ask(Request((str(path), "(4,8)"), files=True)).figure
    assert [(panel.rows, panel.cols) for panel in both.panels] == [(2, 8), (4, 8)]
    asked = ask(Request((str(path), "(4,8)"), {"crop": "1x4"}, files=True)).figure
    assert [(panel.rows, panel.cols) for panel in asked.panels] == [(1, 4), (1, 4)]
