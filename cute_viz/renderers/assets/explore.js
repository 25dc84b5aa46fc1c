// A picture that can be asked: hover, keys, clicks, the search, a slider; cells are linked across panels by what they share.
import { Panels } from "./panels.js";
import { View } from "./view.js";

const NS = "http://www.w3.org/2000/svg";
const MOST = 4096; // outlines that are drawn one by one
const NEAR = 26; // px of a cell on the screen that has room for its label

export class Explorer {
  constructor() {
    const by = (id) => document.getElementById(id);
    this.picture = by("picture");
    this.cellLine = by("cell");
    this.untold = this.cellLine.textContent;
    this.spoken = by("spoken");
    this.find = by("find");
    this.found = by("found");
    this.told = by("told");
    this.form = by("controls");
    this.along = by("along");
    this.only = by("panel");
    this.framed = -1; // the panel that fills the window
    this.panels = new Panels([]);
    this.view = new View(this.picture, (scale) => {
      by("scale").value = `${Math.round(100 * scale)} %`;
      if (!this.view.part) this.framed = -1;
      this.only.value = this.framed;
      this.near();
    });
    this.picture.addEventListener("scroll", () => this.near(), { passive: true });
    this.picked = ""; // the relation that somebody has chosen
    this.chosen = null; // how the highlight was asked for, to ask the next picture the same
    this.covered = []; // names of groups, which make way for the labels of their cells
    this.picture.addEventListener("pointermove", (event) => {
      const hit = event.target.closest("svg") === this.svg && this.cellAt(event);
      if (hit) this.show(...hit);
    });
    this.picture.addEventListener("pointerleave", () => { this.linked?.setAttribute("d", ""); });
    this.picture.addEventListener("click", (event) => {
      if (this.view.dragged || !this.svg) return;
      const hit = this.cellAt(event);
      if (hit) { this.show(...hit); this.choose(...hit); } else this.clear();
    });
    this.picture.addEventListener("dblclick", (event) => {
      const hit = this.svg && this.cellAt(event);
      if (!hit) return;
      this.clear(); // what the two clicks have marked
      this.show(...hit);
      this.turn(hit[0]);
    });
    this.only.addEventListener("change", () => this.frame(+this.only.value));
    this.picture.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "");
      if (event.key === "/" && !typing) { this.find.focus(); event.preventDefault(); }
    });
    this.find.addEventListener("input", () => this.search(this.find.value));
    this.find.addEventListener("keydown", (event) => { if (event.key === "Escape") { this.find.value = ""; this.clear(); } });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("reset", (event) => { event.preventDefault(); this.find.value = ""; this.clear(); }); // the relation stays
    this.form.elements.by.addEventListener("change", (event) => { this.picked = event.target.value; this.slider(); });
    this.along.addEventListener("input", () => this.slide());
    const whole = () => this.view.least === 0 && !this.view.free; // then its width
    const zooms = { fit: () => (this.framed < 0 ? this.view.fit(whole() ? Infinity : 0) : this.frame(-1)), in: () => this.view.zoom(1.25), out: () => this.view.zoom(0.8) };
    for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", zooms[button.dataset.zoom]);
  }

  // Take a picture: an SVG element, perhaps the one of before with other cells, its panels, and perhaps the formula of its offsets.
  take(svg, panels, formula = null) {
    this.panels = new Panels(panels, formula);
    this.at = null;
    this.cellLine.textContent = this.untold; // the cell that was told was the last picture's
    if (svg !== this.svg) this.over(svg);
    this.svg = svg;
    for (const p of this.paths) p.setAttribute("d", "");
    this.cover([]);
    const there = this.panels.relations(), select = this.form.elements.by;
    for (const option of select.options) option.hidden = option.disabled = !there.includes(option.value);
    select.value = there.includes(this.picked) ? this.picked : there[0] ?? "";
    select.parentElement.hidden = there.length < 2;
    this.slider();
    this.only.hidden = panels.length < 2;
    this.only.replaceChildren(new Option("all panels", -1), ...panels.map((p, n) => new Option(p.caption || `panel ${n + 1}`, n)));
    const { framed } = this;
    this.view.take(svg);
    if (framed >= 0) this.frame(framed);
    this.near();
    if (!this.chosen?.()) this.clear(); // what was asked for is not in this picture
  }

  // One panel as large as the window; of any other number, all of them again.
  frame(n) {
    const p = this.panels.list[n];
    this.framed = n;
    if (p) this.view.frame(p.x, p.y, p.cols * p.w, p.rows * p.h); else this.view.fit();
  }

  turn(p) {
    const n = this.panels.list.indexOf(p);
    this.frame(n === this.framed ? -1 : n);
  }

  // The layer of a picture for what is marked.
  over(svg) {
    const layer = svg.appendChild(document.createElementNS(NS, "g"));
    layer.setAttribute("aria-hidden", "true");
    layer.setAttribute("class", "layer");
    const path = (cls) => {
      const p = layer.appendChild(document.createElementNS(NS, "path"));
      p.setAttribute("class", cls);
      return p;
    };
    this.close = layer.appendChild(document.createElementNS(NS, "g"));
    this.close.setAttribute("class", "close");
    this.paths = ["dim", "chosen", "linked", "here"].map(path);
    [this.dim, this.marked, this.linked, this.here] = this.paths;
  }

  // Labels of the cells in sight that the picture has no room for, as soon as zooming gives it.
  near() {
    if (this.drawing || !this.svg) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      const { scale, box } = this.view, small = this.panels.list.filter((p) => !p.labeled && p.labels.length);
      const large = small.filter((p) => p.w * scale >= NEAR && p.h * scale >= NEAR / 2);
      this.picture.classList.toggle("near", large.length > 0);
      if (!large.length !== !this.covered.length) this.cover(large);
      if (!large.length) { if (this.close.firstChild) this.close.replaceChildren(); return; }
      const out = document.createDocumentFragment(), seen = box.getBoundingClientRect(), mine = this.svg.getBoundingClientRect();
      const left = (seen.left - mine.left) / scale, top = (seen.top - mine.top) / scale;
      const right = left + seen.width / scale, bottom = top + seen.height / scale;
      for (const p of large) {
        const c0 = Math.max(0, Math.floor((left - p.x) / p.w)), c1 = Math.min(p.cols, Math.ceil((right - p.x) / p.w));
        const r0 = Math.max(0, Math.floor((top - p.y) / p.h)), r1 = Math.min(p.rows, Math.ceil((bottom - p.y) / p.h));
        if ((c1 - c0) * (r1 - r0) > MOST) continue;
        for (let r = r0; r < r1; r++) for (let c = c0; c < c1; c++) {
          const words = p.labels[r * p.cols + c], text = document.createElementNS(NS, "text");
          if (!words) continue;
          text.textContent = words;
          text.setAttribute("x", p.x + (c + 0.5) * p.w);
          const size = Math.min(p.h * 0.6, p.w * 1.5 / Math.max(2, words.length), 14 / scale);
          text.setAttribute("y", p.y + (r + 0.5) * p.h + 0.35 * size);
          text.setAttribute("font-size", size);
          out.append(text);
        }
      }
      this.close.replaceChildren(out);
    });
  }

  cover(panels) {
    for (const text of this.covered) text.style.display = "";
    const inside = (text) => panels.some((p) => {
      const [x, y] = ["x", "y"].map((name) => +text.getAttribute(name));
      return x > p.x && x < p.x + p.cols * p.w && y > p.y && y < p.y + p.rows * p.h;
    });
    this.covered = panels.length ? [...this.svg.querySelectorAll("g:not(.layer g) > text")].filter(inside) : [];
    for (const text of this.covered) text.style.display = "none";
  }

  relation() { return this.form.elements.by.value; }

  square(p, c, run = 1) {
    return `M${p.x + (c % p.cols) * p.w} ${p.y + Math.floor(c / p.cols) * p.h}h${run * p.w}v${p.h}h${-run * p.w}z`;
  }

  // Cells of a panel, given in order, as few rectangles.
  outline(p, cells) {
    let d = "";
    for (let i = 0; i < cells.length;) {
      let n = 1;
      while (i + n < cells.length && cells[i + n] === cells[i] + n && (cells[i] + n) % p.cols) n++;
      d += this.square(p, cells[i], n);
      i += n;
    }
    return d;
  }

  show(p, c, speak = false) {
    if (this.at && this.at[0] === p && this.at[1] === c && !speak) return;
    this.at = [p, c];
    this.here.setAttribute("d", this.square(p, c));
    const words = this.panels.describe(p, c);
    this.cellLine.textContent = words;
    if (speak) this.spoken.textContent = words;
    const by = this.relation(), keys = by ? this.panels.keys(p, c, by) : [];
    let d = "", count = 0;
    for (const q of this.panels.list) {
      const cells = keys.length ? this.panels.like(q, by, keys) : [];
      count += cells.length;
      if (count > MOST) break;
      for (const other of cells) if (q !== p || other !== c) d += this.square(q, other);
    }
    this.linked.setAttribute("d", d);
    this.linked.dataset.cells = count;
  }

  // Mark the cells for which test(panel, cell) holds, in every panel; panels without any keep their colours.
  mark(test, what) {
    let inside = "", outside = "", count = 0, dimmed = 0;
    const hits = [];
    for (const p of this.panels.list) {
      const mine = [], others = [];
      for (let c = 0; c < p.rows * p.cols; c++) (test(p, c) ? mine : others).push(c);
      if (!mine.length) continue;
      hits.push([p, mine]);
      outside += this.outline(p, others);
      dimmed += others.length;
      count += mine.length;
      if (count <= MOST) for (const c of mine) inside += this.square(p, c);
    }
    this.dim.setAttribute("d", outside);
    this.dim.dataset.cells = dimmed;
    this.marked.setAttribute("d", count <= MOST ? inside : "");
    this.found.value = `${what}: ${count} cell${count === 1 ? "" : "s"}`;
    this.told.textContent = count ? this.panels.told(hits) : "";
    this.hits = hits;
    return count;
  }

  clear() {
    this.chosen = null;
    this.found.value = "";
    this.told.textContent = "";
    this.at = null;
    if (!this.svg) return;
    for (const p of this.paths) p.setAttribute("d", "");
    this.dim.dataset.cells = 0;
  }

  choose(p, c) {
    const by = this.relation(), keys = this.panels.keys(p, c, by);
    if (!keys.length) return this.highlight("label", p.labels[c]);
    if (by === "coordinate") return this.mark((q, k) => this.panels.like(q, by, keys).includes(k), keys.join(" ").replace(/\b[01]=/g, ""));
    return this.highlight(by, keys[0]);
  }

  highlight(by, key) {
    this.chosen = () => this.highlight(by, key);
    if (by === this.relation() && !this.along.hidden && typeof key === "number") { this.along.value = key; this.number.value = key; }
    return this.mark((q, k) => this.panels.keys(q, k, by).includes(key), by === "label" ? String(key) : `${by} ${key}`);
  }

  get number() { return document.getElementById("number"); }

  // The slider runs over the numbers of the relation that is chosen.
  slider() {
    const by = this.relation(), last = by ? this.panels.last(by) : -1;
    const use = ["thread", "warp", "lane", "value", "bank"].includes(by) && last > 0;
    this.along.hidden = this.number.hidden = !use;
    if (!use) return;
    this.along.max = last;
    this.along.setAttribute("aria-label", `the ${by} that is highlighted`);
    this.number.value = this.along.value;
  }

  slide() {
    this.number.value = this.along.value;
    this.highlight(this.relation(), +this.along.value);
    this.along.setAttribute("aria-valuetext", this.found.value);
  }

  search(text) {
    if (!text.trim()) return this.clear();
    this.chosen = () => this.search(text);
    const [what, test] = this.panels.search(text), count = this.mark(test, what);
    if (count) this.bring(...[this.hits[0][0], this.hits[0][1][0]]);
    else this.told.textContent = `nothing here is ${what}; cells have ${this.panels.known().join(", ")}${this.elsewhere?.(what) ?? ""}`;
    return count;
  }

  cellAt(event) {
    const box = this.svg.getBoundingClientRect(), view = this.svg.viewBox.baseVal;
    const x = (event.clientX - box.left) * view.width / box.width, y = (event.clientY - box.top) * view.height / box.height;
    for (const p of this.panels.list) {
      const c = Math.floor((x - p.x) / p.w), r = Math.floor((y - p.y) / p.h);
      if (c >= 0 && r >= 0 && c < p.cols && r < p.rows) return [p, r * p.cols + c];
    }
    return null;
  }

  key(event) {
    const panels = this.panels.list;
    if (!panels.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const [p, c] = this.at || [panels[0], 0];
    const n = panels.indexOf(p), r = Math.floor(c / p.cols), k = c % p.cols;
    const go = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (go) {
      const rr = Math.min(p.rows - 1, Math.max(0, r + (this.at ? go[0] : 0))), kk = Math.min(p.cols - 1, Math.max(0, k + (this.at ? go[1] : 0)));
      this.stand(p, rr * p.cols + kk);
    } else if (event.key === "Home" || event.key === "End") {
      this.stand(p, r * p.cols + (event.key === "Home" ? 0 : p.cols - 1));
    } else if (event.key === "PageDown" || event.key === "PageUp") {
      this.stand(panels[(n + (event.key === "PageDown" ? 1 : panels.length - 1)) % panels.length], 0);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.at) { this.choose(p, c); this.spoken.textContent = this.found.value; }
    } else if (event.key === "Escape") { if (this.framed < 0) this.clear(); else this.frame(-1); }
    else if (event.key === "z") this.turn(p);
    else if (event.key === "+" || event.key === "=") this.view.zoom(1.25);
    else if (event.key === "-") this.view.zoom(0.8);
    else if (event.key === "0") this.frame(-1);
    else return;
    event.preventDefault();
  }

  stand(p, c) {
    this.show(p, c, true);
    this.bring(p, c);
  }

  bring(p, c) {
    this.view.reveal(p.x + (c % p.cols) * p.w, p.y + Math.floor(c / p.cols) * p.h, p.w, p.h);
  }
}

// The table of a panel, for those who cannot see it.
export function table(p) {
  const out = document.createElement("table"), head = out.createTHead().insertRow();
  out.createCaption().textContent = p.caption || `${p.down} by ${p.right}`;
  head.insertCell().textContent = `${p.down} \\ ${p.right}`;
  for (const label of p.colLabels) { const th = document.createElement("th"); th.scope = "col"; th.textContent = label; head.append(th); }
  const body = out.createTBody();
  for (let r = 0; r < p.rows; r++) {
    const row = body.insertRow(), th = document.createElement("th");
    th.scope = "row"; th.textContent = p.rowLabels[r]; row.append(th);
    for (let c = 0; c < p.cols; c++) row.insertCell().textContent = p.labels[r * p.cols + c];
  }
  return out;
}
