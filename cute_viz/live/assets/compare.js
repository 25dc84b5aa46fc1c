// Two sources, or two objects of a file, in one geometry: what differs.
import { button, element, picture } from "./panes.js";

export class Compare {
  // ask: a question. others: gives what the source can be compared with, [words, source, name].
  constructor({ ask, others, changed }) {
    Object.assign(this, { ask, others, changed, against: "", named: "" });
  }

  show(box) {
    if (this.box !== box || !box.querySelector("#against")) this.build(box);
    const list = box.querySelector("datalist");
    list.replaceChildren(...this.others().map(([words]) => element("option", words, { value: words })));
    return this.refresh();
  }

  build(box) {
    this.box = box;
    const field = element("input", null, { id: "against", value: this.named || this.against, placeholder: "a layout, a name of the file, another text", autocomplete: "off" });
    field.setAttribute("list", "others");
    field.addEventListener("input", () => this.set(field.value));
    const swap = button("Clear", () => { field.value = ""; this.set(""); });
    box.replaceChildren(element("p", null, { className: "row" }, element("label", "Compare with ", {}, field), element("datalist", null, { id: "others" }), swap),
      element("p", "", { id: "differs" }), element("div", null, { id: "compared" }));
    box.querySelector("#differs").setAttribute("role", "status");
  }

  set(words) {
    const known = this.others().find(([name]) => name === words);
    [this.against, this.named] = known ? [known[1], known[2]] : [words, ""];
    this.changed();
    this.refresh();
  }

  async refresh() {
    const said = this.box.querySelector("#differs"), shown = this.box.querySelector("#compared");
    if (!this.against.trim() && !this.named) { said.textContent = "Type what to compare the picture above with."; shown.replaceChildren(); return; }
    const out = await this.ask({ ask: "compare", against: this.against, named: this.named }, "compare");
    if (!out || !this.box.contains(said)) return;
    said.textContent = out.error ? `${out.error.message}${out.error.hint ? `: ${out.error.hint}` : ""}` : out.words;
    if (!out.error) shown.replaceChildren(picture(out.svg));
  }
}
