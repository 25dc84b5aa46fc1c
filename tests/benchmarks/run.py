"""`python -m tests.benchmarks.run`: cold starts, big grids and tables, each as a ratio inside one run.

Every row times two commands turn by turn and compares their medians, so that a busy machine slows both. Peak memory
is that of the child process. Nothing here is a test; the limits are the project's aims.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

HERE = Path(__file__).parent
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what a user has: an installed package comes with its bytecode
TV = ["render", "((16,8),8):((64,1),8)", "--tile", "8x128"]
CLI = [sys.executable, "-m", "cute_viz"]
GEMM = [*CLI, "render", "ampere_gemm"]
OUT = os.devnull
MMA = "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (128,128,32))"  # 24,576 cells
ATOM = "SM80_16x8x16_F32BF16BF16F32_TN"
TABLE = "Layout(((16,64),(32,32)),((1,512),(16,32768)))"
ANALYSIS = "sum(a.wavefronts for a in accesses(smem, 16, copy))"
ANALYSIS_SETUP = (
    "from cute_viz import parse; from cute_viz.analysis.access import accesses; "
    "smem = parse('tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,64))'); "
    "copy = parse('make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>,half_t>{}, (16,8):(8,1), (1,8))')"
)
SETUP = "from cute_viz.algebra.layout import Layout; from cute_viz.algebra.table import offsets, offsets_numpy"
NUMPY = (
    "a=np.arange; r=((a(16)[None,:]*1+a(64)[:,None]*512).reshape(-1)); "
    "c=((a(32)[None,:]*16+a(32)[:,None]*32768).reshape(-1)); (c[:,None]+r[None,:]).reshape(-1)"
)


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(ours: list[str], floor: list[str], runs: int) -> tuple[float, float]:
    seconds(ours), seconds(floor)  # warm the page cache and the bytecode
    pairs = [(seconds(ours), seconds(floor)) for _ in range(runs)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def peak_mb(command: list[str]) -> float:
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, OUT, os.O_WRONLY, 0)])
    _, _, usage = os.wait4(pid, 0)
    assert isinstance(usage, resource.struct_rusage)
    return usage.ru_maxrss / 1024


def first_call(statement: str, setup: str) -> float:
    """The seconds of one evaluation in a fresh process, after its imports: the median of seven."""
    program = f"import timeit; print(timeit.timeit({statement!r}, {setup!r}, number=1))"
    command = [sys.executable, "-c", program]
    times = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(7)]
    return statistics.median(map(float, times))


TILES = {
    "composition": ("composition(A, B)", "compose(A, B)", "((16,8),(8,4)):((64,1),(8,512))", "(8,(4,4)):(16,(1,128))"),
    "logical_divide": ("logical_divide(A, B)", "logical_divide(A, B)", "((8,16),(4,32)):((1,32),(8,512))", "32:1"),
    "complement": ("complement(B, 4096)", "complement(B, 4096)", "8:1", "((4,8),(2,2)):((32,1),(16,8))"),
}


def algebra() -> None:
    """Operations a second on typical tiles, beside tensor-layouts where it is installed."""
    try:
        import tensor_layouts
    except ImportError:
        click.echo("tensor-layouts is not installed: pip install -e '.[oracle]' compares the algebra with it")
        return
    import timeit as clock

    from cute_viz import parse
    from cute_viz.algebra import compose, divide, inverse

    ours = {**vars(compose), **vars(divide), **vars(inverse)}
    for name, (mine, theirs, a, b) in TILES.items():
        operands = {"A": parse(a), "B": parse(b)}
        others = {key: tensor_layouts.Layout(x.shape, x.stride) for key, x in operands.items()}
        x = min(clock.repeat(mine, globals=ours | operands, number=2000, repeat=5)) / 2000
        y = min(clock.repeat(theirs, globals=vars(tensor_layouts) | others, number=2000, repeat=5)) / 2000
        click.echo(f"{name + ', operations a second / tensor-layouts':<52} {1 / x:>7.0f}/s {1 / y:>7.0f}/s {y / x:>6.2f} {3.0:>5}")


def theirs(command: list[str]) -> str:
    """The seconds of another package's command, where it is installed."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True)
    return f"{time.perf_counter() - start:.1f} s" if done.returncode == 0 else "not installed"


def typeset(command: list[str]) -> str:
    """The seconds that pdflatex takes for the TikZ that a command writes, where it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        picture = subprocess.run(command, check=True, capture_output=True).stdout
        (Path(folder) / "picture.tex").write_bytes(picture)
        start = time.perf_counter()
        try:
            done = subprocess.run(
                ["pdflatex", "-interaction=batchmode", "picture.tex"], cwd=folder, capture_output=True, timeout=120
            )
        except FileNotFoundError:
            return "pdflatex is not installed"
        except subprocess.TimeoutExpired:
            return "more than 120 s"
        return f"{time.perf_counter() - start:.1f} s" if done.returncode == 0 else "failed"


@click.command()
@click.option("--runs", default=15, show_default=True, help="Runs of each command.")
def main(runs: int) -> None:
    """Print the table of ratios."""
    python = [sys.executable, "-c"]
    grid = [*CLI, "render", "(256,256):(256,1)"]
    svg = [*grid, "--labels", "full", "-T", "svg"]
    tiled = [*CLI, "render", MMA, "--labels", "full", "-T", "svg"]
    heat = [*CLI, "render", "(4096,4096):(4096,1)", "-T", "png"]
    png = [sys.executable, str(HERE / "plain_png.py")]
    peers = [sys.executable, str(HERE / "peers.py")]
    plain = [sys.executable, str(HERE / "plain_writer.py")]
    rows = [
        ("cold TV map 8x128 to SVG / import click, svgwrite", [*CLI, *TV, "-T", "svg"], [*python, "import click, svgwrite"], 1.2),
        ("cold eval of a layout / import click", [*CLI, "eval", "(4,8):(8,1)"], [*python, "import click"], 1.6),
        ("cold TV map 8x128 to text / import click", [*CLI, *TV, "-T", "text"], [*python, "import click"], 2.5),
        ("cold MMA atom to text / cold 8x8 layout to text", [*CLI, "render", ATOM], [*CLI, "render", "(8,8):(8,1)"], 1.5),
        ("TiledMMA 128x128x32, labelled, SVG / plain string join", tiled, [*plain, "157", "2"], 5.0),
        ("TiledMMA 128x128x32, as it comes, SVG / the same", [*CLI, "render", MMA, "-T", "svg"], [*plain, "157", "2"], 5.0),
        ("256x256 grid, labelled, SVG / plain string join", svg, plain, 5.0),
        ("256x256 grid, as it comes, SVG / the same", [*grid, "-T", "svg"], plain, 5.0),
        ("256x256 grid, as it comes, PNG / a PolyCollection", [*grid, "-T", "png"], png, 3.0),
        ("4096x4096 layout, PNG / 256x256 PolyCollection", heat, png, 3.0),
        (
            "128x128 grid, labelled, SVG / svgwrite, element a cell",
            [*CLI, "render", "(128,128):(128,1)", "--labels", "full", "-T", "svg"],
            [*peers, "svgwrite", "128"],
            1.0,
        ),
        ("GEMM page, TikZ / the same, SVG", [*GEMM, "-T", "tikz"], [*GEMM, "-T", "svg"], 1.5),
        ("TiledMMA 128x128x32, TikZ / the same, SVG", [*CLI, "render", MMA, "-T", "tikz"], [*CLI, "render", MMA, "-T", "svg"], 1.5),
    ]
    click.echo(f"{'what':<52} {'ours':>9} {'floor':>9} {'ratio':>6} {'aim':>5}")
    for name, ours, floor, aim in rows:
        a, b = compare(ours, floor, runs)
        click.echo(f"{name:<52} {a * 1e3:>6.1f} ms {b * 1e3:>6.1f} ms {a / b:>6.2f} {aim:>5}")
    floor_s = first_call(NUMPY, "import numpy as np")
    for name, call, setup, aim in (
        ("1024x1024 table, pure Python / bare numpy", f"offsets({TABLE})", SETUP, 20.0),
        ("1024x1024 table, numpy loaded / bare numpy", f"offsets_numpy({TABLE}, np)", SETUP + "; import numpy as np", 5.0),
    ):
        a = first_call(call, setup)
        click.echo(f"{name:<52} {a * 1e3:>6.1f} ms {floor_s * 1e3:>6.1f} ms {a / floor_s:>6.2f} {aim:>5}")
    ms = first_call(ANALYSIS, ANALYSIS_SETUP) * 1e3
    click.echo(f"{'128x64 tile read by a 128-thread TiledCopy, analysed':<52} {ms:>6.1f} ms {'':>9} {'':>6} {'50 ms':>5}")
    algebra()
    drawn = {"256x256 SVG": svg, "256x256 PNG": [*grid, "-T", "png"], "TiledMMA SVG": tiled, "4096x4096 PNG": heat}
    click.echo("peak memory: " + ", ".join(f"{name} {peak_mb(command):.0f} MB" for name, command in drawn.items()) + " (aim 200)")
    sizes = [len(subprocess.run(command, check=True, capture_output=True).stdout) for command in (svg, [*plain, "256", "1", "-"])]
    click.echo(f"256x256 SVG: {sizes[0] / 1e6:.2f} MB, plain string join {sizes[1] / 1e6:.2f} MB")
    pages = {"GEMM page": GEMM, "TiledMMA 128x128x32": [*CLI, "render", MMA], "thread's way": [*GEMM, "--follow", "13"]}
    click.echo("pdflatex: " + ", ".join(f"{name} {typeset([*how, '-T', 'tikz'])}" for name, how in pages.items()) + " (aim 2 s)")
    click.echo("64x64 grid to SVG by tensor-layouts: " + theirs([*peers, "tensor-layouts", "64"]))


if __name__ == "__main__":
    main()
