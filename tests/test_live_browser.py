"""The live page in a real browser: typing draws, mistakes are shown and cured, the address holds the state, files are followed."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cute_viz.algebra.ops import OPS
from cute_viz.live.follow import Followed
from cute_viz.live.page import fragment
from cute_viz.live.pool import Pool
from cute_viz.live.questions import answer
from cute_viz.live.server import Server
from tests.browser import chromium, complaints, ill_seen, until

pytestmark = pytest.mark.browser
HOSTILE = "</title></script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"


@pytest.fixture(scope="module")
def driver():
    with chromium() as found:
        yield found


def serving(followed: Followed | None = None, pool: Pool | None = None) -> Server:
    server = Server(followed=followed, pool=pool)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


@contextmanager
def following(driver, path: Path) -> Iterator[str]:
    """The address of a server that follows a file; the browser leaves it before it ends."""
    server = serving(Followed(str(path)), Pool(1))
    try:
        yield server.address
    finally:
        driver.get("about:blank")
        server.shutdown()
        server.close()


@pytest.fixture(scope="module")
def server():
    running = serving()
    yield running
    running.shutdown()
    running.close()


class Page:
    """The page under test: what is typed into it, what it shows."""

    def __init__(self, driver, address: str) -> None:
        self.driver, self.address = driver, address
        driver.get("about:blank")
        driver.get(address)
        until(lambda: self.picture() or self.error() or self.text(".cards"))

    def find(self, selector: str):
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return self.driver.execute_script("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def picture(self) -> str:
        return self.text("#picture svg title")

    def error(self) -> str:
        return self.text("#error")

    def type(self, words: str) -> None:
        """Click into the editor, clear it, and type."""
        from selenium.webdriver.common.keys import Keys

        source = self.find("#source")
        source.click()
        source.send_keys(Keys.CONTROL, "a")
        source.send_keys(Keys.DELETE, words)

    def set(self, selector: str, value: str) -> None:
        """Give a field a value as if it was typed."""
        put = "const e = document.querySelector(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'))"
        self.driver.execute_script(put, selector, value)

    def drawn(self, words: str) -> None:
        until(lambda: self.driver.execute_script("return document.body.dataset.drawn") == words)


KERNEL = """template <class L, class C> __global__ void k(float* p, L sA_layout, C copy_a) {
  __shared__ float s[128];
  Tensor sA = make_tensor(make_smem_ptr(s), sA_layout);
  auto thr = copy_a.get_slice(threadIdx.x);
}
void other() { auto sA_layout = Layout<_4>{}; }
void launch(float* p) {
  auto a = make_layout(make_shape(Int<8>{}, Int<16>{}), make_stride(Int<16>{}, Int<1>{}));
  auto c = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4,_8>>{});
  k<<<1, 32>>>(p, a, c);
}
"""


TMA = """template <class TMA> __global__ void load(TMA tma, Layout<Shape<_64,_32>> l) {
  auto g = local_tile(tma.get_tma_tensor(shape(l)), shape(l), make_coord(0, 0));
  __shared__ half_t s[2048];
  auto sA = make_tensor(make_smem_ptr(s), l);
  auto [tg, ts] = tma_partition(tma, Int<0>{}, Layout<_1>{}, group_modes<0,2>(sA), group_modes<0,2>(g));
  copy(tma, tg, ts);
}
void run() {
  Layout<Shape<_64,_32>> l;
  load<<<1, 32>>>(make_tma_copy(SM90_TMA_LOAD{}, make_tensor(make_gmem_ptr<half_t>(nullptr), l), l), l);
}
"""


@pytest.fixture
def page(driver, server):
    yield Page(driver, server.address)
    assert complaints(driver) == []


def test_typing_draws(page):
    before = page.picture()
    page.type("(4,8):(8,1)")
    page.drawn("(4,8):(8,1)")
    assert page.picture() != before
    assert page.driver.execute_script("return document.querySelectorAll('#picture svg text').length") >= 32
    page.type("SM80_16x8x16_F32F16F16F32_TN")
    page.drawn("SM80_16x8x16_F32F16F16F32_TN")
    assert page.picture().startswith("Each thread holds 4 pairs of A, and 2 pairs of B and of C")


PAIRS = """const [texts, order, done] = arguments;
Promise.all([import("/assets/drawn.js"), import("/assets/panes.js")]).then(([{ Drawn }, { picture }]) => {
  const box = document.createElement("div"), drawn = new Drawn(box), wrong = [];
  let kept = 0;
  for (const n of order) {
    const had = new Set(box.querySelectorAll("text")), svg = drawn.draw(texts[n]);
    if (svg.parentNode !== box) box.replaceChildren(svg);
    kept += [...box.querySelectorAll("text")].filter((one) => had.has(one)).length;
    if (!svg.isEqualNode(picture(texts[n]))) wrong.push(n);
  }
  done([wrong, kept]);
});"""


def test_a_picture_is_written_into_the_elements_of_the_last(page, driver):
    """Whatever stood there, its elements are those that a parser makes of it; of a picture of the same shape all stay."""
    grids = ("(8,8):(8,1)", "(8,8):(9,1)", "(8,7):(8,1)", "(8,8):(3,1)", "Sw<1,1,1> o 0 o (8,8):(8,1)")
    sources = (*grids, "SM80_16x8x8_F32TF32TF32F32_TN")
    options = ({}, {"title": "a & b > c < d"}, {"palette": "cutlass"}, {"theme": "dark"})
    texts = [answer({"source": source, "options": more})["svg"] for source in sources for more in options]
    order = random.Random(1).choices(range(len(texts)), k=200)
    assert driver.execute_async_script(PAIRS, texts, order)[0] == []
    assert driver.execute_async_script(PAIRS, texts[:1] + texts[4:5], [0, 1, 0])[1] >= 2 * 64
    page.type("(8,8):(8,1)")
    page.drawn("(8,8):(8,1)")
    driver.execute_script("document.querySelector('#picture svg').dataset.mine = 1")
    page.set("#find", "17")
    until(lambda: page.text("#found") == "17: 1 cell")
    page.type("(8,8):(1,8)")
    page.drawn("(8,8):(1,8)")
    assert page.text("#picture svg[data-mine] title").startswith("Column-major")
    assert driver.execute_script("return document.querySelectorAll('#picture .layer').length") == 1
    assert page.text("#told") == "(1,2): offset 17"


def test_a_mistake_keeps_the_last_picture_and_a_click_cures_it(page):
    page.type("composition((4,8):(8,1), 4:2)")
    page.drawn("composition((4,8):(8,1), 4:2)")
    good = page.picture()
    page.type("compositon((4,8):(8,1), 4:2)")
    until(lambda: "compositon" in page.error())
    assert page.picture() == good
    until(lambda: "stale" in page.find("#picture").get_attribute("class"))
    assert page.text(".wrong").startswith("compositon")
    assert page.find("#source").get_attribute("aria-invalid") is not None
    page.find("#error button").click()
    until(lambda: page.error() == "")
    page.drawn("composition((4,8):(8,1), 4:2)")
    assert "stale" not in page.find("#picture").get_attribute("class")
    assert page.text(".wrong") == ""


def test_a_missing_value_is_one_click(page):
    page.type("make_layout(make_shape(M,8))")
    until(lambda: page.error())
    page.find("#error button").click()
    page.drawn("make_layout(make_shape(M,8))")
    until(lambda: page.error() == "")
    assert page.driver.execute_script("return document.getElementById('let').value") == "M=512"


def test_the_address_holds_the_state(page, driver, server):
    page.type("Sw<3,3,3> o 0 o (8,64):(64,1)")
    page.drawn("Sw<3,3,3> o 0 o (8,64):(64,1)")
    page.set("#options [name=view]", "banks")
    until(lambda: "bank" in page.picture().lower())
    before = page.picture()
    page.set("#find", "bank 3")
    until(lambda: page.text("#found").startswith("bank 3: "))
    until(lambda: driver.current_url != server.address and "#z" in driver.current_url)
    until(lambda: _settled(driver))
    driver.refresh()
    until(lambda: page.picture() == before and page.text("#found").startswith("bank 3: "))
    assert driver.execute_script("return document.getElementById('source').value") == "Sw<3,3,3> o 0 o (8,64):(64,1)"
    assert driver.execute_script("return document.querySelector('#options [name=view]').value") == "banks"
    address = driver.current_url
    Page(driver, server.address + "#zNonsense")
    Page(driver, address)
    until(lambda: page.picture() == before)


def test_an_address_in_words(driver, server):
    """As documents and galleries write it."""
    from cute_viz.engine.address import page_link

    for source, options in (("(4,8):(8,1) ", {"view": "tv", "tile": "4x8"}), ("a = (2,2)\na o 4:1 + 0 & '\"<#%", {})):
        driver.get("about:blank")
        driver.get(page_link(server.address, source, options))
        value = "return [document.getElementById('source').value, document.querySelector('#options [name=view]')?.value]"
        until(lambda value=value: driver.execute_script(value)[0])
        assert driver.execute_script(value) == [source, options.get("view", "")]


def _settled(driver) -> bool:
    """Whether the address has stopped changing."""
    import time

    before = driver.current_url
    time.sleep(0.4)
    return driver.current_url == before


def test_the_knobs_of_a_swizzle(page, driver):
    page.type("Sw<3,3,3> o 0 o (8,64):(64,1)")
    page.drawn("Sw<3,3,3> o 0 o (8,64):(64,1)")
    set_ = "const s = document.querySelector('#sliders input'); s.value = 2; s.dispatchEvent(new Event('input'))"
    driver.execute_script(set_)
    page.drawn("Sw<2,3,3> o 0 o (8,64):(64,1)")
    assert "Sw<2,3,3>" in page.text("#picture svg")


def test_the_matrix_of_a_swizzle(page, driver):
    page.type("Sw<2,1,2> o 0 o (4,8):(8,1)")
    page.drawn("Sw<2,1,2> o 0 o (4,8):(8,1)")
    driver.find_element("id", "tab-facts").click()
    until(lambda: page.text("#more svg"))
    said = driver.execute_script("return [...document.querySelectorAll('#more svg text')].map(text => text.textContent)")
    # bits 3 and 4 of the offset, the row, are XORed into bits 1 and 2
    assert [words for words in said if words.startswith("= ")] == ["= c0", "= c1 ⊕ r0", "= c2 ⊕ r1", "= r0", "= r1"]
    driver.find_element("id", "tab-picture").click()
    page.find("#tab-compare").click()
    page.set("#against", "without the swizzle")
    until(lambda: " of 32 " in page.text("#differs"))


def test_what_cells_say_is_one_click_and_ends_with_the_swizzle(page, driver):
    said = "return [...document.querySelectorAll('#says button')].map(b => [b.textContent, b.ariaPressed])"
    words = "return [...document.querySelectorAll('#picture svg text')].map(text => text.textContent)"
    page.type("Sw<1,0,1> o 0 o (2,4):(4,1)")
    page.drawn("Sw<1,0,1> o 0 o (2,4):(4,1)")
    until(lambda: dict(driver.execute_script(said)).get("before → after") == "false")
    page.find("#says [value=swizzle]").click()
    until(lambda: "3 → 2" in page.text("#picture svg"))
    assert driver.switch_to.active_element.text == "before → after"  # from where the next Tab goes on
    assert dict(driver.execute_script(said)) == {
        "offset": "false",
        "index": "false",
        "coordinate": "false",
        "before → after": "true",
        "all": "false",
        "none": "false",
    }
    page.type("(2,4):(4,1)")
    page.drawn("(2,4):(4,1)")
    until(lambda: [words for words, _ in driver.execute_script(said)] == ["offset", "index", "coordinate", "all", "none"])
    assert page.error() == ""
    page.find("#says [value=coord]").click()
    until(lambda: "(1,3)" in driver.execute_script(words))
    assert page.find("#options [name=labels]").get_attribute("value") == "coord"
    page.find("#says [value='']").click()
    until(lambda: "(1,3)" not in driver.execute_script(words))
    page.type("SM75_U32x4_LDSM_N")
    page.drawn("SM75_U32x4_LDSM_N")
    until(lambda: driver.execute_script(said)[0] == ["owner", "true"])
    assert [one.text for one in driver.find_elements("css selector", "#sections dt")] == [
        "ThrID",
        "SrcLayout",
        "DstLayout",
        "RefLayout",
    ]


def test_what_no_thread_addresses_is_told_in_words(page, driver):
    page.set("#source", TMA)
    until(lambda: driver.find_elements("css selector", ".mark.good") and _settled(driver))
    page.find(".mark.good").click()
    until(lambda: "copies a box of 4,096 bytes" in page.text("#picture p"))
    assert page.text("#picture h2") == "SM90_TMA_LOAD: no thread gives an address"
    assert "in shared memory" in page.text("#picture p:last-child")
    page.find("#subject button").click()
    until(lambda: page.picture())


def test_banks_are_explored_and_cured(page, driver):
    page.type("(8,64):(64,1)")
    page.drawn("(8,64):(64,1)")
    driver.find_element("id", "tab-banks").click()
    until(lambda: page.text("#wavefronts").startswith("64 wavefronts, 8 are ideal"))
    assert page.picture() == "8 rows a phase in one bank group: 32 wavefronts"
    page.set("#find", "bank 5")  # one of the four of a chunk
    assert page.text("#told").startswith("(0,1): T8; (1,1): T9;")
    page.set("#find", "T9")
    assert page.text("#told") == "(1,1): T9"
    page.set("#find", "T99")
    assert page.text("#told").startswith("nothing here is T99; cells have coordinates, T0..T31, ")
    page.set("#find", "")
    page.find("#warp").send_keys("\ue014")  # the right arrow: the next step
    until(lambda: "2 of 2" in page.text("#more .row"))
    assert driver.switch_to.active_element.get_attribute("id") == "warp"
    page.find("#apply-best").click()
    page.drawn("Sw<3,3,3> o 0 o (8,64):(64,1)")
    until(lambda: page.text("#wavefronts").startswith("8 wavefronts, 8 are ideal"))
    assert page.picture().endswith("32 wavefronts. Swizzled: 4.")
    page.find("#accessor").send_keys("(8,4):(1,8)\n")
    until(lambda: "ld.64" in page.text("#wavefronts"))
    until(lambda: _settled(driver))
    driver.refresh()  # the link has it
    until(lambda: "ld.64" in page.text("#wavefronts"))
    page.find("#far").click()
    until(lambda: "sectors of 32 bytes" in page.text("#wavefronts"))
    page.find("#far").click()
    until(lambda: "ld.64" in page.text("#wavefronts"))
    page.find("#accessor").send_keys("\ue009a\ue000nonsense\n")  # Ctrl+A, and over it
    until(lambda: page.text("#wavefronts").startswith("there is no access 'nonsense'"))
    assert page.picture() == "The swizzle reorders 7 of 8 rows, each within itself"
    driver.find_element("id", "tab-picture").click()
    page.find("#tab-banks").click()
    until(lambda: page.text("#wavefronts").startswith("there is no access 'nonsense'"))
    until(lambda: _settled(driver))
    page.find("#pattern [value=ldmatrix]").click()
    until(lambda: page.text("#wavefronts").startswith("8 wavefronts"))
    page.find("#tab-picture").click()
    until(lambda: page.picture() == "The swizzle reorders 7 of 8 rows, each within itself")


CALLS = """const [operations, done] = arguments;
import("/assets/operation.js").then(({ called }) => done(operations.filter(([name, example]) => {
  const { from, operands, ...found } = called(example);
  return found.name !== name || `${example.slice(0, from)}${operands.join(", ")})` !== example;
})));"""


def test_an_operation_is_a_form_that_writes_what_one_would_type(page, driver):
    """Choose, fill, choose another, undo; every operation of the table has fields for what its example gives it."""
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select

    def form() -> list[str]:
        return driver.execute_script("return [...document.querySelectorAll('.operand')].map(e => e.value)")

    def fill(n: int, words: str) -> None:
        field = driver.find_elements("css selector", ".operand")[n]
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(words)

    assert driver.execute_async_script(CALLS, [(op.name, op.example) for op in OPS.values()]) == []
    choose = Select(page.find("#operation"))
    choose.select_by_visible_text("logical_divide")  # on the first page
    page.drawn("logical_divide((8,6), (4,3))")
    assert form() == ["(8,6)", "(4,3)"]
    fill(0, "(4,6):(6,1)")
    fill(1, "<2:2,3:1>")
    page.drawn("logical_divide((4,6):(6,1), <2:2,3:1>)")
    choose.select_by_visible_text("coalesce")  # whose second operand may be left out
    page.drawn("coalesce((4,6):(6,1))")
    fill(1, "(1,1)")
    page.drawn("coalesce((4,6):(6,1), (1,1))")
    driver.find_elements("css selector", ".operand")[1].send_keys(Keys.CONTROL, "a", Keys.DELETE)
    page.drawn("coalesce((4,6):(6,1))")
    choose.select_by_visible_text("none")
    page.drawn("(4,6):(6,1)")
    choose.select_by_visible_text("tile_to_shape")  # of the layout that stands there
    until(lambda: form() == ["(4,6):(6,1)", "(12,24)", ""])
    back = ["(4,6):(6,1)", "coalesce((4,6):(6,1))", "coalesce((4,6):(6,1))"]  # what is typed into one field is one step
    for words in [
        *back,
        "logical_divide((4,6):(6,1), <2:2,3:1>)",
        "logical_divide((4,6):(6,1), (4,3))",
        "logical_divide((8,6), (4,3))",
    ]:
        page.find("#source").send_keys(Keys.CONTROL, "z")
        page.drawn(words)
    page.type("cute.size(")
    until(lambda: form() == ["", ""])
    page.type("auto a = (4,8);")
    until(lambda: not page.find("#operation").is_displayed())


def test_the_steps_of_an_operation(page, driver):
    page.type("complement(4:2, 24)")
    page.drawn("complement(4:2, 24)")
    driver.find_element("id", "tab-explain").click()
    until(lambda: page.text("#more li[aria-current=true]").endswith("(2,3):(1,8)"))
    slider = "const s = document.querySelector('#more input[type=range]'); s.value = 0; s.dispatchEvent(new Event('input'))"
    driver.execute_script(slider)
    assert driver.execute_script("return [...document.querySelectorAll('#more li')].findIndex(x => x.ariaCurrent === 'true')") == 0
    driver.find_element("id", "tab-picture").click()


def test_what_is_typed_cannot_script_the_page(page, driver):
    from cute_viz import render

    put = """const e = document.querySelector(arguments[0]);
        e.value = arguments[1];
        e.dispatchEvent(new Event("input", { bubbles: true }))"""
    page.type("(2,2)")
    page.drawn("(2,2)")
    driver.execute_script(put, "#options [name=tile]", HOSTILE)
    until(lambda: page.error())
    driver.execute_script(put, "#options [name=tile]", "")
    until(lambda: page.error() == "")
    driver.execute_script("document.getElementById('source').value = arguments[0]", HOSTILE)
    until(lambda: page.error())
    figure = render("(2,2)", "json", title=HOSTILE).decode()  # a figure from a stranger
    driver.execute_script("document.getElementById('source').value = arguments[0]", figure)
    until(lambda: page.error() == "" and HOSTILE in page.picture())
    driver.find_element("id", "tab-facts").click()
    driver.find_element("id", "tab-picture").click()
    driver.execute_script("document.querySelector('#tables summary')?.click()")
    assert driver.title == f"{HOSTILE} · cute-viz"
    assert driver.execute_script("return document.querySelectorAll('script').length") == 2
    assert driver.execute_script("return document.querySelectorAll('img:not(.card img)').length") == 0


def test_two_pages_do_not_disturb_each_other(page, driver, server):
    first = driver.current_window_handle
    page.type("(4,8)")
    page.drawn("(4,8)")
    driver.switch_to.new_window("tab")
    other = Page(driver, server.address)
    other.type("(5,7)")
    other.drawn("(5,7)")
    driver.close()
    driver.switch_to.window(first)
    assert "(4,8)" in page.text("#picture svg")


def test_presets_and_copies(page, driver):
    until(lambda: len(driver.find_elements("css selector", ".card img")) >= 6)  # what there is to begin with, as pictures
    page.find("#presets").send_keys("ldmatrix.x4\n")
    until(lambda: "SM75_U32x4_LDSM_N" in page.text("#picture svg"))
    driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    driver.execute_script("[...document.querySelectorAll('#share button')].find(b => b.textContent === 'Copy as command').click()")
    until(lambda: page.text("#status") == "copied: command")
    assert driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])") == "cute-viz render SM75_U32x4_LDSM_N"
    size = driver.execute_async_script(
        "const done = arguments[0]; import('./assets/share.js').then(m => m.png(document.querySelector('#picture svg')))"
        ".then(b => createImageBitmap(b)).then(i => done([i.width, i.height]))"
    )
    wanted = driver.execute_script(
        "const v = document.querySelector('#picture svg').viewBox.baseVal; return [2 * v.width, 2 * v.height]"
    )
    assert [abs(a - b) < 2 for a, b in zip(size, wanted, strict=True)] == [True, True]


def test_keys_and_names_for_those_who_do_not_see(page, driver):
    from selenium.webdriver.common.keys import Keys

    page.type("SM80_16x8x16_F32F16F16F32_TN")
    page.drawn("SM80_16x8x16_F32F16F16F32_TN")
    page.find("#source").send_keys(Keys.ESCAPE, Keys.ESCAPE)
    assert driver.switch_to.active_element.get_attribute("id") == "picture"
    page.find("#picture").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert "thread 0 value 1" in page.text("#spoken")
    page.find("#picture").send_keys(Keys.ENTER)
    assert page.text("#found") == "thread 0: 16 cells"
    assert page.text("#told").startswith("T0 holds C: V0 (0,0), V1 (0,1), V2 (8,0), V3 (8,1); A: V0 (0,0)")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_can_be_read_and_has_a_name(page, driver, theme):
    """In both themes: the first visit, a mistake, every pane, an edit, a second text."""
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
    try:
        assert ill_seen(driver) == []
        driver.execute_script("[...document.querySelectorAll('.card')].find(c => c.textContent.includes('bank conflicts')).click()")
        until(lambda: page.text("#tab-report b") == "1" and page.text(".access .fix"), 60)
        page.find(".mark.bad").click()
        until(lambda: page.text(".diff"))
        assert ill_seen(driver) == []
        for pane in ("facts", "explain", "banks", "compare"):
            page.find(f"#tab-{pane}").click()
            until(lambda: page.text("#more"))
            assert ill_seen(driver) == [], pane
        driver.execute_script(
            "document.querySelector('#objects').open = true; document.querySelector('#objects td button').click()"
        )
        until(lambda: driver.find_elements("css selector", "#objects [aria-current=true]"))
        assert ill_seen(driver) == []
        page.find("#texts > button").click()
        page.type("wgmma")
        until(lambda: page.text("#error button"))
        driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        assert ill_seen(driver) == []
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_it_fits_its_window(page, driver, width, dark):
    value = "dark" if dark else "light"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": value}]})
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        until(lambda: driver.execute_script("return document.documentElement.scrollWidth") <= width)  # drawn for it anew
        colour = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert colour == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_specs_of_a_file_are_listed(driver, tmp_path: Path):
    path = tmp_path / "specs.yaml"
    path.write_text("specs:\n  one:\n    layout: (4,8):(8,1)\n  two:\n    layout: (2,2):(2,1)\n")
    with following(driver, path) as address:
        page = Page(driver, address)
        until(lambda: [button.text for button in driver.find_elements("css selector", "#objects button")] == ["one", "two"])
        assert "pick one" in page.error()
        driver.find_elements("css selector", "#objects button")[1].click()
        until(lambda: "(2,2):(2,1)" in page.text("#picture svg"))
        assert page.error() == ""


def test_a_file_begins_with_the_name_and_the_values_of_the_address(driver, tmp_path: Path):
    path = tmp_path / "k.cu"
    path.write_text("void f(int M) {\n  auto a = make_layout(make_shape(M, 8));\n  auto b = make_layout(4);\n}\n")
    with following(driver, path) as address:
        page = Page(driver, address + fragment({"let": "M=16", "name": "a", "file": True}))
        until(lambda: "(16,8):(_1,16)" in page.text("#picture svg"))
        assert page.error() == ""


def test_a_file_is_followed(driver, tmp_path: Path):
    path = tmp_path / "layouts.txt"
    path.write_text("(4,8):(8,1)\n")
    with following(driver, path) as address:
        page = Page(driver, address)
        until(lambda: "(4,8):(8,1)" in page.text("#picture svg"))
        path.write_text("(2,8):(8,1)\n")
        until(lambda: "(2,8):(8,1)" in page.text("#picture svg"))
        path.write_text("(2,8:(8,1)\n")
        until(lambda: page.error())
        path.write_text("(3,8):(8,1)\n")
        until(lambda: "(3,8):(8,1)" in page.text("#picture svg"))
        assert page.error() == ""
        until(lambda: "#z" in driver.current_url)
        driver.refresh()
        until(lambda: "(3,8):(8,1)" in page.text("#picture svg"))


def test_a_kernel_is_marked_reported_and_fixed_at_its_definition(page, driver):
    """From the example: marks, the report, the access now and fixed, apply, revert, and one history of typing and fixes."""
    from selenium.webdriver.common.keys import Keys

    until(lambda: page.text(".cards"))
    driver.execute_script("[...document.querySelectorAll('.card')].find(c => c.textContent.includes('bank conflicts')).click()")
    until(lambda: page.text("#tab-report b") == "1" and page.text(".access .fix"), 60)
    text = "return document.getElementById('source').value"
    before = driver.execute_script(text)
    marks = driver.execute_script("return [...document.querySelectorAll('.mark')].map(m => m.textContent)")
    assert "32-way32b" in marks
    assert "ideal32b" in marks
    until(lambda: page.text("#subject") and _settled(driver))
    page.find(".mark.bad").click()
    until(lambda: "Now" in page.text("#picture svg") and "Fixed" in page.text("#picture svg"))
    assert page.text("#subject").startswith("Line 15 copy(")
    assert page.picture() == "Up to 32 threads compete for one bank"
    assert "→ 32 wavefronts" in page.text(".diff")
    page.find(".diff .main").click()
    until(lambda: page.text("#tab-report b") == "0" and page.text(".applied"), 60)
    fixed = driver.execute_script(text)
    assert fixed != before
    assert len(fixed.splitlines()) == len(before.splitlines())
    page.find(".applied button").click()
    until(lambda: driver.execute_script(text) == before)
    page.find("#source").send_keys(Keys.CONTROL, "z")
    until(lambda: driver.execute_script(text) == fixed)
    page.find("#source").send_keys(Keys.CONTROL, "z")
    until(lambda: driver.execute_script(text) == before)
    until(lambda: page.find("#subject").get_attribute("hidden") is not None)
    until(lambda: page.text("#tab-report b") == "1" and driver.find_elements("css selector", ".mark.good"), 60)
    until(lambda: _settled(driver))
    whole = driver.current_url
    page.find(".mark.good").click()
    until(lambda: page.text("#subject").startswith("Line 13"))
    until(lambda: driver.current_url != whole)
    driver.back()  # from the access to the kernel
    until(lambda: page.find("#subject").get_attribute("hidden") is not None)
    driver.back()
    until(lambda: "first" in page.find("body").get_attribute("class"))


def test_the_report_and_the_marks_stay_whichever_object_is_drawn(page, driver):
    driver.execute_script("[...document.querySelectorAll('.card')].find(c => c.textContent.includes('bank conflicts')).click()")
    until(lambda: page.text("#tab-report b") == "1" and page.text(".access .fix"), 60)
    until(lambda: page.text("#subject"))
    page.find(".mark.object").click()
    until(lambda: page.find("#subject").get_attribute("hidden") is not None and "compete" not in page.picture())
    until(lambda: _settled(driver))
    assert page.text("#tab-report b") == "1"
    assert page.text(".access .fix")
    assert page.text(".mark.bad").startswith("32-way")


def test_an_access_and_its_far_fix_are_seen_at_once(page, driver):
    """What lies between is folded, as long as nobody wants to see it."""
    from cute_viz.live.page import presets

    text = next(one["source"] for one in presets() if one.get("shown") == "transpose.cu")
    far = text.replace("  copy(", "  // far\n" * 60 + "  copy(", 1)
    Page(driver, page.address.partition("#")[0] + fragment({"source": far}))
    until(lambda: page.text(".diff") and page.text(".fold"), 60)
    seen = "const box = document.querySelector('#editor .cm-scroller').getBoundingClientRect(); "
    seen += "return [...document.querySelectorAll('.mark.bad, .diff')].map(e => e.getBoundingClientRect())"
    seen += ".every(r => r.top >= box.top && r.bottom <= box.bottom)"
    assert driver.execute_script(seen)
    folded = driver.find_elements("css selector", ".fold")
    assert all("–" in one.text for one in folded)
    driver.execute_script("arguments[0].click()", folded[0])
    until(lambda: len(driver.find_elements("css selector", ".fold")) == len(folded) - 1)
    assert driver.execute_script("return document.getElementById('source').value") == far


def test_hover_says_what_a_name_means_on_its_line(page, driver):
    """A parameter as its kernel is launched; a local of another function of the same name is not meant."""
    from selenium.webdriver.common.action_chains import ActionChains

    driver.execute_script("document.getElementById('source').value = arguments[0]", KERNEL)
    until(lambda: "objects" in page.text("#objects summary"))
    words = "return [...document.querySelectorAll('#source .cm-line span')].filter((one) => one.textContent === arguments[0])"
    for word, which, value in (("sA_layout", 1, "(_8,_16):(_16,_1)"), ("copy_a", 1, "TiledCopy"), ("sA_layout", 2, "_4:_1")):
        ActionChains(driver).move_to_element(driver.execute_script(words, word)[which]).perform()
        until(lambda value=value: value in page.text(".hover"))
        ActionChains(driver).move_to_element(page.find("#picture")).perform()
        until(lambda: not page.text(".hover"))


FIELDS = """struct Storage {
  float smem[128]; Layout<Shape<_8,_16>> tile = {};
  int size() { int other; return 8; }
};
template <class L> __global__ void k(L sA_layout) {
  Storage shared;
  auto copy_one = make_tiled_copy(Copy_Atom<UniversalCopy<float>, float>{}, Layout<Shape<_4,_8>>{});
}
"""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("sA_l", ["sA_layout"]),
        ("copy_on", ["copy_one"]),
        ("shared.", ["smem", "tile"]),
        ("Storage::t", ["tile"]),
        ("ldmatrix.x4", ["SM75_U32x4_LDSM_N"]),
    ],
)
def test_names_of_the_file_come_first_and_their_fields(page, driver, typed, offered):
    words = "return [...document.querySelectorAll('.cm-tooltip-autocomplete .cm-completionLabel')].map((one) => one.textContent)"
    driver.execute_script("document.getElementById('source').value = arguments[0]", FIELDS)
    until(lambda: "objects" in page.text("#objects summary"))
    page.find("#source").send_keys("\ue009\ue010\ue000", typed)  # Ctrl+End
    until(lambda: driver.execute_script(words)[: len(offered)] == offered)


def test_words_that_lead_somewhere_a_comparison_and_texts(page, driver):
    page.type("(4,4):(4,1")
    until(lambda: page.find("#picture").get_attribute("class") == "stale" or page.error() or page.picture())
    page.type("(4,4):(4,1)")
    page.drawn("(4,4):(4,1)")
    page.find("#tab-compare").click()
    page.set("#against", "(4,4):(1,4)")
    until(lambda: "12 of 16 cells have another offset" in page.text("#differs"))
    page.find("#tab-picture").click()
    page.type("SW128")
    until(lambda: driver.find_elements("css selector", "#error .fix"))
    assert "Examples: " in page.error()
    next(one for one in driver.find_elements("css selector", "#error .fix") if "Layout_K_SW128" in one.text).click()
    until(lambda: "SW128" in driver.execute_script("return document.body.dataset.drawn") and page.error() == "")
    page.set("#find", "(1,2)")
    until(lambda: page.text("#told") == "(1,2): offset 74")
    page.find("#texts > button").click()
    page.type("(2,3)")
    page.drawn("(2,3)")
    assert len(driver.find_elements("css selector", "#texts .text")) == 2
    driver.execute_script("document.querySelector('#texts .text button').click()")
    until(lambda: "SW128" in driver.execute_script("return document.getElementById('source').value"))


def test_a_file_never_overwrites_and_is_never_overwritten(driver, tmp_path: Path):
    path = tmp_path / "layouts.txt"
    path.write_text("(4,8):(8,1)\n")
    with following(driver, path) as address:
        page = Page(driver, address)
        until(lambda: "(4,8):(8,1)" in page.text("#picture svg"))
        page.type("(5,8):(8,1)")
        page.drawn("(5,8):(8,1)")
        path.write_text("(6,8):(8,1)\n")
        until(lambda: "was saved" in page.text("#saved"))
        assert driver.execute_script("return document.getElementById('source').value") == "(5,8):(8,1)"
        assert path.read_text() == "(6,8):(8,1)\n"
        page.find("#saved button").click()
        until(lambda: "(6,8):(8,1)" in page.text("#picture svg"))


def test_a_launch_is_chosen_and_stands_in_the_link(page, driver):
    from tests.test_live import LAUNCHED

    page.set("#source", LAUNCHED.replace("__global__", "__global__ static __launch_bounds__(decltype(size(Threads{}))::value)"))
    until(lambda: not driver.find_element("id", "launch").get_attribute("hidden"))
    until(lambda: page.text("#texts .text button") == "fill")
    names = [option.text for option in driver.find_elements("css selector", "#launch option")]
    assert names == ["all launches", "1: small, line 6", "2: large, line 7"]
    for n, layout in ((1, "(_2,_4):(_4,_1)"), (2, "(_8,_4):(_4,_1)")):
        driver.find_elements("css selector", "#launch option")[n].click()
        until(lambda layout=layout: layout in page.text("#picture svg"))
    until(lambda: _settled(driver))
    Page(driver, driver.current_url)
    until(lambda: "(_8,_4):(_4,_1)" in page.text("#picture svg"))
    until(lambda: driver.execute_script("return document.getElementById('launch').value") == "2")  # with the list of launches
    driver.back()
    driver.back()


def test_a_link_keeps_the_panes_and_back_leads_to_the_other_text(page, driver):
    page.type("(4,8):(8,1)")
    page.drawn("(4,8):(8,1)")
    page.find("#tab-facts").click()
    page.find("#move-dock").click()
    page.find("#split").send_keys("\ue012" * 4)  # the left arrow
    wide = "return [document.querySelector('.words').clientWidth, document.body.classList.contains('beside')]"
    until(lambda: _settled(driver))
    before, link = driver.execute_script(wide), driver.current_url
    page.find("#texts > button").click()
    page.type("(2,3)")
    page.drawn("(2,3)")
    until(lambda: _settled(driver))
    driver.back()
    text = "return document.getElementById('source').value"
    until(lambda: driver.execute_script(text) == "(4,8):(8,1)")
    assert [box.text.split("\n")[0] for box in driver.find_elements("css selector", "#texts .text")] == ["(4,8):(8,1)", "(2,3)"]
    driver.forward()
    until(lambda: driver.execute_script(text) == "(2,3)")
    Page(driver, link)
    until(lambda: driver.execute_script(wide) == before)
    assert before[1] is True


def test_a_phone_shows_one_pane_at_a_time(driver, server):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    )
    shown = "e => e.checkVisibility({ visibilityProperty: true })"
    seen = f"return [...document.querySelectorAll('#editor, #picture, #more')].filter({shown}).map(e => e.id).join()"

    def shows(pane: str) -> None:
        until(lambda: driver.execute_script(seen) == pane)

    try:
        page = Page(driver, server.address)
        page.find("#source").send_keys("(8,64):(64,1)")  # one types on, though there is a picture
        page.drawn("(8,64):(64,1)")
        shows("editor")
        page.find("#tab-picture").click()
        until(lambda: "columns 32..63" in page.text("#picture svg"))  # in bands that can be read
        page.set("#find", "(5,40)")
        until(lambda: page.text("#told") == "(5,40): offset 360")
        page.find("#examples").click()
        driver.execute_script("[...document.querySelectorAll('.card')].find(c => c.textContent.includes('bank conflicts')).click()")
        until(lambda: page.text("#tab-report b") == "1" and page.text(".access .fix"), 60)
        shows("more")
        page.find(".access .line").click()
        until(lambda: "Now:" in page.text("#picture svg"))
        shows("picture")
        until(lambda: driver.find_elements("css selector", "#says [value=fixed]"))
        page.find("#says [value=fixed]").click()
        until(lambda: "Fixed:" in page.text("#picture svg") and "Now:" not in page.text("#picture svg"))
        until(lambda: page.find("#says [value=fixed]").get_attribute("aria-pressed") == "true")
        page.find("#tab-report").click()
        page.find(".access .fix").click()
        until(lambda: page.text(".diff"))
        shows("editor")
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_large_picture_shows_numbers_when_near_and_keeps_the_place_under_the_pointer(page, driver):
    page.type("(256,256):(256,1)")
    page.drawn("(256,256):(256,1)")
    place = """const box = document.querySelector("#picture").getBoundingClientRect(), svg = document.querySelector("#picture svg");
        const at = { clientX: box.left + 300, clientY: box.top + 400, bubbles: true, cancelable: true };"""
    wheel = f"{place} svg.dispatchEvent(new WheelEvent('wheel', {{ ...at, deltaY: -400, ctrlKey: true }}))"
    under = f"{place} svg.dispatchEvent(new PointerEvent('pointermove', at)); return document.querySelector('#cell').textContent"
    scaled = "return document.querySelector('#picture svg').style.transform"
    before = driver.execute_script(under)
    assert "offset" in before
    for _ in range(4):
        driver.execute_script(wheel)
    assert "scale" in driver.execute_script(scaled)  # the picture as it stands, until the wheel is still
    assert driver.execute_script(under) == before
    until(lambda: driver.execute_script(scaled) == "" and page.find("#picture").get_attribute("class") == "near")
    assert driver.execute_script(under) == before
    offset = before.rpartition("offset ")[2].split()[0]
    until(
        lambda: (
            offset in driver.execute_script("return [...document.querySelectorAll('#picture .close text')].map(t => t.textContent)")
        )
    )
    name = """return [...document.querySelectorAll("#picture svg > g > text")]
        .filter((text) => text.textContent.includes("..") && text.checkVisibility())"""
    assert not driver.execute_script(name)  # names of groups make way
    page.find("[data-zoom=fit]").click()
    until(lambda: not driver.find_elements("css selector", "#picture .close text"))
    size = "const [a, b] = ['#picture svg', '#picture'].map((x) => document.querySelector(x).getBoundingClientRect()); "
    size += "return [a.height <= b.height, a.width / b.width]"
    assert driver.execute_script(size)[0]  # all of it
    page.find("[data-zoom=fit]").click()
    until(lambda: driver.execute_script(size)[1] > 0.9)  # its width
    page.find("[data-zoom=fit]").click()
    until(lambda: driver.execute_script(size)[0])
    assert driver.execute_script(name)


def test_what_an_example_had_does_not_apply_to_another_text(page, driver):
    page.find("#source").send_keys("\ue004")  # Tab: the suggestion, with its tile
    until(lambda: "8 elements of one row" in page.picture())
    page.type("(4,8):(8,1)")
    page.drawn("(4,8):(8,1)")
    until(lambda: page.picture() == "Row-major: each row is contiguous")
    page.set("#options [name=tile]", "4x8")  # one's own stays
    until(lambda: page.picture().startswith("Each thread"))
    page.type("(4,4):(8,1)")
    page.drawn("(4,4):(8,1)")
    assert page.picture().startswith("Each thread")


def test_undo_gives_back_a_text_with_its_options(page, driver):
    from selenium.webdriver.common.keys import Keys

    page.type("((32,4),4):((16,1),4)")
    page.drawn("((32,4),4):((16,1),4)")
    page.set("#options [name=tile]", "16x32")
    until(lambda: page.picture().startswith("Each thread"))
    mine = page.picture()
    page.find("#examples").click()
    until(lambda: page.text(".cards"))
    driver.execute_script("[...document.querySelectorAll('.card')].find(c => c.textContent.includes('Who owns each')).click()")
    tile = "return document.querySelector('#options [name=tile]').value"
    until(lambda: page.picture() not in ("", mine))
    theirs, other = page.picture(), driver.execute_script(tile)
    assert other not in ("", "16x32")
    page.find("#source").send_keys(Keys.CONTROL, "z")
    until(lambda: page.picture() == mine)
    assert driver.execute_script(tile) == "16x32"
    page.find("#source").send_keys(Keys.CONTROL, "y")
    until(lambda: page.picture() == theirs)
    assert driver.execute_script(tile) == other
    text = "return document.getElementById('source').value"
    whole = driver.execute_script(text)
    page.type("(4,8):(8,1)")  # what replaces the whole text, too
    page.drawn("(4,8):(8,1)")
    assert driver.execute_script(tile) == ""
    for _ in range(20):
        if driver.execute_script(text) != whole:
            page.find("#source").send_keys(Keys.CONTROL, "z")
    until(lambda: page.picture() == theirs)
    assert driver.execute_script(tile) == other


def test_options_sliders_fixes_and_typing_have_one_history(page, driver):
    """Each step alone, in the order in which they were made; a drag is one step, and so is a value that is typed."""
    from selenium.webdriver.common.keys import Keys

    own = "return [document.getElementById('source').value, document.querySelector('#options [name=tile]').value, "
    own += "document.querySelector('#options [name=color_by]').value, document.getElementById('let').value]"
    drag = """const s = document.querySelector('#sliders input');
        for (const n of [2, 1, 0]) { s.value = n; s.dispatchEvent(new Event('input')); }
        s.dispatchEvent(new Event('change'))"""
    page.type("Sw<3,3,3> o 0 o (8,64):(64,1)")
    page.drawn("Sw<3,3,3> o 0 o (8,64):(64,1)")
    steps = [driver.execute_script(own)]
    driver.execute_script("document.getElementById('options').open = true")
    page.find("#options [name=tile]").send_keys("8x32\n")
    page.set("#options [name=color_by]", "none")
    until(lambda: driver.execute_script(own)[2] == "none")
    steps.append([steps[0][0], "8x32", "", ""])
    steps.append([steps[0][0], "8x32", "none", ""])
    driver.execute_script(drag)
    steps.append(["Sw<0,3,3> o 0 o (8,64):(64,1)", "8x32", "none", ""])
    assert driver.execute_script(own) == steps[-1]
    page.find("#source").send_keys(Keys.CONTROL, "a")
    page.find("#source").send_keys(Keys.DELETE, "(M,8)")  # another text: its options stay, which no example brought
    until(lambda: page.error())
    page.find("#error button").click()  # a value for M
    until(lambda: driver.execute_script(own)[3] == "M=512")
    page.find("#source").send_keys(Keys.CONTROL, "z")
    until(lambda: driver.execute_script(own) == ["(M,8)", "8x32", "none", ""])
    for _ in range(8):
        if driver.execute_script(own)[0] != steps[-1][0]:
            page.find("#source").send_keys(Keys.CONTROL, "z")
    for before in reversed(steps[:-1]):
        assert driver.execute_script(own) != before
        page.find("#source").send_keys(Keys.CONTROL, "z")
        until(lambda before=before: driver.execute_script(own) == before)
    for after in steps[1:]:
        page.find("#source").send_keys(Keys.CONTROL, "y")
        until(lambda after=after: driver.execute_script(own) == after)


def test_a_layout_is_a_table_before_python_is_there(page, driver):
    """What the static site shows meanwhile are the offsets of the layout, and nothing of what it does not read."""
    from cute_viz import parse
    from cute_viz.algebra.composed import as_layout
    from cute_viz.algebra.table import offsets

    rows = "const done = arguments[1]; import('/assets/early.js').then((early) => done(early.rows(arguments[0])))"
    for text in (
        "(4,8):(8,1)",
        "((2,2),(2,4)):((1,4),(2,8))",
        "(3,(2,5))",
        "Sw<2,0,3> o 0 o (8,8):(8,1)",
        "(_4,_6):(_0,_1)",
        "7:3",
    ):
        found = driver.execute_async_script(rows, text)
        assert [one for column in zip(*found, strict=True) for one in column] == list(offsets(as_layout(parse(text)))), text
    for text in (
        "(4,8):(8,(1,2))",
        "(2,3,4)",
        "(4,8",
        "composition((4,8), 2)",
        "Sw<3,0,1> o 0 o (8,8)",
        "(4,8):(1@0,1@1)",
        "8",
        "",
        "(99,99)",
    ):
        assert driver.execute_async_script(rows, text) is None, text
