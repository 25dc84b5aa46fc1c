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


def until(found: Callable[[], Any], seconds: float = 20.0) -> Any:
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
