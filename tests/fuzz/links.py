"""Share links whose content wants to run: the page of `serve` shows what they hold, and runs none of it."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Iterator

from cute_viz.engine.address import page_link
from cute_viz.live.page import fragment
from cute_viz.live.pool import Pool
from cute_viz.live.server import Server
from cute_viz.options import OPTIONS
from tests.browser import chromium, until

RUN = "window.hit=1"
PIECES = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<img src=x onerror='{RUN}'>",
    f'"><svg onload="{RUN}">',
    "<iframe srcdoc='<script>parent.hit=1</script>'>",
    f"javascript:{RUN}",
    f"<a href='javascript:{RUN}'>x</a>",
    f"${{{RUN}}}",
    "]]><script>window.hit=1</script>",
    f"<math><mtext><style><img src=x onerror={RUN}></style>",
    f"<details open ontoggle={RUN}>",
    "<base href='//evil.example/'>",
    "<meta http-equiv=refresh content='0;url=//evil.example/'>",
    "&lt;script&gt;window.hit=1&lt;/script&gt;",
    "\u2028window.hit=1//",
    "<!--<script>",
    "__proto__",
    "(4,8):(8,1)",
)
SOURCES = (
    "{}",
    "a = {}; a",
    "(4,8):(8,1) // {}",
    "make_layout(make_shape({},8))",
    "(4,8",
    "(4,8):(8,1)",
    '__shared__ float {}[4]; "{}"',
)


def link(number: int) -> dict[str, object]:
    """The state that a link holds."""
    chance = random.Random(number)

    def piece() -> str:
        return "".join(chance.choice(PIECES) for _ in range(chance.choice((1, 1, 2))))

    state: dict[str, object] = {
        "source": chance.choice(SOURCES).replace("{}", piece()),
        "tab": chance.choice(("", piece(), "banks", "steps")),
    }
    state["options"] = {chance.choice([*OPTIONS, piece()]): piece() for _ in range(chance.randrange(4))} | (
        {"title": piece()} if chance.randrange(2) else {}
    )
    state |= {key: piece() for key in ("let", "name", "by", "file", "view", "kind", piece()) if chance.randrange(3) == 0}
    if chance.randrange(4) == 0:
        state["let"] = f"{chance.choice(('M', piece()))}={piece()}"
    return state


def fuzz(count: int, seed: int) -> Iterator[tuple[int, object, str]]:
    """Open links; what runs, opens a window, leaves the page or stops it is a finding."""
    server = Server(pool=Pool(1))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with chromium() as driver:
            driver.get(server.address)
            address = server.address
            for number in range(seed, seed + count):
                state = link(number)
                packed = fragment(state) if number % 2 else "#" + (page_link("", str(state["source"]), {}) or "#").lstrip("#")
                driver.get("about:blank")
                driver.get(address + packed)
                ready = (
                    "return document.querySelector('#error, .error, #picture svg') !== null && document.readyState === 'complete'"
                )
                try:
                    until(lambda ready=ready: driver.execute_script(ready))
                    driver.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
                except Exception as error:
                    yield number, state, f"the page stops: {type(error).__name__}"
                    continue
                shown = driver.find_element("tag name", "body").text
                if bad := re.search("mistake in cute-viz[^\n]*|process that answers[^\n]*", shown):
                    yield number, state, bad[0]
                if driver.execute_script("return window.hit"):
                    yield number, state, "it runs"
                if not driver.current_url.startswith(address.partition("?")[0]) or len(driver.window_handles) > 1:
                    yield number, state, f"it leads to {driver.current_url}"
    finally:
        server.shutdown()
        server.close()
