"""What goes wrong around the program: full disks, closed streams, signals, odd environments. Nothing is lost or half-written."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import pytest

from cute_viz.gallery.state import NAME
from tests.commands import fails, run

KILLS = int(os.environ.get("CUTE_VIZ_KILLS", "12"))  # 100 once in a while
SPECS = "specs:\n" + "".join(f"  f{n}: {{layout: '(8,{n + 2}):({n + 2},1)', formats: [svg, text, tikz]}}\n" for n in range(24))


# coverage's own file would be over the limit, too.
UNMEASURED = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")}


def python(*args: str) -> list[str]:
    return [sys.executable, "-m", "cute_viz", *args]


def half(folder: Path) -> list[str]:
    """Files of a folder that are no whole picture, index or state."""
    ends = {".svg": b"</svg>", ".txt": b"+", ".tex": b"\\end{document}", ".html": b"</html>"}
    out = []
    for path in folder.iterdir():
        data = path.read_bytes().rstrip()
        if path.name == NAME:
            json.loads(data)
        elif path.suffix in ends and not data.endswith(ends[path.suffix]):
            out.append(path.name)
    return out


class TestFullDisk:
    """A limit on the size of files stands for a disk that fills up while a file is written."""

    def run(self, *args: str) -> subprocess.CompletedProcess[bytes]:
        def small() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (9999, 9999))

        # Python writes bytecode without looking whether all of it went into the file; the next process would read half a module.
        environment = {**UNMEASURED, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(python(*args), env=environment, capture_output=True, timeout=60, preexec_fn=small)

    def test_no_half_file_and_the_old_one_stays(self, tmp_path: Path) -> None:
        out = tmp_path / "x.svg"
        out.write_text("old")
        result = self.run("render", "(64,64)", "-o", str(out))
        assert f"{out}: File too large" in fails(result, 1)
        assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.svg", "old")]

    def test_a_gallery_tells_which_files_and_the_next_run_completes_it(self, tmp_path: Path) -> None:
        spec, out = tmp_path / "s.yaml", tmp_path / "out"
        spec.write_text("specs: {a: {layout: '(2,2)', formats: [text]}, b: {layout: '(64,64)'}}")
        result = self.run("gallery", str(spec), "-o", str(out))
        assert result.returncode == 1
        assert b"b.svg: File too large" in result.stderr
        assert b"Traceback" not in result.stderr
        assert (out / "a.txt").exists()
        assert not half(out)
        assert run("gallery", str(spec), "-o", str(out)).returncode == 0
        assert run("gallery", str(spec), "-o", str(out), "--check").returncode == 0

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
    def test_standard_output(self) -> None:
        for command in (("render", "(4,4)"), ("eval", "(4,4)"), ("list", "ops"), ("show", "(4,4)")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run(python(*command), stdout=full, stderr=subprocess.PIPE, timeout=60)
            assert done.returncode == 1
            assert done.stderr == b"error: standard output: No space left on device\n"


@pytest.mark.parametrize("folder", ["/proc", "/sys"])
def test_a_folder_that_takes_no_files(folder: str) -> None:
    """As root no mode of a folder would refuse; these do."""
    if not os.path.isdir(folder):
        pytest.skip(f"no {folder} here")
    message = fails(run("render", "(4,4)", "-o", f"{folder}/x.svg"), 1)
    assert message.startswith(f"error: {folder}/x.svg: ")


class TestStreams:
    def closed(self, words: str) -> tuple[int, bytes]:
        command = " ".join(map("'{}'".format, python()))
        done = subprocess.run(["bash", "-c", f"{command} {words}"], capture_output=True, timeout=60)
        assert b"Traceback" not in done.stderr
        return done.returncode, done.stderr

    def test_closed_standard_output(self, tmp_path: Path) -> None:
        assert self.closed("render '(2,2)' >&-") == (1, b"error: standard output is closed\n  hint: give a file with -o\n")
        assert self.closed(f"render '(2,2)' -o {tmp_path}/x.svg >&-") == (0, b"")
        assert (tmp_path / "x.svg").exists()
        for words in ("--help", "list ops", "render --help"):
            assert self.closed(f"{words} >&-")[0] == 0

    def test_closed_standard_input_and_error(self) -> None:
        for command in ("render", "eval"):
            assert self.closed(f"{command} - <&-") == (1, b"error: standard input is closed\n")
        assert self.closed("render 'nobody(' 2>&-") == (1, b"")

    def test_a_pipe_by_its_path(self) -> None:
        for path in ("/dev/stdout", "/dev/fd/1"):
            status, said = self.closed(f"render '(2,2)' -T svg -o {path} | tail -c 7 | grep -q '</svg>'; exit $?")
            assert (status, said) == (0, b"")

    def test_a_reader_that_has_seen_enough(self) -> None:
        for words in ("render '(512,512)'", "list ops", "list mma", "--help"):
            assert self.closed(f"{words} | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}") == (0, b"")


class TestSignals:
    @pytest.fixture
    def spec(self, tmp_path: Path) -> Path:
        path = tmp_path / "s.yaml"
        path.write_text(SPECS)
        return path

    @pytest.mark.slow
    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_a_gallery_that_is_stopped_at_any_moment(self, spec: Path, tmp_path: Path, jobs: str) -> None:
        """Half of the runs by SIGINT, half by SIGKILL; never a half file, and a last run completes all."""
        chance, out = random.Random(jobs), tmp_path / "out"
        for n in range(KILLS // 2):
            if chance.random() < 0.3:
                shutil.rmtree(out, ignore_errors=True)
            run_ = subprocess.Popen(
                python("gallery", str(spec), "-o", str(out), "-j", jobs), stderr=subprocess.PIPE, start_new_session=True
            )
            time.sleep(chance.uniform(0.05, 0.6))
            run_.send_signal(signal.SIGKILL if n % 2 else signal.SIGINT)
            run_.communicate(timeout=30)
            if out.exists():
                assert not half(out), n
        last = run("gallery", str(spec), "-o", str(out), "-j", jobs)
        assert last.returncode == 0, last.stderr
        assert run("gallery", str(spec), "-o", str(out), "--check").returncode == 0
        assert not [path.name for path in out.iterdir() if path.name.startswith(".cute-viz-") and path.name != NAME]

    @pytest.mark.slow
    def test_two_galleries_into_one_folder(self, spec: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        for _ in range(2):
            shutil.rmtree(out, ignore_errors=True)
            both = [subprocess.Popen(python("gallery", str(spec), "-o", str(out)), stderr=subprocess.PIPE) for _ in range(2)]
            for one in both:
                assert one.communicate(timeout=60)[1].count(b"\n") == 1
                assert one.returncode == 0
            assert not half(out)
            assert run("gallery", str(spec), "-o", str(out), "--check").returncode == 0

    def test_an_interrupted_render_leaves_nothing(self, tmp_path: Path) -> None:
        chance = random.Random(3)
        for _ in range(4):
            out = tmp_path / "x.svg"
            one = subprocess.Popen(python("render", "(256,256)", "--labels", "full", "-o", str(out)), stderr=subprocess.PIPE)
            time.sleep(chance.uniform(0.2, 0.5))
            one.send_signal(signal.SIGINT)
            one.communicate(timeout=30)
            assert [path.name for path in tmp_path.iterdir()] in ([], ["x.svg"])
            if out.exists():
                assert out.read_bytes().rstrip().endswith(b"</svg>")

    def test_an_interrupt_when_the_file_has_its_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is an interrupt, although the temporary file is gone, and the picture is whole."""
        replace = os.replace

        def late(source: str, target: str) -> None:
            replace(source, target)
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "replace", late)
        result = run("render", "(2,2)", "-o", "x.svg", cwd=tmp_path)
        assert (result.returncode, result.stderr) == (130, b"\nerror: interrupted\n")
        assert [path.name for path in tmp_path.iterdir()] == ["x.svg"]

    def test_an_interrupt_while_modules_are_imported(self, tmp_path: Path) -> None:
        """A module of click's name that waits stands for a slow disk; one of numpy's turns the interrupt into another error."""
        for name, body, words in (
            ("click", "import time; print('here', flush=True); time.sleep(30)", b"error: interrupted\n"),
            (
                "numpy",
                "import time; print('here', flush=True)\ntry: time.sleep(30)\nexcept BaseException as e: raise ImportError from e",
                b"\nerror: interrupted\n",
            ),
        ):
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").write_text(body)
            path = os.pathsep.join([str(tmp_path / name), os.environ.get("PYTHONPATH", "")])
            (tmp_path / name / f"{name}.py").write_text(body)
            one = subprocess.Popen(
                python("render", "(2,2)", "-o", str(tmp_path / "x.png")),
                env={**UNMEASURED, "PYTHONPATH": path, "CUTE_VIZ_DEBUG": ""},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            assert one.stdout is not None
            assert one.stdout.readline() == b"here\n"
            one.send_signal(signal.SIGINT)
            assert one.communicate(timeout=30)[1] == words
            assert one.returncode == 130


class TestMemory:
    """A limit on the memory of the process: an error in words, or the answer."""

    def run(self, megabytes: int, *args: str) -> subprocess.CompletedProcess[bytes]:
        def little() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

        environment = {**UNMEASURED, "CUTE_VIZ_DEBUG": ""}
        return subprocess.run(python(*args), env=environment, capture_output=True, timeout=60, preexec_fn=little)

    @pytest.mark.parametrize("megabytes", [16, 40, 110, 170][sys.version_info >= (3, 14) :])
    def test_little(self, megabytes: int, tmp_path: Path) -> None:
        old = tuple(map(int, version("matplotlib").split(".")[:2])) < (3, 8)  # its Agg never comes back where memory ends
        for suffix in ("svg",) if old else ("svg", "png", "pdf"):
            result = self.run(megabytes, "render", "(4,4)", "-o", str(tmp_path / f"x.{suffix}"))
            assert b"Traceback" not in result.stderr
            assert b"mistake in cute-viz" not in result.stderr
            if suffix != "svg" and result.returncode == -signal.SIGSEGV:
                continue  # NumPy's and FreeType's own code, where memory ends
            assert result.returncode == (1 if result.stderr else 0)

    @pytest.mark.parametrize(
        "args",
        [
            ("eval", "cosize((1048576,1048576):(F1,F3))"),
            ("eval", "cosize((1000003,999983,7):(F5,F3,F1))"),
            ("show", "(65536,65536):(F1,F65536)"),
            ("show", "(9223372036854775808,4):(1,F3)"),
            ("render", "zipped_divide((9223372036854775808,4), (2,2))", "--view", "operation"),
            ("render", "complement(3:2, 9223372036854775808)", "--view", "operation"),
            ("render", "{tmp}/s.yaml"),
            ("check-spec", "{tmp}/s.yaml"),
            ("show", f"SM80_{'a' * 60}_X", "--layouts", "{tmp}/atoms"),
            ("show", f"SM80_{'a' * 30}_Y", "--layouts", "{tmp}/atoms"),
        ],
        ids=" ".join,
    )
    def test_no_input_takes_more_than_its_size(self, args: tuple[str, ...], tmp_path: Path) -> None:
        tiled = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (1000000000000000000000000000000,32,16))"
        (tmp_path / "s.yaml").write_text(f"tiled_mma: {tiled}\nfigure: {{tensor: '(64,32):(32,1)', thread: 0}}\n")
        (tmp_path / "atoms").mkdir()
        letters = "ABCDEFGHIJKL"
        where = ", ".join(f"{letter}: a aa aaa aaaa" for letter in letters)
        layouts = (
            "  Shape_MNK: (8,8,4)\n  ThrID: (4,2):(1,16)\n  ALayout: (8,4):(1,8)\n  BLayout: (8,4):(1,8)\n  CLayout: (8,8):(1,8)\n"
        )
        name = "".join(f"{{{letter}}}" for letter in letters)
        text = f"library: mma\narch: sm80\nSM80_{name}_X:\n  where: {{{where}}}\n{layouts}"
        (tmp_path / "atoms" / "a.yaml").write_text(text)
        result = self.run(300, *(arg.format(tmp=tmp_path) for arg in args))
        assert result.returncode in (0, 1)
        assert b"Traceback" not in result.stderr
        assert b"out of memory" not in result.stderr


def test_folders_and_links_with_the_name_of_a_temporary_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / ".cute-viz-4000000-abcdefgh").mkdir(parents=True)
    (out / ".cute-viz-4000001-abcdefgh").symlink_to("nowhere")
    (out / ".cute-viz-4000002-abcdefgh").write_text("half")
    (tmp_path / "s.yaml").write_text("layout: (2,2)")
    assert run("gallery", "s.yaml", "-o", "out", cwd=tmp_path).returncode == 0
    assert sorted(path.name for path in out.iterdir() if path.name != NAME)[:3] == [
        ".cute-viz-4000000-abcdefgh",
        ".cute-viz-4000001-abcdefgh",
        "README.md",
    ]


def test_clocks_that_jump(tmp_path: Path) -> None:
    """What has changed is told by content; a file's time may lie in the future or before the last run."""
    spec, out = tmp_path / "s.yaml", tmp_path / "out"
    for year, text in ((2100, "(4,4)"), (1971, "(4,8)"), (2050, "(8,8)")):
        spec.write_text(f"specs: {{a: {{layout: '{text}', formats: [text]}}}}")
        os.utime(spec, ((year - 1970) * 31_556_952,) * 2)
        assert b"1 drawn" in run("gallery", str(spec), "-o", str(out)).stderr
        os.utime(out / "a.txt", (1, 1))
        assert b"1 unchanged" in run("gallery", str(spec), "-o", str(out)).stderr
        assert (out / "a.txt").read_text().startswith(text)


ENVIRONMENTS = {  # some at once: a process that draws in every format takes two seconds
    "no HOME, no TERM, another time zone, a random hash": {
        **dict.fromkeys(("HOME", "TERM", "LANG")),
        "TZ": "Pacific/Kiritimati",
        "PYTHONHASHSEED": "5",
    },
    "the C locale, a broken cache of matplotlib, a date before all days": {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "MPLCONFIGDIR": "{tmp}",
        "SOURCE_DATE_EPOCH": "-99999999999999999999",
    },
    "letters of ASCII, a terminal of 20 columns, settings of matplotlib, a date that is none": {
        "PYTHONIOENCODING": "ascii",
        "COLUMNS": "20",
        "LINES": "3",
        "TERM": "dumb",
        "MPLBACKEND": "nonsense",
        "MATPLOTLIBRC": "{tmp}/matplotlibrc",
        "SOURCE_DATE_EPOCH": "yesterday",
    },
    "no fonts, no folder for temporary files, a date after all days": {
        "FONTCONFIG_FILE": "/dev/null",
        "FONTCONFIG_PATH": "/nowhere",
        "XDG_DATA_DIRS": "/nowhere",
        "HOME": "/nowhere",
        "TMPDIR": "/nowhere",
        "SOURCE_DATE_EPOCH": "99999999999999999999",
    },
}


ALL = """
import sys
from cute_viz.cli import main
for args in {runs!r}:
    try:
        main(args)
    except SystemExit as stop:
        assert not stop.code, (args, stop.code)
"""


def drawn(folder: Path, environment: dict[str, str], title: str) -> dict[str, bytes]:
    """Every file format and the texts of some commands, from one process in an environment."""
    folder.mkdir()
    args = ["render", "((4,8),2):((2,8),1)", "--tile", "8x8", "--title", title]
    runs = [[*args, "-o", str(folder / f"x.{suffix}")] for suffix in ("svg", "png", "pdf", "html", "tex", "json", "txt")]
    runs += [["--help"], ["render", "--help"], ["list", "ops"], ["render", "(2,2)"], ["show", "(4,8)"]]
    root = str(Path(__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", ALL.format(runs=runs)], env={**environment, "PYTHONPATH": root}, capture_output=True, timeout=60
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    assert len(done.stdout) > 2000
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@lru_cache
def usually(title: str) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return drawn(Path(folder) / "usual", dict(os.environ), title)


@pytest.mark.slow
@pytest.mark.parametrize("where", ENVIRONMENTS)
def test_an_odd_environment_changes_no_byte(where: str, tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("figure.facecolor: red\nsavefig.dpi: 12\nfont.family: Nothing\n")
    (tmp_path / "fontlist-v390.json").write_text("{broken")
    environment = dict(os.environ)
    for key, value in ENVIRONMENTS[where].items():
        environment.pop(key, None)
        if value is not None:
            environment[key] = value.format(tmp=tmp_path)
    title = "a x b" if "C locale" in where else "a × b"  # which has no other letters
    assert drawn(tmp_path / "odd", environment, title) == usually(title)
    done = subprocess.run(python("render", "nobody("), env=environment, capture_output=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: ")


def test_a_pipe_among_the_files_of_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.yaml")
    (tmp_path / "y.yaml").write_text("layout: (4,8)")
    assert run("show", "SM61_DP2A", "--layouts", str(tmp_path)).returncode == 0
    assert b"1 drawn" in run("gallery", str(tmp_path), "-o", str(tmp_path / "out")).stderr


def test_a_working_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = " ".join(map("'{}'".format, python()))
    root = Path(__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": str(root)}
    for words, status in (("render '(2,2)'", 0), (f"render '(2,2)' -o {tmp_path}/x.svg", 0), ("render '(2,2)' -o x.svg", 1)):
        gone.mkdir(exist_ok=True)
        done = subprocess.run(
            ["bash", "-c", f"cd {gone} && rmdir {gone} && {command} {words}"], env=environment, capture_output=True, timeout=60
        )
        assert done.returncode == status, done.stderr
        assert b"Traceback" not in done.stderr
        if status:
            assert b"error: x.svg: " in done.stderr
