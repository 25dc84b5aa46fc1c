"""A headless Chromium for the tests that click, and why there is none."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def chromium(*words: str, requests: bool = False) -> Iterator[Any]:
    """A driver; the test is skipped, with the reason, where there is no browser. requests: it logs them, and is slower."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    browser, helper = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not browser or not helper:
        pytest.skip("no chromium with chromedriver")
    options = selenium.ChromeOptions()
    options.binary_location = browser
    usual = ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1600", "--disable-dev-shm-usage")
    for word in (*usual, *words):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", **({"performance": "ALL"} if requests else {})})
    found = selenium.Chrome(options=options, service=selenium.ChromeService(helper))
    try:
        yield found
    finally:
        found.quit()


def until(found: Callable[[], Any], seconds: float = 60.0) -> Any:
    """What a call gives once it is true; what it last gave is told."""
    end = time.monotonic() + seconds
    while True:
        value = found()
        if value:
            return value
        assert time.monotonic() < end, f"still {value!r} after {seconds} seconds"
        time.sleep(0.02)


def complaints(driver: Any) -> list[str]:
    """What the browser's console holds of errors: scripts that failed, a policy that was broken."""
    return [line["message"] for line in driver.get_log("browser") if line["level"] == "SEVERE"]


_ILL_SEEN = """
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => v * a + below[i] * (1 - a));
const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const paper = (e) => { const all = []; for (; e; e = e.parentElement) all.unshift(rgba(getComputedStyle(e).backgroundColor));
  return all.reduce((below, one) => over(one, below), [255, 255, 255]); };
const out = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const e = walk.currentNode.parentElement, words = walk.currentNode.data.trim();
  if (!words || e.closest("svg, script, style, .unseen, [disabled], option")) continue;
  if (!e.checkVisibility({ visibilityProperty: true })) continue;
  const style = getComputedStyle(e), below = paper(e), ink = over(rgba(style.color), below);
  const [a, b] = [light(ink), light(below)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.5)) out.push(`${words.slice(0, 40)}: ${ratio.toFixed(2)}`);
}
const named = (e) => e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim();
for (const e of document.querySelectorAll("input, select, textarea, button, summary, [role=tab], [role=separator]"))
  if (e.checkVisibility() && !named(e)) out.push(e.outerHTML);
return out;
"""


def ill_seen(driver: Any) -> list[str]:
    """Texts of the page with less contrast than WCAG 2 asks of them (AA, 1.4.3), and controls without a name."""
    return driver.execute_script(_ILL_SEEN)
