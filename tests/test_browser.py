"""The HTML page in a real browser: hovering, clicking, searching and keys do what they say."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest

from cute_viz import figure, render
from tests.browser import chromium, complaints, until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def driver():
    with chromium() as found:
        yield found


@pytest.fixture
def page(driver, tmp_path: Path):
    def open_(source: str, **options):
        path = tmp_path / "page.html"
        path.write_bytes(render(figure(source, **options), "html"))
        driver.get(path.as_uri())
        return driver

    yield open_
    assert complaints(driver) == []


WHERE = """
const p = JSON.parse(document.getElementById("data").textContent).panels[arguments[0]];
const svg = document.querySelector("#picture svg");
const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
const y = scale * (p.y + (arguments[1] + 0.5) * p.h), x = scale * (p.x + (arguments[2] + 0.5) * p.w);
const picture = document.getElementById("picture");
picture.scrollTop = y - 200;
picture.scrollLeft = x - 400;
const box = svg.getBoundingClientRect();
return [box.left + x, box.top + y];
"""


def act(driver, panel: int, row: int, col: int, click: bool = False) -> str:
    """Move the pointer to the middle of a cell, perhaps click; what the page says of it."""
    from selenium.webdriver.common.actions.action_builder import ActionBuilder

    x, y = driver.execute_script(WHERE, panel, row, col)
    pointer = ActionBuilder(driver)
    pointer.pointer_action.move_to_location(round(x), round(y))
    if click:
        pointer.pointer_action.click()
    pointer.perform()
    return driver.find_element("id", "cell").text


def found(driver) -> str:
    return driver.find_element("id", "found").text


def dimmed(driver) -> int:
    return int(driver.find_element("css selector", "#picture .dim").get_attribute("data-cells") or 0)


def test_hover_tells_owner_and_place(page):
    driver = page("SM80_16x8x16_F32F16F16F32_TN")
    assert act(driver, 0, 0, 2).startswith("C: 16 × 8 of f32, accumulator · M 0, N 2 · thread 1 value 0 (warp 0, lane 1)")


def test_labels_come_from_the_data(page):
    driver = page("(32,32):(1@0,1@1)")
    assert "0,3" in act(driver, 0, 0, 3)
    driver.find_element("css selector", "summary").click()
    cells = driver.find_elements("css selector", "table td")
    assert "(0,3)" in [cell.text for cell in cells[:40]]


def test_a_click_highlights_the_thread_in_every_panel(page):
    driver = page("SM80_16x8x16_F32F16F16F32_TN")
    act(driver, 0, 1, 2, click=True)  # thread 5 holds 4 of C, 8 of A, 4 of B
    assert found(driver) == "thread 5: 16 cells"
    assert dimmed(driver) == 128 + 256 + 128 - 16
    choose(driver, "value")
    act(driver, 0, 1, 2, click=True)
    assert found(driver) == "value 0: 96 cells"
    driver.find_element("css selector", "button[type=reset]").click()
    assert (found(driver), dimmed(driver)) == ("", 0)


def test_a_thread_lights_what_it_fills_of_shared_memory(page):
    driver = page("ampere_gemm")
    driver.find_element("id", "find").send_keys("T13")
    assert found(driver) == "T13: 56 cells"  # 8 of each operand's four panels and of C, and 8 in shared memory
    # 8 threads copy a row of 64, 8 values each; rows r and r + 8 of the copy's 16 stand in one cell of the atom of 8
    words = act(driver, 1, 1, 40)
    assert "filled by T13 V0, T77 V0" in words or "filled by threads 13, 77 value 0" in words


def test_search_and_keys(page):
    from selenium.webdriver.common.keys import Keys

    driver = page("((16,8),8):((64,1),8)", tile=(8, 128))
    driver.find_element("tag name", "body").send_keys("/")
    box = driver.switch_to.active_element
    assert box.get_attribute("id") == "find"
    box.send_keys("T127 V7")
    assert found(driver) == "T127 V7: 1 cell"
    picture = driver.find_element("id", "picture")
    picture.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert "M 1, N 1" in driver.find_element("id", "cell").text
    choose(driver, "warp")
    picture.send_keys(Keys.ENTER)
    assert found(driver) == "warp 0: 256 cells"
    picture.send_keys(Keys.ESCAPE)
    assert found(driver) == ""


def test_offsets_are_found_and_told(page):
    driver = page("(4,8):(8,1)")
    assert act(driver, 0, 2, 3).endswith("mode 0 2, mode 1 3 · offset 19")
    driver.find_element("id", "find").send_keys("19")
    assert found(driver) == "19: 1 cell"


def linked(driver) -> int:
    """How many cells are lit because they belong to the one under the pointer, itself included."""
    return int(driver.find_element("css selector", "#picture .linked").get_attribute("data-cells"))


def choose(driver, by: str) -> None:
    driver.find_element("name", "by").send_keys(by)


def shown(driver) -> list[str]:
    """The relations that the page offers."""
    return driver.execute_script(
        "return [...document.querySelectorAll('[name=by] option')].filter(r => !r.hidden).map(r => r.value)"
    )


def test_hovering_lights_what_belongs_to_a_cell_in_every_panel(page):
    driver = page("SM80_16x8x16_F32F16F16F32_TN")
    act(driver, 1, 1, 2)  # A(1,2) is of thread 5, which holds 4 of C, 8 of A, 4 of B
    assert linked(driver) == 16
    choose(driver, "coordinate")
    act(driver, 1, 1, 3)  # row 1 of C, the cell of A, row 3 of B
    assert linked(driver) == 8 + 1 + 8
    act(driver, 0, 1, 3)  # of the result: itself, row 1 of A, column 3 of B
    assert linked(driver) == 1 + 16 + 16


def test_one_mapping_in_two_views_is_linked(page):
    driver = page("((4,8),(2,2)):((32,1),(16,8))", tile="16x8", view="both")
    choose(driver, "coordinate")
    assert "thread 5 value 1" in act(driver, 0, 1, 3)
    assert linked(driver) == 2  # the cell of the tile, and the one of the table


def test_banks_are_found_and_linked(page):
    driver = page("Sw<3,3,3> o 0 o (8,64):(64,1)", view="banks", type="f16")
    assert shown(driver) == ["bank", "byte", "coordinate", "label"]
    driver.find_element("id", "find").send_keys("bank 3")
    assert found(driver) == "bank 3: 32 cells"  # two elements of 8 rows, before and after
    driver.find_element("css selector", "button[type=reset]").click()
    act(driver, 0, 1, 6)
    assert linked(driver) == 32


def test_a_slider_runs_over_the_threads(page):
    driver = page("SM80_16x8x16_F32F16F16F32_TN")
    slider = driver.find_element("id", "along")
    driver.execute_script("arguments[0].value = 5; arguments[0].dispatchEvent(new Event('input'))", slider)
    assert (found(driver), slider.get_attribute("max")) == ("thread 5: 16 cells", "31")


def test_every_owner_of_a_cell_is_told(page):
    driver = page("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))")
    assert "threads 0, 64 value 0" in act(driver, 1, 0, 0)
    driver = page("((4,8),1):((0,1),0)", tile="8x1")
    assert "threads 0..3 value 0" in act(driver, 0, 0, 0)


def test_there_are_no_controls_for_what_there_is_not(page):
    driver = page("(4,8):(8,1)")
    assert shown(driver) == ["offset", "label"]
    assert not driver.find_element("id", "along").is_displayed()


def test_it_fits_zooms_and_keeps_what_matters_in_sight(page):
    from selenium.webdriver.common.keys import Keys

    driver = page("make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, (2,2,1), (32,32,16))")
    width = "return document.querySelector('#picture svg').getBoundingClientRect().width"
    assert driver.execute_script("return document.documentElement.scrollHeight <= innerHeight + 1")
    fitted = driver.execute_script(width)
    assert fitted <= driver.execute_script("return document.getElementById('picture').clientWidth")
    driver.find_element("id", "picture").send_keys("+", "+", "+")
    assert driver.execute_script(width) == pytest.approx(fitted * 1.25**3, rel=0.03)
    driver.find_element("id", "picture").send_keys(Keys.ARROW_DOWN, *[Keys.PAGE_DOWN] * 2, Keys.END)
    inside = """const at = document.querySelector('#picture .here').getBoundingClientRect(),
        box = document.getElementById('picture').getBoundingClientRect();
        return at.left >= box.left && at.right <= box.right && at.top >= box.top && at.bottom <= box.bottom"""
    assert driver.execute_script(inside)
    for part in ("controls", "cell"):
        sight = (
            "const b = document.getElementById(arguments[0]).getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight"
        )
        assert driver.execute_script(sight, part)
    driver.find_element("id", "picture").send_keys("0")
    assert driver.execute_script(width) == pytest.approx(fitted, rel=0.03)
    from selenium.webdriver.support.ui import Select

    panel, only = driver.find_element("id", "picture"), Select(driver.find_element("id", "panel"))
    panel.send_keys("z")  # the panel of the cell where one stands fills the window
    assert only.first_selected_option.text.startswith("B")
    assert driver.execute_script(width) > 1.2 * fitted
    assert driver.execute_script(inside)
    panel.send_keys(Keys.ESCAPE)
    assert only.first_selected_option.text == "all panels"
    assert driver.execute_script(width) == pytest.approx(fitted, rel=0.03)
    cells = """const box = document.querySelector('#picture .here').getBoundingClientRect();
        document.querySelector('#picture').dispatchEvent(new MouseEvent('dblclick', { clientX: box.x + 5, clientY: box.y + 5 }))"""
    driver.execute_script("arguments[0].focus()", panel)
    panel.send_keys(Keys.ARROW_LEFT)
    for chosen in ("B", "all panels"):
        driver.execute_script(cells)
        assert only.first_selected_option.text.startswith(chosen)
        panel.send_keys(Keys.ARROW_LEFT)
    driver = page("SM90_64x16x16_F32F16F16_RS")  # which would be smaller than can be read
    whole = "const box = document.getElementById('picture'); return box.scrollHeight <= box.clientHeight + 1"
    assert not driver.execute_script(whole)
    driver.find_element("css selector", "[data-zoom=fit]").click()
    assert driver.execute_script(whole)


def test_tables(page):
    driver = page("(4,8):(8,1)")
    driver.find_element("tag name", "summary").click()
    rows = driver.find_elements("css selector", "tbody tr")
    assert [[cell.text for cell in row.find_elements("tag name", "td")] for row in rows] == [
        [str(8 * r + c) for c in range(8)] for r in range(4)
    ]
    driver = page("(128,64)")
    driver.find_element("tag name", "summary").click()
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(driver, 20).until(lambda d: len(d.find_elements("css selector", "tbody tr")) == 128)


def test_nothing_breaks_out(page):
    driver = page("(2,2)", title="</title></script><script>document.title='broken'</script>")
    assert driver.title.startswith("</title></script>")
    assert driver.execute_script("return document.querySelectorAll('script').length") == 2


def test_colours_of_the_theme(page, driver, tmp_path):
    path = tmp_path / "dark.html"
    path.write_bytes(render(figure("(2,2)"), "html", theme="dark"))
    driver.get(path.as_uri())
    assert driver.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(13, 17, 23)"


def test_the_index_of_a_gallery(driver) -> None:
    """Search, filters and the theme of gallery/index.html."""
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.select import Select

    def shown() -> list[str]:
        return driver.execute_script(
            "return [...document.querySelectorAll('figure')].filter(x => x.offsetParent).map(x => x.dataset.words)"
        )

    driver.get((Path(__file__).parent.parent / "gallery" / "index.html").as_uri())
    everything = shown()
    assert len(everything) > 100
    driver.find_element("id", "words").send_keys("LDSM sm75")
    assert 0 < len(shown()) < 10
    assert all("ldsm" in words and "sm75" in words for words in shown())
    assert driver.find_element("id", "shown").text == f"{len(shown())} figures"
    driver.find_element("id", "words").clear()
    Select(driver.find_element("id", "arch")).select_by_visible_text("sm100")
    found_ = shown()
    Select(driver.find_element("id", "kind")).select_by_visible_text("mma")
    assert 0 < len(shown()) < len(found_) < len(everything)
    assert all("sm100" in words and "mma" in words for words in shown())
    Select(driver.find_element("id", "arch")).select_by_visible_text("all")
    Select(driver.find_element("id", "kind")).select_by_visible_text("all")
    assert shown() == everything
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = driver.execute_script(colour)
    driver.find_element("id", "theme").click()
    assert driver.execute_script(colour) != before
    driver.find_element("id", "theme").click()
    assert driver.execute_script(colour) == before
    driver.execute_script("location.hash = '#slides=deck_'")
    slides = []
    for _ in range(13):  # at the last one it stays
        (words,) = shown()
        slides.append(words.split()[0])
        driver.find_element("tag name", "body").send_keys(Keys.ARROW_RIGHT)
    assert [name[:8] for name in slides] == [f"deck_{n:02}_" for n in [*range(1, 13), 12]]
    (picture,) = driver.execute_script(
        "return [...document.images].filter(x => x.offsetParent).map(x => x.getBoundingClientRect().toJSON())"
    )
    assert picture["width"] > 0.9 * driver.execute_script("return innerWidth")
    driver.find_element("tag name", "body").send_keys(Keys.ESCAPE)
    driver.find_element("id", "words").clear()
    driver.execute_script("filter()")
    assert shown() == everything
    broken = "return [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    assert driver.execute_script(broken) == []


SLIDE = "const s = document.getElementById('series'); s.value = arguments[0]; s.dispatchEvent(new Event('input'));"


def test_a_slider_goes_through_the_threads_of_a_warp(driver, tmp_path: Path):
    path = tmp_path / "day.html"
    path.write_bytes(render("ampere_gemm", "html", follow=37))
    driver.get(path.as_uri())
    assert driver.find_element("id", "which").text == "37"
    assert "Thread 37" in driver.find_element("css selector", "#picture svg").get_attribute("textContent")
    for place, thread in ((0, 32), (13, 45), (31, 63)):
        driver.execute_script(SLIDE, place)
        drawn = figure("ampere_gemm", follow=thread)
        words = driver.find_element("css selector", "#picture svg").get_attribute("textContent")
        assert f"Thread {thread}" in words
        assert driver.find_element("id", "which").text == str(thread)
        assert driver.find_element("id", "picture").get_attribute("aria-label") == drawn.description
        assert driver.title == drawn.title
        tables = driver.execute_script(
            "return [...document.querySelectorAll('#tables table')].map((t) => [...t.tBodies[0].rows].map((r) => "
            "[...r.cells].slice(1).map((c) => c.textContent)).flat())"
        )
        assert tables == [[label.replace("\n", " ") for label in panel.labels] for panel in drawn.panels]
    cells = driver.execute_script(
        "const p = document.querySelector('#picture .here'); document.getElementById('picture').focus(); return p !== null"
    )
    assert cells  # the picture that came can be asked, too
    driver.find_element("id", "find").send_keys("T45")  # the slider goes to it
    assert driver.find_element("id", "which").text == "45"
    own = sum(map(bool, [label for panel in figure("ampere_gemm", follow=45).panels for label in panel.labels]))
    assert found(driver).startswith(f"T45: {own} cells"), found(driver)
    assert complaints(driver) == []


STRICT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # no script, no page from elsewhere


@pytest.mark.parametrize("kind", ["a policy", "a sandbox", "frames removed"])
def test_a_notebook_that_runs_no_script_shows_the_picture(driver, tmp_path, kind):
    """The text/html of a figure where an editor shows it without scripts, or without frames, as those of notebooks may."""
    html = figure("(4,8):(8,1)")._repr_mimebundle_()["text/html"]
    inside = {
        "a policy": f'<meta http-equiv="Content-Security-Policy" content="{STRICT}"><body class="vscode-dark">{html}',
        "a sandbox": f'<iframe sandbox="" width="900" height="600" srcdoc="{escape(html)}"></iframe>',
        "frames removed": re.sub("</?iframe[^>]*>", "", html),
    }[kind]
    (tmp_path / "cell.html").write_text(f"<!DOCTYPE html>{inside}", encoding="utf-8")
    driver.get((tmp_path / "cell.html").as_uri())
    while driver.find_elements("tag name", "iframe"):
        driver.switch_to.frame(0)
    until(
        lambda: driver.execute_script("const p = document.querySelector('svg, img'); return p?.getBoundingClientRect().width > 100")
    )
    words = [one.text for one in driver.find_elements("css selector", "svg text")]
    image = driver.execute_script("return document.querySelector('img')?.naturalWidth > 100")
    assert image if kind == "frames removed" else {str(n) for n in range(32)} <= set(words)
    driver.switch_to.default_content()
    complaints(driver)  # the policy's own, which the next test need not see
