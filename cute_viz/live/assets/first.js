// What there is to begin with: examples as pictures with a sentence each, and all others by name.
import { button, element } from "./panes.js";

const SUGGESTION = "((16,8),8):((64,1),8)";

export class First {
  constructor({ settings, draw, open }) {
    Object.assign(this, { settings, draw, open, box: document.getElementById("first") });
    document.querySelector(".ghost span").textContent = SUGGESTION;
  }

  get suggestion() { return { source: SUGGESTION, options: { tile: "8x128" } }; }

  get shown() { return !this.box.hidden; }

  hide() { this.box.hidden = true; document.body.classList.remove("first"); }

  show(words = "") {
    if (!this.box.firstChild) this.build();
    this.box.hidden = false;
    document.body.classList.add("first");
    this.box.querySelector(".ask").textContent = words || `${matchMedia("(max-width: 820px)").matches ? "Type a layout" : "Press Tab to draw the suggestion"}, choose an operation, or start from an example.`;
  }

  build() {
    const ones = this.settings.presets.filter((one) => one.group === "First"), rest = this.settings.presets.filter((one) => one.group !== "First");
    const cards = ones.map((one) => {
      const thumb = element("span", null, { className: "thumb" });
      const card = button(null, () => this.open(one), { className: "card" });
      card.append(thumb, element("b", one.title), element("span", one.words), element("code", one.shown || one.source));
      this.paint(one, thumb);
      return card;
    });
    const filter = element("input", null, { id: "presets", type: "search", placeholder: "swizzle, ldmatrix, divide, TMA", autocomplete: "off" });
    const list = element("div", null, { className: "others" });
    const narrow = () => {
      const words = filter.value.trim(), found = this.of(words, rest);
      list.replaceChildren(...found.slice(0, words.length ? 60 : 24).map((one) => button(one.title, () => this.open(one), { className: "other", title: one.source.slice(0, 200) })));
      if (!found.length) list.append(element("span", "no example has these words", { className: "soft" }));
    };
    filter.addEventListener("input", narrow);
    filter.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); list.querySelector("button")?.click(); } });
    this.box.replaceChildren(element("h2", "What do you want to see?"), element("p", "", { className: "ask" }), element("div", null, { className: "cards" }, ...cards),
      element("p", null, {}, element("label", "More examples ", {}, filter)), list);
    narrow();
  }

  // The examples whose titles or texts have all words.
  of(text, among = this.settings.presets) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return among.filter((one) => words.every((word) => `${one.group} ${one.title} ${one.words || ""} ${one.source}`.toLowerCase().includes(word)));
  }

  async paint(one, thumb) {
    const svg = one.svg || (await this.draw({ source: one.source, options: one.options || {}, ...(one.against ? { ask: "compare", against: one.against } : {}), ...(one.thumb || {}) }, `thumb ${one.title}`))?.svg;
    if (!svg) return;
    const image = element("img", null, { alt: "", src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` });
    image.addEventListener("load", () => image.classList.toggle("tall", image.naturalHeight > 1.25 * image.naturalWidth)); // its first panel
    thumb.replaceChildren(image);
  }
}
