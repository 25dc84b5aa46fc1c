"""`cute-viz gallery`: what it draws, what it leaves alone, and that the committed gallery is what its specs give."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from cute_viz.cli.gallery import command
from cute_viz.documents.embed import embed
from cute_viz.errors import CuteVizError
from cute_viz.gallery.draw import hash_of
from cute_viz.gallery.index import IndexEntry, files_of, page, readme
from cute_viz.gallery.state import NAME, sweep
from tests.commands import fails, run

ROOT = Path(__file__).parent.parent
SPECS = """specs:
  one:
    layout: (4,8):(8,1)
  two:
    layout: (2,2)
    formats: [svg, text]
"""


def gallery(*args: object) -> Result:
    result = CliRunner().invoke(command, [str(arg) for arg in args], standalone_mode=False, catch_exceptions=False)
    if result.exception:
        raise result.exception
    return result


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    path = tmp_path / "specs.yaml"
    path.write_text(SPECS)
    return path


def shown(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != NAME}


def test_every_spec_in_every_wanted_format(specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert gallery(specs, "-o", out).return_value == 0
    assert set(shown(out)) == {"one.svg", "two.svg", "two.txt", "README.md", "index.html"}
    assert (out / "one.svg").read_bytes() == run("render", "(4,8):(8,1)", "-T", "svg").stdout
    assert gallery(specs, "-o", tmp_path / "other", "-T", "json", "-T", "tikz").return_value == 0
    assert set(shown(tmp_path / "other")) == {"one.json", "one.tex", "two.json", "two.tex", "README.md", "index.html"}


def test_a_style_that_a_forced_format_lacks(tmp_path: Path) -> None:
    path = tmp_path / "mma.yaml"
    path.write_text("mma_atom: SM80_16x8x16_F32F16F16F32_TN\nstyle: cutlass\nformats: tikz\n")
    assert gallery(path, "-o", tmp_path / "a").return_value == 0
    assert gallery(path, "-o", tmp_path / "b", "-T", "text", "-T", "tikz").return_value == 0
    assert (tmp_path / "a" / "mma.tex").read_bytes() == (tmp_path / "b" / "mma.tex").read_bytes()
    assert b"T0 V0" in (tmp_path / "b" / "mma.txt").read_bytes()
    path.write_text("mma_atom: SM80_16x8x16_F32F16F16F32_TN\nstyle: cutlass\nformats: text\n")
    assert re.search(r"leave out \W*style", gallery(path, "-o", tmp_path / "c").stderr)


def test_what_moves_is_a_still_in_formats_that_do_not(tmp_path: Path) -> None:
    spec = tmp_path / "moving.yaml"
    spec.write_text("layout: logical_divide((4,8):(8,1), (2,4))\nfigure: {view: steps, animate: true}\n")
    assert run("gallery", str(spec), "-o", str(tmp_path / "out"), "-T", "svg", "-T", "text").returncode == 0
    assert "@keyframes" in (tmp_path / "out" / "moving.svg").read_text()
    still = run("render", "logical_divide((4,8):(8,1), (2,4))", "--view", "steps").stdout
    assert (tmp_path / "out" / "moving.txt").read_bytes() == still


def test_an_interrupted_run_ends_at_once_and_clean(tmp_path: Path) -> None:
    many = "".join(f"  f{n}:\n    layout: (64,{n + 8}):({n + 8},1)\n" for n in range(2000))
    (tmp_path / "many.yaml").write_text("specs:\n" + many)
    out = tmp_path / "out"
    args = [sys.executable, "-m", "cute_viz", "gallery", str(tmp_path / "many.yaml"), "-o", str(out), "-j", "2"]
    with subprocess.Popen(args, cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True) as process:
        while len(list(out.glob("*.svg"))) < 5 and process.poll() is None:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)
        try:
            said = process.communicate(timeout=20)[1].decode()
        finally:
            process.kill()
    assert process.returncode == 130
    assert said.strip() == "error: interrupted"
    assert not list(out.glob(".cute-viz-[0-9]*"))


def test_a_gallery_of_nothing_can_be_filled(tmp_path: Path) -> None:
    path, out = tmp_path / "a.yaml", tmp_path / "out"
    path.write_text("layout: (4,8):(8,")
    assert gallery(path, "-o", out).return_value == 1
    path.write_text("layout: (4,8):(8,1)")
    assert gallery(path, "-o", out).return_value == 0
    assert gallery(path, "-o", out, "--check").return_value == 0
    path.unlink()
    emptied = gallery(tmp_path, "-o", out, "--prune")
    assert (emptied.return_value, "no spec found" in emptied.stderr) == (0, True)
    path.write_text("layout: (4,8):(8,1)")
    assert gallery(path, "-o", out).return_value == 0


def test_only_what_changed_is_drawn(specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "2 drawn, 0 unchanged" in gallery(specs, "-o", out).stderr
    for path in out.iterdir():
        os.utime(path, (1, 1))
    assert "0 drawn, 2 unchanged" in gallery(specs, "-o", out).stderr
    assert {path.stat().st_mtime for path in out.iterdir()} == {1}
    specs.write_text(SPECS.replace("(2,2)", "(2,4)"))
    assert "1 drawn, 1 unchanged" in gallery(specs, "-o", out).stderr
    assert (out / "one.svg").stat().st_mtime == 1
    (out / "one.svg").unlink()
    assert "1 drawn, 1 unchanged" in gallery(specs, "-o", out).stderr
    assert (out / "one.svg").read_bytes().startswith(b"<?xml")


def test_what_somebody_changed_is_kept(specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    gallery(specs, "-o", out)
    for name in ("one.svg", "README.md"):
        drawn = (out / name).read_text()
        (out / name).write_text("by hand")
        result = gallery(specs, "-o", out)
        assert result.return_value == 1
        assert f"{name}, which is not as gallery wrote it" in result.stderr
        assert (out / name).read_text() == "by hand"
        (out / name).unlink()
        assert gallery(specs, "-o", out).return_value == 0
        assert (out / name).read_text() == drawn


@pytest.mark.parametrize(
    "state", ["", "{", "[]", '{"version": 1}', '{"version": 1, "records": {"a": 3}, "stale": {}}', "[" * 100_000]
)
def test_a_broken_state_draws_all_anew(state: str, specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    gallery(specs, "-o", out)
    before = shown(out)
    (out / NAME).write_text(state)
    assert "2 drawn" in gallery(specs, "-o", out).stderr
    assert shown(out) == before


def test_a_state_of_someone_else_removes_nothing_outside(specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    gallery(specs, "-o", out)
    for name in ("../precious.txt", "/etc/hostname", ".hidden"):
        (tmp_path / "precious.txt").write_text("mine")
        (out / NAME).write_text(json.dumps({"version": 1, "records": {}, "stale": {name: ""}}))
        assert gallery(specs, "-o", out, "--prune").return_value == 0
        assert (tmp_path / "precious.txt").exists()


def test_what_a_stranger_says_is_ours_is_not(specs: Path, tmp_path: Path) -> None:
    """A state and an index of a pull request, with true hashes of files that are somebody's work."""
    out = tmp_path / "out"
    gallery(specs, "-o", out)
    state, index = json.loads((out / NAME).read_text()), (out / "index.html").read_text()
    mine = {
        "logo.svg": "<svg>mine</svg>",
        "notes.txt": "mine",
        "notes.md": "mine",
        "x.py": "mine",
    }
    for name, words in mine.items():
        (out / name).write_text(words)
    hashes = {name: hash_of(words.encode()) for name, words in mine.items()}
    listed = re.sub(r'(id="cute-viz-files">)[^<]*', lambda match: match[1] + json.dumps({**files_of(index), **hashes}), index)
    for signed in (None, "", state["signed"], "0" * 64):
        for records in ({}, state["records"]):
            forged = {**state, "records": records, "stale": hashes, "signed": signed}
            (out / NAME).write_text(json.dumps({key: value for key, value in forged.items() if value is not None}))
            (out / "index.html").write_text(listed)
            said = gallery(specs, "-o", out, "--prune").stderr
            assert {name: (out / name).read_text() for name in mine} == mine
            assert "removed: " not in said
            forged["stale"] = {"one.svg": hash_of(b"<svg>mine</svg>")}
            (out / "one.svg").write_text("<svg>mine</svg>")
            (out / NAME).write_text(json.dumps(forged))
            (out / "index.html").write_text(listed.replace(files_of(index)["one.svg"], hash_of(b"<svg>mine</svg>")))
            with pytest.raises(CuteVizError, match=r"refusing to overwrite \S+one\.svg"):
                gallery(specs, "-o", out, "--prune")
            assert (out / "one.svg").read_text() == "<svg>mine</svg>"
            (out / "one.svg").unlink()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no lock on a folder")
def test_two_runs_that_prune_at_once(tmp_path: Path) -> None:
    """The later one wins whole: the folder has its pictures, its index, and nothing else."""
    out, names = tmp_path / "out", {"a": {"a1.svg", "a2.svg", "both.svg"}, "b": {"b1.svg", "both.svg"}}
    for word, files in names.items():
        rows = "".join(f"  {file[:-4]}: {{layout: '({len(word) + n},8)'}}\n" for n, file in enumerate(sorted(files), 4))
        (tmp_path / f"{word}.yaml").write_text("specs:\n" + rows.replace("both: {layout: '(7", "both: {layout: '(6"))
    words = [sys.executable, "-m", "cute_viz", "gallery"]
    for _ in range(2):
        runs = [subprocess.Popen([*words, str(tmp_path / f"{word}.yaml"), "-o", str(out), "--prune", "-j", "1"]) for word in names]
        assert [run_.wait(120) for run_ in runs] == [0, 0]
        there = {path.name for path in out.glob("*.svg")}
        assert there in names.values()
        assert all(name in (out / "index.html").read_text() for name in there)


def test_another_atom_is_another_picture(tmp_path: Path) -> None:
    atoms = (ROOT / "layouts" / "mma" / "sm80.yaml").read_text()
    mine, out = tmp_path / "mine", tmp_path / "out"
    mine.mkdir()
    (mine / "atoms.yaml").write_text(atoms.replace("SM80_16x8x16_F32F16F16F32_TN", "MY_ATOM"))
    spec = tmp_path / "spec.yaml"
    spec.write_text("mma_atom: SM80_8x8x4_F64F64F64F64_TN\n")
    args = ("gallery", str(spec), "-o", str(out), "--layouts", str(mine))
    for edit, words in (("", b"1 drawn"), ("", b"1 unchanged"), ("# edited\n", b"1 drawn"), ("", b"1 unchanged")):
        (mine / "atoms.yaml").write_text((mine / "atoms.yaml").read_text() + edit)
        assert words in run(*args).stderr


def test_stale_files_are_listed_and_pruned(specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    gallery(specs, "-o", out)
    (out / "mine.svg").write_text("not the gallery's")
    specs.write_text(SPECS.partition("  two:")[0])
    for _ in range(2):
        said = gallery(specs, "-o", out).stderr
        assert "stale: two.svg" in said
        assert "stale: two.txt" in said
    assert "stale: two.svg" in gallery(specs, "-o", out, "--check").stdout
    (out / "two.txt").write_text("changed by hand")
    said = gallery(specs, "-o", out, "--prune").stderr
    assert "removed: two.svg" in said
    assert "kept, because it was changed since: two.txt" in said
    assert set(shown(out)) == {"one.svg", "two.txt", "mine.svg", "README.md", "index.html"}
    assert "stale: " not in gallery(specs, "-o", out).stderr


def test_the_index_of_a_fresh_clone_knows_what_is_stale(specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    gallery(specs, "-o", out)
    (out / NAME).unlink()
    specs.write_text(SPECS.partition("  two:")[0])
    assert "stale: two.svg" in gallery(specs, "-o", out, "--check").stdout
    assert "removed: two.svg" in gallery(specs, "-o", out, "--prune").stderr


def test_a_check_names_every_difference_and_writes_nothing(specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    gallery(specs, "-o", out)
    assert gallery(specs, "-o", out, "--check").return_value == 0
    (out / "one.svg").write_text("another picture")
    (out / "two.txt").unlink()
    (out / "README.md").write_text("another index")
    before = shown(out)
    result = gallery(specs, "-o", out, "--check")
    assert result.return_value == 1
    assert result.stdout.splitlines() == ["differs: README.md", "differs: one.svg", "missing: two.txt"]
    assert shown(out) == before


def test_a_failing_spec_stops_no_other(tmp_path: Path) -> None:
    good, bad, worse = (tmp_path / name for name in ("good.yaml", "bad.yaml", "worse.yaml"))
    good.write_text(SPECS)
    bad.write_text(
        "specs:\n  fine: {layout: '(4)'}\n  open:\n    layout: (4,8):(8\n  wide:\n    layout: (4,8)\n    figure: {tile: 2x2}\n"
        "  list: [1]\n  ../up:\n    layout: (4)\n  unknown:\n    layout: (4)\n    formats: gif\n  one:\n    layout: (4)\n"
    )
    worse.write_text("specs: [")
    out = tmp_path / "out"
    result = gallery(tmp_path, "-o", out, "-j", 2)
    assert result.return_value == 1
    for place in ("bad.yaml:4:", "bad.yaml:7:13: ", "bad.yaml:8:", "bad.yaml:9:", "bad.yaml:13:", "worse.yaml:1:", "good.yaml:2:3"):
        assert f"error: {tmp_path}/{place}" in result.stderr, place
    assert "up'" in result.stderr
    assert set(shown(out)) == {"fine.svg", "one.svg", "two.svg", "two.txt", "README.md", "index.html"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.yaml", "good.yaml", "out", "worse.yaml"]
    good.write_text("specs: [")  # the pictures of a file that cannot be read now are not stale
    assert "stale: " not in gallery(tmp_path, "-o", out, "--prune").stderr
    assert (out / "two.svg").exists()


@given(st.text(max_size=30) | st.sampled_from(["..", "a/b", "a\\b", "con", "README", "index", ".x", "a\n", "x" * 200]))
def test_no_name_leaves_the_folder(name: str) -> None:
    from cute_viz.errors import Span
    from cute_viz.gallery.plan import _check_name
    from cute_viz.spec.build import Builder

    try:
        _check_name(Builder("x", None), name, Span(0, 1))
    except CuteVizError:
        return
    assert os.path.basename(name) == name
    assert name.isprintable()
    assert name[0] not in ". "


@pytest.mark.slow
def test_the_committed_gallery_is_the_same_elsewhere(tmp_path: Path) -> None:
    """The command of the documents with another hash seed, time zone, locale, number of processes; `.ci/run` checks it as usual."""
    environment = {
        "PYTHONHASHSEED": "2",
        "TZ": "America/St_Johns",
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "tr_TR.UTF-8",
        "PYTHONPATH": str(ROOT),
    }
    done = run("gallery", "-o", "pictures", "-j", "2", env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    drawn = {path.name: path.read_bytes() for path in (tmp_path / "pictures").iterdir() if path.name != NAME}
    kept = {path.name: path.read_bytes() for path in (ROOT / "gallery").iterdir() if path.name not in (NAME, "tour.ipynb")}
    assert [name for name in drawn.keys() | kept.keys() if drawn.get(name) != kept.get(name)] == []


@pytest.mark.slow
def test_a_killed_run_is_completed_by_the_next(tmp_path: Path) -> None:
    many = "".join(f"  f{n}:\n    layout: (16,{n + 8}):({n + 8},1)\n" for n in range(150))
    (tmp_path / "many.yaml").write_text("specs:\n" + many)
    out = tmp_path / "out"
    args = [sys.executable, "-m", "cute_viz", "gallery", str(tmp_path / "many.yaml"), "-o", str(out), "-j", "2"]
    with subprocess.Popen(args, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        while len(list(out.glob("*.svg"))) < 5 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    half = list(out.glob("*.svg"))
    assert all(path.read_bytes().rstrip().endswith(b"</svg>") for path in half)
    (out / f".cute-viz-{process.pid}-abcdefgh").write_text("half a picture")
    assert gallery(tmp_path / "many.yaml", "-o", out).return_value == 0
    assert len(list(out.glob("*.svg"))) == 150
    assert sorted(path.name for path in out.glob(".*")) == [NAME]


def test_temporary_files_of_a_running_process_are_left(tmp_path: Path) -> None:
    mine, other = tmp_path / f".cute-viz-{os.getpid()}-abcdefgh", tmp_path / ".cute-viz-notes"
    mine.touch()
    other.touch()
    sweep(str(tmp_path))
    assert mine.exists()
    assert other.exists()


def test_watch_draws_again(specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    args = [sys.executable, "-m", "cute_viz", "gallery", str(specs), "-o", str(out), "--watch"]
    with subprocess.Popen(args, cwd=ROOT, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            assert b"2 drawn" in process.stderr.readline()
            time.sleep(0.1)
            specs.write_text(SPECS.replace("(2,2)", "(2,4)"))
            assert b"1 drawn, 1 unchanged" in process.stderr.readline()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert b"Traceback" not in process.stderr.read()


class Page(HTMLParser):
    """The tags of a page that are opened, and those still open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


HOSTILE = IndexEntry(
    "x y", 'a <b> | "c"', "</script><i>\n\n|`*", "alt \"'<>&\n\nsecond", "grid", ("sm80",), "(4):(1) | <x>", "", {"svg": "x y.svg"}
)


def test_the_index_holds_any_words() -> None:
    for text in (page([HOSTILE]), "\n".join(line for line in readme([HOSTILE]).splitlines() if line.startswith("<"))):
        parsed = Page(text)
        assert parsed.open == []
        assert "i" not in [tag for tag, _ in parsed.seen]
        (image,) = [attrs for tag, attrs in parsed.seen if tag == "img"]
        assert image["src"] == "x%20y.svg"
        assert image["alt"] == "alt \"'<>& second"
    assert "\n\n|" not in readme([HOSTILE])
    assert files_of(page([HOSTILE])) == {"x y.svg": ""}


def test_the_page_needs_nothing_else(specs: Path, tmp_path: Path) -> None:
    gallery(specs, "-o", tmp_path / "out")
    parsed = Page((tmp_path / "out" / "index.html").read_text())
    links = [value for _, attrs in parsed.seen for key, value in attrs.items() if key in ("src", "href")]
    assert links
    assert all(link in os.listdir(tmp_path / "out") for link in links)
    assert {"data-kind", "data-archs", "data-words"} <= set(next(attrs for tag, attrs in parsed.seen if tag == "figure"))


def test_usage() -> None:
    for args, words in (
        (["--check", "--prune"], "--check cannot be combined with --prune"),
        (["nowhere.yaml"], "does not exist"),
        (["-j", "0"], "0"),
    ):
        result = run("gallery", *args)
        assert result.returncode == 2
        assert words in result.stderr.decode()


@pytest.mark.parametrize("name", ["README.md", "index.html", "grid.svg"])
def test_files_of_the_user_are_not_replaced(name: str, specs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text("precious")
    specs.write_text("specs: {grid: {layout: '(4,8):(8,1)'}}")
    with pytest.raises(CuteVizError, match=r"refusing to overwrite .* which gallery did not write"):
        gallery(specs, "-o", folder)
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "precious"


def test_an_unchanged_run_changes_no_byte(tmp_path: Path) -> None:
    """Neither of the pictures nor of the index, whatever the order of a spec's formats."""
    spec = tmp_path / "a.yaml"
    spec.write_text("specs: {one: {layout: '(4,8):(8,1)', formats: [text, svg, png, json]}}")
    folder = tmp_path / "out"
    assert gallery(spec, "-o", folder).return_value == 0
    before = shown(folder)
    assert gallery(spec, "-o", folder).return_value == 0
    assert shown(folder) == before
    assert gallery(spec, "-o", folder, "--check").return_value == 0


def test_too_many_cells_for_labels_are_an_image_wherever_render_draws_one(tmp_path):
    """check-spec, gallery and embed take what render takes; a format without images refuses it, and says what raises the limit."""
    spec = tmp_path / "large.yaml"
    spec.write_text("layout: (700,400)")
    assert run("check-spec", str(spec)).returncode == 0
    assert run("gallery", str(spec), "-o", str(tmp_path / "out")).returncode == 0
    drawn = run("render", str(spec), "-T", "svg").stdout
    assert (tmp_path / "out" / "large.svg").read_bytes() == drawn
    done = embed("<!-- cute-viz: (700,400) | name=large -->\n<!-- /cute-viz -->\n", "markdown", "x")
    assert not done.failures
    assert b"<image" in done.pictures["large.svg"]
    spec.write_text("layout: (700,400)\nformats: [svg, text]")
    said = fails(run("check-spec", str(spec)), 1)
    assert "280000 cells" in said
    assert "max_cells: N" in said


def test_a_thumbnail_is_the_panels_alone(tmp_path: Path) -> None:
    """Its view box is inside of the picture, and around every cell, below the title and above the legend."""
    spec = tmp_path / "one.yaml"
    spec.write_text("specs:\n  grid:\n    layout: (4,8):(8,1)\n")
    assert run("gallery", str(spec), "-o", str(tmp_path / "out")).returncode == 0
    html = (tmp_path / "out" / "index.html").read_text()
    clip, shown = re.search(r'<a class=thumb style="([^"]*)" href="grid\.svg"><img style="([^"]*)"', html).groups()
    w, h = map(float, re.search(r"aspect-ratio:(\S+)/([^;]+);", clip).groups())
    percent = {name: float(n) / 100 for name, n in re.findall(r"(width|left|top):(-?[\d.]+)%", shown)}
    x, y, svg = -percent["left"] * w, -percent["top"] * h, (tmp_path / "out" / "grid.svg").read_text()
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups())
    assert percent["width"] * w == pytest.approx(width, rel=1e-3)
    assert 0 <= x < x + w <= width
    assert 0 < y < y + h <= height
    title = next(float(at) for at, text in re.findall(r'<text[^>]* y="([^"]*)"[^>]*>([^<]*)<', svg) if text.startswith("Row-major"))
    assert title < y
    hostile = IndexEntry("x", "", "", "", "grid", (), "", "", {"svg": "x.svg"}, '0,1,2,3,4,5"><script>')
    assert "<script>" not in page([IndexEntry.from_dict({**asdict(hostile)})]).partition("<section")[2].partition("</section")[0]


def test_the_index_begins_with_the_best_and_a_command_to_copy() -> None:
    from cute_viz.gallery.index import BEST

    entries = [IndexEntry(name, "G", name, "", "grid", (), "(4,8)", "", {"svg": f"{name}.svg"}) for name in (*BEST, "mine")]
    html = page(entries)
    first = html.partition("<section")[2].partition("</section")[0]
    assert re.findall(r'<a href="(\w+)\.svg"><img', first) == list(BEST)
    assert first.count("<p class=command><code>cute-viz render ") == first.count("Copy</button>") == 12
    assert "cute-viz render mine" not in html


def test_the_index_links_to_the_live_page() -> None:
    from cute_viz.gallery.index import IndexEntry, page, readme

    entries = [
        IndexEntry("ampere_gemm", "G", "", "", "gemm", (), "(4,8)", "", {"svg": "a.svg"}),
        IndexEntry("mine", "G", "", "", "grid", (), "(4,8):(8,1)", "", {"svg": "b.svg"}),
    ]
    for text in (page(entries, live="https://example.org/"), readme(entries, live="https://example.org/")):
        assert '<a href="https://example.org/#source=ampere_gemm">live</a>' in text
        assert '<a href="https://example.org/#source=(4,8):(8,1)">live</a>' in text
    assert "live</a>" not in page(entries) + readme(entries)
