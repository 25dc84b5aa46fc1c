"""The static site: what it is made of, and in Chromium, under a path, with every other host unreachable, then without any."""

from __future__ import annotations

import json
import os
import re
import threading
import time
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest

import cute_viz
from cute_viz.cli import main
from cute_viz.live import playground
from tests.browser import chromium, complaints, until

DSL = Path(cute_viz.__file__).parent / "source/python/dsl"
PYODIDE = os.environ.get("CUTE_VIZ_PYODIDE", "")


def test_the_site_is_whole_and_always_the_same():
    site = playground.site()
    again = playground.site(first={"source": "(M,8)", "let": "M=4"})
    assert {path for path in site if site[path] != again[path]} == {"index.html", "service.js"}
    assert b'"first":{"source":"(M,8)","let":"M=4"}' in again["index.html"]
    with zipfile.ZipFile(BytesIO(site["engine/cute_viz.zip"])) as archive:
        tables = ("options/options.txt", "spec/fields.txt", "values/types.txt", "check/promises.txt", "source/cpp/cutlass.hpp")
        tables += ("renderers/assets/macros.tex", *(f"source/python/dsl/{path.name}" for path in DSL.iterdir()))
        assert {f"cute_viz/{name}" for name in tables} <= set(archive.namelist())
        names = archive.namelist()
    assert {"cute_viz/live/questions.py", "cute_viz/live/tools.json", "cute_viz/layouts/specs/ampere_gemm.yaml"} <= set(names)
    assert not [name for name in names if name.startswith("cute_viz/cli/") or "__pycache__" in name]
    page = site["index.html"].decode()
    assert page.count("<svg") == 1
    settings = json.loads(re.search(r'id="settings">(.*?)</script>', page)[1])  # type: ignore[index]
    assert settings["pyodide"] == f"https://cdn.jsdelivr.net/npm/pyodide@{playground.VERSION}/"
    assert f"script-src &#x27;self&#x27; &#x27;wasm-unsafe-eval&#x27; {settings['pyodide']}" in page
    drawn = json.loads(site[settings["drawn"]])  # before Python is there: what the first page and the form of an operation lead to
    assert all(one["svg"].startswith("<svg") and one["panels"] for one in drawn.values())
    first = [one for one in settings["presets"] if one["group"] == "First"]
    asked = [(settings["first"]["source"], {}), ("logical_divide((8,6), (4,3))", {})]
    asked += [(one["source"], one.get("options", {})) for one in first]
    assert {json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in asked} <= set(drawn)
    for path in re.findall(r'(?:href|src)="([^"]+)"', page):
        assert path in site or path.startswith(("data:", "#"))


def test_a_folder_that_is_no_pyodide(tmp_path: Path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["playground", "-o", str(tmp_path / "site"), "--pyodide", str(tmp_path)])
    assert stop.value.code == 1
    assert "there is no pyodide.mjs" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.browser
def test_in_a_browser_without_any_other_host(tmp_path: Path):
    if not os.path.isfile(os.path.join(PYODIDE, "pyodide.mjs")):
        pytest.skip("CUTE_VIZ_PYODIDE names no unpacked npm package of Pyodide")
    with pytest.raises(SystemExit):
        main(["playground", "-o", str(tmp_path / "a" / "b"), "--pyodide", PYODIDE])
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/a/b/"
    with chromium("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", requests=True) as driver:

        def text(selector: str) -> str:
            return driver.execute_script("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

        def type_(words: str) -> None:
            from selenium.webdriver.common.keys import Keys

            source = driver.find_element("id", "source")
            source.click()
            source.send_keys(Keys.CONTROL, "a")
            source.send_keys(Keys.DELETE, words)

        def drawn(words: str, seconds: float = 20) -> None:
            until(lambda: driver.execute_script("return document.body.dataset.drawn") == words, seconds)

        driver.get(address)
        assert "pairs of B and of C" in text("#picture svg title")  # it stands there while the engine is loaded
        choose = "const e = document.querySelector('#operation'); e.value = arguments[0]; e.dispatchEvent(new Event('change'))"
        driver.execute_script(choose, "logical_divide")
        drawn("logical_divide((8,6), (4,3))", 2)  # without Python
        type_("(4,8):(8,1)")
        drawn("(4,8):(8,1)", 60)
        assert "(4,8):(8,1)" in text("#picture svg")
        type_("compositon((4,8), 2)")
        until(lambda: "did you mean composition" in text("#error"))
        driver.find_element("css selector", "#error button").click()
        drawn("composition((4,8), 2)")
        type_("Sw<2,3,3> o 0 o (8,64):(64,1)")
        drawn("Sw<2,3,3> o 0 o (8,64):(64,1)")
        until(lambda: driver.execute_script("return location.hash.length") > 20)
        log = [json.loads(line["message"])["message"] for line in driver.get_log("performance")]
        asked = [line["params"]["request"]["url"] for line in log if line["method"] == "Network.requestWillBeSent"]
        assert len(asked) > 10
        assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
        until(lambda: driver.execute_async_script("navigator.serviceWorker.ready.then(() => arguments[0](true))"))
        assert complaints(driver) == []
        server.shutdown()
        server.server_close()
        type_("(3,5)")
        drawn("(3,5)")
        time.sleep(1)  # the address is written once typing pauses
        driver.refresh()
        drawn("(3,5)", 60)
        assert "(3,5)" in text("#picture svg")
