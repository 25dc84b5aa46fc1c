"""`python -m tests.benchmarks.live`: the live page, from a key to its picture, and a minute of 200 questions a second.

On a busy machine `chrt -r 1 python -m tests.benchmarks.live` measures with nobody before it.
"""

from __future__ import annotations

import http.client
import json
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

ATOMS = ("SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x16_F32BF16BF16F32_TN")
ROWS: tuple[tuple[str, tuple[str, ...], dict[str, str], int], ...] = (  # what, sources by turns, options, the aim in ms
    ("grid of 1,024 cells", ("(32,32):(32,1)", "(32,32):(33,1)"), {}, 16),
    ("grid, other extents", ("(32,32):(32,1)", "(32,31):(32,1)"), {}, 16),
    ("TV map of 1,024 cells", ("((16,8),8):((64,1),8)", "((8,16),8):((64,1),8)"), {"tile": "8x128"}, 16),
    ("MMA atom", ATOMS, {}, 50),
    ("TiledMMA of 2 x 2 warps", tuple(f"make_tiled_mma({atom}{{}}, (2,2,1), (32,32,16))" for atom in ATOMS), {}, 50),
    ("an error with its span", ("(4,8", "(4,9"), {}, 5),
)
TYPED = """
const [source, done] = arguments, area = document.getElementById("source"), picture = document.getElementById("picture");
const since = performance.now();
const seen = new MutationObserver(() => { seen.disconnect(); const drawn = performance.now() - since;
    requestAnimationFrame(() => { const c = new MessageChannel();
    c.port1.onmessage = () => done([drawn, performance.now() - since]); c.port2.postMessage(0); }); });
seen.observe(picture, { attributes: true, attributeFilter: ["aria-label"] }); // which every picture sets
area.value = source;
area.dispatchEvent(new Event("input"));
"""


def ask(connection: http.client.HTTPConnection, query: str, question: dict[str, Any]) -> dict[str, Any]:
    connection.request("POST", f"/ask?{query}", json.dumps(question), {"Content-Type": "application/json"})
    out: dict[str, Any] = json.loads(connection.getresponse().read())
    return out


def answers(port: int, query: str) -> None:
    """The time of a question over HTTP."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for what, sources, options, aim in ROWS:
        times = []
        for n in range(40):
            since = time.perf_counter()
            ask(connection, query, {"source": sources[n % 2], "options": options})
            times.append(1e3 * (time.perf_counter() - since))
        click.echo(f"{what + ', question to answer':<52} {statistics.median(times):>6.1f} ms {min(times):>6.1f} best {aim:>6}")


def keys(address: str) -> None:
    """The time from a key to the picture in the page, and to the frame that shows it, in headless Chromium."""
    from cute_viz.live.page import fragment
    from tests.browser import chromium, until

    with chromium() as driver:
        for what, sources, options, aim in ROWS[:-1]:
            driver.get("about:blank")
            driver.get(address + fragment({"source": sources[0], "options": options}))
            until(lambda: driver.execute_script("return document.body.dataset.drawn"))
            times = [driver.execute_async_script(TYPED, sources[n % 2]) for n in range(1, 26)]
            drawn, shown = (statistics.median(row[n] for row in times) for n in (0, 1))
            best = min(row[0] for row in times)
            words = what + ", key to picture (to its frame)"
            click.echo(f"{words:<52} {drawn:>6.1f} ms {best:>6.1f} best {aim:>6} ({shown:.1f} ms)")


def load(port: int, query: str, process: int, seconds: float) -> None:
    """200 questions a second from eight pages: what is lost, and how the processes grow."""
    lost, done = [], []

    def page(n: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        since = time.monotonic()
        for k in range(1, int(25 * seconds) + 1):
            out = ask(connection, query, {"source": f"({k % 30 + 1},{n + 2})", "page": str(n), "number": k})
            (done if out.get("facts", {}).get("size") == (k % 30 + 1) * (n + 2) else lost).append(k)
            time.sleep(max(0.0, since + k / 25 - time.monotonic()))

    before, since = resident(process), time.monotonic()
    threads = [threading.Thread(target=page, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - since
    words = f"{len(done)} questions in {took:.0f} s, {len(lost)} lost; {before} MB before, {resident(process)} MB after"
    click.echo(f"200 questions a second: {words}")


def resident(process: int) -> int:
    """The MB of a process and its children."""
    children = subprocess.run(["ps", "--ppid", str(process), "-o", "pid="], capture_output=True, text=True).stdout.split()
    total = 0
    for pid in (process, *children):
        status = Path(f"/proc/{pid}/status")
        if status.exists() and (match := re.search(r"VmRSS:\s+(\d+)", status.read_text())):
            total += int(match[1])
    return total // 1024


@click.command()
@click.option("--seconds", default=60.0, show_default=True, help="Of the load.")
def main(seconds: float) -> None:
    """Print the figures."""
    command = [sys.executable, "-m", "cute_viz", "serve", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        address = running.stderr.readline().strip()
        place = urlsplit(address)
        port, query = place.port or 0, place.query
        try:
            answers(port, query)
            keys(address)
            load(port, query, running.pid, seconds)
        finally:
            running.terminate()


if __name__ == "__main__":
    main()
