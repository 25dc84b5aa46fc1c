"""What goes into a picture cannot break out of it: every string of a figure hostile, every format, read by strict parsers."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import unicodedata
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docutils.core import publish_doctree
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tinyhtml5.parser import HTMLParser

from cute_viz.cli import main
from cute_viz.documents.embed import reference
from cute_viz.documents.markup import is_file_name
from cute_viz.figures.load import from_dict
from cute_viz.figures.model import Figure, Legend, LegendEntry, Paint, Panel, Ruler
from cute_viz.gallery.state import NAME, _signed
from cute_viz.renderers import FORMATS, Options, render
from cute_viz.renderers.tex import shrunk
from tests.commands import fails, run
from tests.test_render_tikz import compile_tex

BROKEN = Path(tempfile.gettempdir()) / "broken"  # what a shell behind TeX would make
HOSTILE = {
    "an end of SVG": "</svg><script>alert(1)</script>",
    "an end of a script": "</script><script>alert(1)</script><!--",
    "an end of a title": "</title></style></textarea><img src=x onerror=alert(1)>",
    "an end of CDATA": "]]><a xmlns:x='y' onload=alert(1)>",
    "an end of an attribute": '" onmouseover="alert(1)" x=\'y\' `',
    "an entity": "&lt;script&gt; &#60; &amp;lt; &nosuch; %26",
    "a file for TeX": r"\input{/etc/passwd} \include{x} \openin5=/etc/passwd",
    "a shell for TeX": rf"\immediate\write18{{touch {BROKEN}}} \directlua{{os.execute('x')}}",
    "an end of TeX": r"\end{document} } } $ $$ % # & ~ ^ _ \ \par^^M^^5cinput{x}",
    "escapes of a terminal": "\x1b[2J\x1b]0;title\x07\x9b31m\x1bP\x1b\\",
    "turned letters": "\u202eabc\u202c \u2066def\u2069 \u200f\u200b\ufeff",
    "what is no character": "\x00\x01\ud800 \udfff\ufffe\uffff\x7f\x85\u2028\u2029",
    "lines": "a\nb\r\nc\td",
    "Markdown": "![x](javascript:alert(1)) | --> ``` [a]: http://x <b>",
    "other scripts": "שלום 字 é Ж 🙂 a\u0301",
}


def hostile(words: str) -> Figure:
    """A figure each of whose strings are these words."""
    panel = Panel(
        caption=words,
        rows=2,
        cols=2,
        labels=(words, "1", words, "3"),
        paints=(0, 1, 0, -1),
        row_ruler=Ruler(words, (words, "1"), (2, 0, 2)),
        col_ruler=Ruler(words, (words, "1"), (2, 0, 2)),
        owners=((0, ((0, 0), (1, 0))),),
        boxes=((0, 0, 1, 2),),
        data={words: (words, 1, None, words)},
    )
    return Figure(
        kind=words,
        title=words,
        source=words,
        caption=words,
        description=words,
        paints=(Paint(0), Paint(1)),
        legends=(Legend(words, (LegendEntry(0, words), LegendEntry(1, words))),),
        panels=(panel,),
        notes=(words,),
        facts={words: words},
    )


def visible(words: str) -> str:
    """What a reader may see of words: characters that show, in a line."""
    return "".join(words.split())


SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "defs", "style", "pattern", "path", "rect", "text", "tspan", "g", "image"}


def check_svg(root: ElementTree.Element) -> None:
    """Elements and attributes that draw, references to ids of its own, and no more."""
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in ELEMENTS
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            if "href" in name:
                assert value.startswith(("#", "data:image/png;base64,"))
            assert "url(" not in value or re.fullmatch(r"url\(#\w+\)", value)


def commands(tex: str) -> set[str]:
    return set(re.findall(r"\\([A-Za-z@]+|\^\^)", tex))


def check(words: str, name: str) -> None:
    """One format: read by a strict parser, nothing in it that no plain figure has."""
    figure = hostile(words)
    for options in (Options(), Options(fragment=True), Options(theme="print")) if name not in ("png", "pdf") else (Options(),):
        data = render(figure, name, options)
        if name in ("png", "pdf"):
            assert name == "png" or not re.search(rb"/(JavaScript|JS|Launch|URI|OpenAction|AA)\b", data)
            continue
        text = data.decode("utf-8")
        assert not [c for c in text if (unicodedata.category(c) in ("Cc", "Cs") or c in "\ufffe\uffff") and c not in "\t\r\n"]
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", text)
        if name == "svg":
            root = ElementTree.fromstring(text)
            check_svg(root)
            if words.isprintable():
                assert visible(root.findtext(f"{SVG}title") or "") == visible(words)
        elif name == "html":
            parser = HTMLParser()
            page = parser.parse(text)
            assert parser.errors == []
            tags = [element.tag.rpartition("}")[2] for element in page.iter() if isinstance(element.tag, str)]
            assert tags.count("script") == 2
            assert not {"img", "a", "b", "iframe", "object", "link", "base"} & set(tags)
            assert not [key for element in page.iter() for key in element.attrib if str(key).lower().startswith("on")]
            check_svg(next(element for element in page.iter() if element.tag == f"{SVG}svg"))
        elif name == "json":
            assert json.loads(text)["title"] == words
            assert from_dict(json.loads(text)) == from_dict(json.loads(json.dumps(json.loads(text))))
        elif name == "tikz":
            assert commands(text) <= commands(render(hostile("plain"), "tikz", options).decode()) | TEX
        elif name == "text":
            assert not [c for c in text if not c.isprintable() and c != "\n"]
        else:
            pytest.fail(f"add a branch here that reads {name} back strictly")


# What letters and signs become in TeX: none of these reads, writes or defines.
TEX = {
    "textbackslash",
    "textasciicircum",
    "textasciitilde",
    "ldots",
    "times",
    "rightarrow",
    "downarrow",
    "cdot",
    "circ",
    "oslash",
    "otimes",
    "oplus",
}
TEX |= {"ss", "ae", "AE", "oe", "OE", "o", "O", "l", "L", "r", "c", "v"}


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("png", "pdf")])
@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_breaks_out(what: str, name: str) -> None:
    check(HOSTILE[what], name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["png", "pdf"])
def test_nothing_breaks_out_of_what_matplotlib_draws(name: str) -> None:
    check(" ".join(HOSTILE.values()), name)


@given(st.text(max_size=30), st.sampled_from([name for name in FORMATS if name not in ("png", "pdf")]))
@settings(max_examples=60, deadline=None)
def test_no_text_breaks_out(words: str, name: str) -> None:
    check(words, name)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_tex_compiles_without_a_shell_and_reads_no_file(tmp_path: Path) -> None:
    compile_tex(render(hostile(" ".join(HOSTILE.values())), "tikz"), tmp_path)
    assert not BROKEN.exists()


@pytest.mark.parametrize("what", HOSTILE)
def test_an_alt_text_is_one_picture_in_every_language(what: str) -> None:
    words = HOSTILE[what]
    for language in ("markdown", "html"):
        text = "\n".join(reference(language, "a b.svg", words))
        page = HTMLParser().parse(MarkdownIt("commonmark").render(text) if language == "markdown" else text)
        tags = [element.tag.rpartition("}")[2] for element in page.iter() if isinstance(element.tag, str)]
        assert tags == ["html", "head", "body", *(["p"] if language == "markdown" else []), "img"]
        (image,) = (element for element in page.iter() if element.tag.endswith("}img"))
        assert set(image.attrib) == {"src", "alt"}
        assert image.attrib["src"] == "a%20b.svg"
    tree = publish_doctree("\n".join(reference("rest", "a b.svg", words)), settings_overrides={"report_level": 5})
    assert [type(node).__name__ for node in tree.children] == ["image"]
    tex = "\n".join(reference("latex", "a b.pdf", words, "pdf"))
    fitted = commands(shrunk("")) | {"noindent", "includegraphics"}
    assert commands(tex) <= fitted | {"ldots", "times"} | TEX


def test_words_on_the_command_line(tmp_path: Path) -> None:
    """A title from the command line reaches each file as the words that it is."""
    for what, words in HOSTILE.items():
        if "\0" in words or "\ud800" in words:
            continue  # no argument of a process
        for suffix in ("svg", "html"):
            out = tmp_path / f"x.{suffix}"
            assert run("render", "(2,2)", "--title", words, "-o", str(out)).returncode == 0, what
            assert "<script>alert" not in out.read_text()
        shown = run("render", "(2,2)", "--title", words).stdout.decode()
        assert not [c for c in shown if not c.isprintable() and c != "\n"], what


FORGED = "one.svg", "two.txt"  # what a forged state says is a gallery's
SPEC = "specs: {one: {layout: '(2,2)'}, two: {layout: '(2,2)', formats: [text]}}"


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder and below, links as what they stand for."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def state(hashes: dict[str, str], signed: bool) -> str:
    """A state of a gallery that says of files that they are its own."""
    data = {"version": 1, "records": {}, "stale": hashes, "index": hashes}
    return json.dumps({**data, "signed": _signed(data)} if signed else data)


class TestRepositoriesOfStrangers:
    """A checkout may hold links to anywhere and forged manifests; what lies outside is neither written, removed nor told."""

    @pytest.fixture
    def outside(self, tmp_path: Path) -> Path:
        folder = tmp_path / "outside"
        folder.mkdir()
        for name in ("secret.yaml", "secret.md", "x.svg", "one.svg"):
            (folder / name).write_text("TOKEN: hunter2 (")
        return folder

    @pytest.fixture
    def work(self, tmp_path: Path) -> Path:
        folder = tmp_path / "work"
        folder.mkdir()
        (folder / "s.yaml").write_text(SPEC)
        return folder

    def test_a_gallery_does_not_follow_a_link(self, work: Path, outside: Path) -> None:
        before = tree(outside)
        out = work / "out"
        out.mkdir()
        for name in ("one.svg", "two.txt", "README.md", "index.html", NAME):
            (out / name).unlink(missing_ok=True)
            (out / name).symlink_to(outside / "x.svg")
            if name != NAME:
                (out / NAME).unlink(missing_ok=True)
                (out / NAME).write_text(state(dict.fromkeys(FORGED, "") | {"README.md": "", "index.html": ""}, signed=True))
            for more in ((), ("--prune",)):
                result = run("gallery", "s.yaml", "-o", "out", *more, cwd=work)
                assert b"hunter2" not in result.stdout + result.stderr
                assert tree(outside) == before, name
            run("gallery", "s.yaml", "-o", "out", "--check", cwd=work)
            assert tree(outside) == before, name

    def test_a_folder_that_is_a_link(self, work: Path, outside: Path) -> None:
        before = tree(outside)
        (work / "out").symlink_to(outside)
        (work / "d.md").write_text("<!-- cute-viz: (2,2) | name=x -->\n![x](out/x.svg)\n<!-- /cute-viz -->\n")
        for args in (
            ("gallery", "s.yaml", "-o", "out"),
            ("gallery", "s.yaml", "-o", "out/new"),
            ("embed", "d.md", "--folder", "out"),
        ):
            said = fails(run(*args, cwd=work), 1)
            assert "this leads out of the folder" in said
        assert tree(outside) == before
        assert run("gallery", "s.yaml", "-o", str(work.parent / "plain"), cwd=work).returncode == 0
        assert run("embed", "d.md", "--folder", "../pictures", cwd=work).returncode == 0

    def test_a_forged_state_gives_nothing_away(self, work: Path) -> None:
        """Files with a hash that does not match, or none, are kept, and told; so is every file where the state is not signed."""
        out = work / "out"
        out.mkdir()
        for hash_, signed in product(("", "0" * 64), (True, False)):
            for name in (*FORGED, "mine.txt"):
                (out / name).write_text("precious")
            (out / NAME).write_text(state(dict.fromkeys((*FORGED, "mine.txt"), hash_), signed))
            result = run("gallery", "s.yaml", "-o", "out", "--prune", cwd=work)
            assert result.returncode == 1
            assert [(out / name).read_text() for name in (*FORGED, "mine.txt")] == ["precious"] * 3
            assert b"refusing to overwrite out/one.svg" in result.stderr
            assert (b"which is not as gallery wrote it" in result.stderr) == signed
            assert (b"kept, because it was changed since: mine.txt" in result.stderr) == signed

    def test_a_forged_index_gives_nothing_away(self, work: Path) -> None:
        out = work / "out"
        assert run("gallery", "s.yaml", "-o", "out", cwd=work).returncode == 0
        (out / NAME).unlink()
        page = (out / "index.html").read_text()
        names = json.dumps(dict.fromkeys((*FORGED, "mine.txt", "README.md", "../s.yaml"), ""))
        forged = re.sub(r'(id="cute-viz-files">).*?(</script>)', lambda match: match[1] + names + match[2], page)
        for text in (forged, forged.replace(', "../s.yaml": ""', "")):
            (out / "index.html").write_text(text)
            for name in (*FORGED, "mine.txt", "README.md"):
                (out / name).write_text("precious")
            run("gallery", "s.yaml", "-o", "out", "--prune", cwd=work)
            assert [(out / name).read_text() for name in (*FORGED, "mine.txt", "README.md")] == ["precious"] * 4
            assert (work / "s.yaml").read_text() == SPEC

    def test_what_a_link_leads_to_is_not_told(self, work: Path, outside: Path) -> None:
        (work / "specs").mkdir()
        for name, kind in (("a.yaml", "secret.yaml"), ("specs/a.yaml", "secret.yaml"), ("a.md", "secret.md")):
            (work / name).symlink_to(outside / kind)
        commands = ("gallery", "a.yaml"), ("gallery", "specs"), ("check-spec", "a.yaml"), ("embed", "a.md")
        for args in (*commands, ("show", "a", "--layouts", "specs"), ("list", "mma", "--layouts", "specs")):
            result = run(*args, cwd=work)
            assert result.returncode == 1, args
            assert b"hunter2" not in result.stdout + result.stderr, args
            assert b"leads out of the folder" in result.stderr, args
        assert (outside / "secret.md").read_text() == "TOKEN: hunter2 ("

    def test_links_that_stay_are_fine(self, work: Path) -> None:
        (work / "t.yaml").symlink_to("s.yaml")
        assert run("gallery", "t.yaml", "-o", "out", cwd=work).returncode == 0
        (work / "x.svg").symlink_to("y.svg")
        assert run("render", "(2,2)", "-o", "x.svg", cwd=work).returncode == 0  # one file of the user's own: through the link
        assert (work / "x.svg").is_symlink()
        assert (work / "y.svg").exists()

    def test_files_that_nobody_named_replace_a_link(self, work: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = tree(outside)
        monkeypatch.chdir(work)
        monkeypatch.setattr("cute_viz.live.playground.site", lambda *_: {"index.html": b"page"})
        (work / "site").mkdir()
        (work / "k.cu").write_text("auto a = make_layout(make_shape(4, 8));")
        (work / "up").symlink_to(outside)
        for name in ("x.caption.md", "site/index.html"):
            (work / name).symlink_to(outside / "x")
        commands = ("render", "(2,2)", "--bare", "-o", "x.svg"), ("playground", "-o", "site"), ("playground", "-o", "up")
        for argv in (*commands, ("render", "k.cu", "--all", "-o", "up/")):
            with pytest.raises(SystemExit) as stop:
                main(list(argv))
            assert stop.value.code == ("up" in argv[-1]), argv
        assert (work / "site" / "index.html").read_bytes() == b"page"
        assert tree(outside) == before

    def test_a_forced_picture_replaces_a_link(self, work: Path, outside: Path) -> None:
        before = tree(outside)
        (work / "d.md").write_text("<!-- cute-viz: (2,2) | name=x -->\n![x](x.svg)\n<!-- /cute-viz -->\n")
        (work / "x.svg").symlink_to(outside / "x.svg")
        assert run("embed", "d.md", "--check", cwd=work).returncode == 1
        assert b"not as embed wrote it" in run("embed", "d.md", cwd=work).stderr
        assert (work / "x.svg").is_symlink()
        assert run("embed", "d.md", "--force", cwd=work).returncode == 0
        assert not (work / "x.svg").is_symlink()
        assert tree(outside) == before
        assert run("embed", "d.md", "--check", cwd=work).returncode == 0

    @pytest.mark.parametrize(
        "name", ["::error::x", "a\n::error::x", "a\r::error::x", "##[error]x", "a\u2028::error::x", "\x1b[2Jx"]
    )
    def test_a_name_is_no_command_of_a_log(self, name: str, work: Path) -> None:
        """GitHub obeys lines that begin with :: after spaces, and ##[ anywhere."""
        for suffix, text in (("yaml", "layout: (2,"), ("yaml", "layout: (2,2)"), ("md", "<!-- cute-viz: (2,2 -->\n"), ("md", "")):
            file = f"{name}.{suffix}"
            (work / file).write_text(text)
            commands = (
                [("embed", file), ("embed", file, "--check")] if suffix == "md" else [("check-spec", file), ("gallery", file)]
            )
            for args in (*commands, ("render", file, "-o", "x.svg"), ("render", "(2,2)", "-o", f"nowhere/{file}"), ("fmt", file)):
                result = run(*args, cwd=work)
                for line in re.split(
                    r"[\r\n\u2028]", result.stderr.decode() + (result.stdout.decode() if args[0] != "fmt" else "")
                ):
                    assert not line.strip().startswith("::"), args
                    assert "##[" not in line, args
                    assert "\x1b" not in line, args

    def test_a_quoted_line_is_no_command_of_a_log(self, work: Path) -> None:
        (work / "s.yaml").write_text("a: b\n::error::x\n ::warning::y: [\n")
        said = run("check-spec", "s.yaml", cwd=work).stderr.decode()
        assert not [line for line in said.splitlines() if line.strip().startswith("::")]


@pytest.mark.parametrize("names", [("\uac00", "\u1100\u1161"), ("x", "X"), ("straße", "STRASSE"), ("\u212b", "\u00e5")])
def test_names_that_are_one_on_some_system(names: tuple[str, str], tmp_path: Path) -> None:
    spec = "\n".join(f"  {name}: {{layout: '(2,{n + 2})'}}" for n, name in enumerate(names))
    (tmp_path / "s.yaml").write_text(f"specs:\n{spec}\n", "utf-8")
    assert b"is taken by" in run("gallery", "s.yaml", "-o", "out", cwd=tmp_path).stderr
    (tmp_path / "t.yaml").write_text(f"specs:\n  {names[0]}: {{layout: '(2,2)'}}\n", "utf-8")
    (tmp_path / "u.yaml").write_text(f"specs:\n  {names[1]}: {{layout: '(2,3)'}}\n", "utf-8")
    assert b"is taken by" in run("gallery", "t.yaml", "u.yaml", "-o", "out2", cwd=tmp_path).stderr
    for n, name in enumerate(names):
        block = f"<!-- cute-viz: (2,{n + 2}) | name={name} -->\n<!-- /cute-viz -->\n"
        (tmp_path / f"{n}.md").write_text(block, "utf-8")
    (tmp_path / "d.md").write_text("".join((tmp_path / f"{n}.md").read_text("utf-8") for n in range(2)), "utf-8")
    assert "is another picture" in fails(run("embed", "d.md", cwd=tmp_path), 1)
    assert b"is another picture" in run("embed", "0.md", "1.md", cwd=tmp_path).stderr


@pytest.mark.parametrize("name", ["con", "NUL", "nul.x", "com1", "COM9.tar", "lpt3", "com\u00b9", "aux ", "x.", "x ", "prn.a.b"])
def test_names_that_windows_keeps_for_itself(name: str) -> None:
    assert not is_file_name(name)
    assert is_file_name(f"{name.strip(' .')}_1") or "." in name
