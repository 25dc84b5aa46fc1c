// The panes below the picture: the report of a kernel, facts, the steps of an operation, the banks of an access, a comparison.
import { state } from "./state.js";

export const element = (name, words, more = {}, ...inside) => {
  const out = document.createElement(name);
  if (words !== undefined && words !== null) out.textContent = words;
  out.append(...inside);
  return Object.assign(out, more);
};
export const button = (words, act, more = {}) => {
  const out = element("button", words, { type: "button", ...more });
  out.addEventListener("click", act);
  return out;
};

// Buttons of which one is pressed, as [value, words]; the same buttons stay, and the focus on them.
export function choice(box, items, now, act) {
  const words = items.map(([, word]) => word).join();
  box.hidden = items.length < 2;
  if (box.dataset.words !== words) {
    box.dataset.words = words;
    box.replaceChildren(...items.map(([value, word]) => button(word, () => act(value), { value })));
  }
  const pressed = items.some(([value]) => value === now) ? now : "";
  for (const one of box.children) one.setAttribute("aria-pressed", one.value === pressed);
}

// An SVG as an element of the page; the engine has escaped what it shows, and the page's policy lets nothing inline run.
export function picture(text) {
  const inert = document.createElement("template");
  inert.innerHTML = text;
  const svg = inert.content.firstElementChild;
  return svg?.nodeName === "svg" ? document.adoptNode(svg) : null;
}

const table = (rows) => {
  const out = element("table");
  for (const [name, value] of rows) {
    const row = out.insertRow();
    row.append(element("th", name, { scope: "row" }));
    row.insertCell().append(element("code", Array.isArray(value) ? value.join(", ") : value === true ? "yes" : value === false ? "no" : String(value)));
  }
  return out;
};

export class Panes {
  // ask: a question to the engine. report, compare: who fill their panes. changed: another pane is shown. moved: a pane was. redraw: draw another access. option: give an option a value.
  constructor({ ask, apply, report, compare, changed, moved, redraw, option }) {
    this.box = document.getElementById("more");
    this.dock = document.getElementById("dock");
    this.tabs = [...document.querySelectorAll(".answers > .tabs [role=tab]")];
    this.tab = "picture";
    Object.assign(this, { ask, apply, report, compare, changed, moved, redraw, option, at: {}, step: null });
    for (const tab of this.tabs) tab.addEventListener("click", () => this.open(tab.id.slice(4)));
    document.querySelector(".answers > .tabs").addEventListener("keydown", (event) => {
      const shown = this.tabs.filter((tab) => tab.offsetParent), n = shown.indexOf(document.activeElement);
      const go = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (n < 0 || !go) return;
      const next = shown[(n + go + shown.length) % shown.length];
      next.focus();
      this.open(next.id.slice(4));
    });
    document.getElementById("close-dock").addEventListener("click", () => this.open("picture"));
    document.getElementById("move-dock").addEventListener("click", () => { this.place({ ...this.at, beside: !this.at.beside }); moved(); });
    this.drag(document.getElementById("grip"), (event, box) => {
      const beside = document.body.classList.contains("beside");
      const size = beside ? (box.right - event.clientX) / box.width : (box.bottom - event.clientY) / box.height;
      this.place({ ...this.at, dock: Math.round(100 * Math.min(0.85, Math.max(0.15, size))) });
    }, document.querySelector(".answers"));
    this.drag(document.getElementById("split"), (event, box) => {
      this.place({ ...this.at, split: Math.round(100 * Math.min(0.75, Math.max(0.15, event.clientX / box.width))) });
    }, document.body);
  }

  // Where the panes are, as parts of a hundred: the source's width, the height or width of the pane below or beside the picture.
  place({ beside = false, split = 0, dock = 0 }) {
    this.at = { beside, split, dock };
    document.body.classList.toggle("beside", beside);
    for (const [name, size] of [["--words", split && `${split}vw`], ["--dock", dock && `${dock}%`]]) {
      if (size) document.body.style.setProperty(name, size); else document.body.style.removeProperty(name);
    }
  }

  places() { return this.at; }

  // A bar that is dragged, or moved by the arrow keys.
  drag(bar, move, around) {
    bar.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const to = (at) => move(at, around.getBoundingClientRect());
      addEventListener("pointermove", to);
      addEventListener("pointerup", () => { removeEventListener("pointermove", to); this.moved(); }, { once: true });
    });
    bar.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-24, 0], ArrowRight: [24, 0], ArrowUp: [0, -24], ArrowDown: [0, 24] }[event.key], box = bar.getBoundingClientRect();
      if (step) { event.preventDefault(); move({ clientX: box.left + step[0], clientY: box.top + step[1] }, around.getBoundingClientRect()); this.moved(); }
    });
  }

  open(name) {
    this.tab = this.tabs.some((tab) => tab.id === `tab-${name}`) ? name : "picture";
    for (const tab of this.tabs) {
      const mine = tab.id === `tab-${this.tab}`;
      tab.setAttribute("aria-selected", mine);
      tab.tabIndex = mine ? 0 : -1;
      if (mine) this.box.setAttribute("aria-labelledby", tab.id);
    }
    document.body.dataset.pane = this.tab;
    this.dock.hidden = ["picture", "source"].includes(this.tab);
    this.refresh();
    this.changed(this.tab);
  }

  // Show what belongs to the picture's answer.
  async refresh(answer = null) {
    this.answer = answer || this.answer;
    const tab = this.tab;
    if (this.dock.hidden) return undefined;
    if (tab === "report") return answer ? undefined : this.report.show(this.box); // a picture has nothing of it
    if (tab === "compare") return this.compare.show(this.box);
    if (tab === "banks") return this.answer?.accesses ? this.banks(this.answer) : this.box.replaceChildren();
    const out = await this.ask({ ask: tab }, tab);
    if (!out || tab !== this.tab) return undefined;
    if (out.error) { this.box.replaceChildren(element("p", `${out.error.message}${out.error.hint ? `: ${out.error.hint}` : ""}`)); return undefined; }
    if (tab === "facts" && out.facts) this.facts(out);
    if (tab === "explain" && out.steps) this.steps(out);
    return undefined;
  }

  facts(out) {
    const notes = (this.answer?.notes || []).map((note) => element("li", note));
    this.box.replaceChildren(...(this.answer?.description ? [element("p", this.answer.description)] : []), table(Object.entries(out.facts)),
      ...(notes.length ? [element("ul", null, {}, ...notes)] : []), ...(out.matrix ? [picture(out.matrix)] : []));
  }

  steps(out) {
    const last = out.steps.length - 1, at = Math.min(this.step ?? last, last);
    const slider = element("input", undefined, { type: "range", min: 0, max: last, value: at });
    slider.setAttribute("aria-label", "step");
    const list = element("ol"), shown = element("div");
    list.style.listStyle = "none";
    list.style.paddingLeft = "0";
    const items = out.steps.map((step, n) => {
      const item = element("li", `${step.number ?? " –"} ${step.words}`, { tabIndex: 0 });
      if (step.value) item.append(element("br"), element("code", step.value));
      item.addEventListener("click", () => { slider.value = n; go(); });
      list.append(item);
      return item;
    });
    const go = () => {
      this.step = +slider.value;
      items.forEach((item, n) => item.setAttribute("aria-current", n === this.step));
      let n = this.step; // the newest layout at this step
      while (n >= 0 && !out.steps[n].svg) n--;
      shown.replaceChildren(...(n >= 0 ? [picture(out.steps[n].svg)] : []));
      slider.setAttribute("aria-valuetext", out.steps[this.step].words);
    };
    slider.addEventListener("input", go);
    const bits = out.bits ? [picture(out.bits)] : [];
    this.box.replaceChildren(...(last > 0 ? [slider] : []), ...bits, element("div", null, { className: "steps" }, list, shown));
    go();
  }

  // Who accesses the tile, a pattern or whatever is typed; what it costs, and the swizzle that would free it. The picture is above.
  banks(out) {
    const far = element("input", undefined, { id: "far", type: "checkbox", checked: out.global }), ask = (access, step = null) => this.redraw(access, step, far.checked);
    far.addEventListener("change", () => ask(out.access));
    const pick = element("select", null, { id: "pattern" }, ...Object.entries(out.accesses).map(([name, words]) => element("option", name, { value: name, title: words })), element("option", "yours", { value: "", hidden: true }));
    pick.value = out.access in out.accesses ? out.access : "";
    pick.addEventListener("change", () => ask(pick.value));
    const said = out.tensor || (pick.value ? "" : out.access); // a TiledCopy is who accesses: of it, what is accessed
    const other = element("input", undefined, { id: "accessor", value: said, placeholder: "or a TV layout, a TiledCopy", autocomplete: "off", size: Math.max(24, said.length) });
    other.ariaLabel = out.tensor ? "the tensor" : "who accesses it";
    other.addEventListener("change", () => ask(other.value.trim()));
    const type = element("input", undefined, { id: "element", value: state.options.type || "", placeholder: out.bits ? `${out.bits} bits` : "f16", size: 6, autocomplete: "off" });
    type.addEventListener("change", () => this.option("type", type.value.trim()));
    const row = element("div", null, { className: "row" }, element("label", out.tensor ? "This copy accesses " : "Access ", {}, out.tensor ? other : pick), ...(out.tensor ? [] : [other]), element("label", "Type ", {}, type), element("label", null, {}, far, " global memory")), parts = [row];
    if (out.warps?.length > 1) {
      const warp = element("input", null, { id: "warp", type: "range", min: 0, max: out.warps.length - 1, value: out.step });
      warp.addEventListener("input", () => ask(out.access, +warp.value));
      row.append(element("label", "Step ", {}, warp, ` ${out.step + 1} of ${out.warps.length}`));
    }
    parts.push(element("p", out.said || `${out.wavefronts} wavefronts, ${out.ideal} are ideal; this step, ${out.instruction}: ${out.warps[out.step]}${out.assumed ? `; ${out.bits}-bit elements are assumed, a type says otherwise` : ""}`, { id: "wavefronts" }));
    if (out.best?.wavefronts < out.wavefronts) parts.push(button(`Apply the best: ${out.best.name}, ${out.best.wavefronts} wavefronts`, () => this.apply(out.best.source), { id: "apply-best" }));
    const held = this.box.contains(document.activeElement) && document.activeElement.id;
    this.box.replaceChildren(...parts);
    if (held) document.getElementById(held)?.focus();
  }
}
