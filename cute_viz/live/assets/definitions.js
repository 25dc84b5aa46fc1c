// The definitions of a file: the list to pick from, its launches, and the marks beside their lines.
import { button, element } from "./panes.js";
import { state } from "./state.js";

const PLAIN = ["", "integer", "flag", "type", "other", "spec"];
export const drawable = (row) => !PLAIN.includes(row.kind || "") && !row.kind.startsWith("launch") || Boolean(row.error && row.needs?.length);

export class Definitions {
  // ask: a question to the engine. pick: a definition was chosen. launched: a launch was. listed: another list has come.
  constructor({ ask, pick, launched, listed }) {
    Object.assign(this, { ask, pick, listed, rows: [], known: "", shown: "", box: document.getElementById("objects"), launch: document.getElementById("launch") });
    this.box.querySelector("input").addEventListener("input", () => this.show());
    this.launch.addEventListener("change", () => launched(this.launch.value));
  }

  query(row) { return this.rows.filter((other) => other.path === row.path).length > 1 ? `${row.path}@${row.line}` : row.path; }

  // Whether the picture is that of a row; `shown` is the name that the engine gave it.
  current(row) { return state.name ? state.name === this.query(row) || state.name === row.path : this.shown === row.name; }

  // Ask for the list when it may be another one.
  async refresh({ options, name, ...question }, version) {
    const now = JSON.stringify([question, version]), several = state.source.trim().includes("\n");
    let compiled = several && this.compiled;
    if (several && now !== this.known) {
      const out = await this.ask({ ...question, ask: "objects" });
      if (!out) return;
      [this.known, this.rows, compiled] = [now, out.objects || [], Boolean(out.compiled)];
    } else if (!several) [this.known, this.rows] = ["", []];
    this.compiled = compiled;
    document.getElementById("compiled").hidden = !compiled;
    this.launches();
    this.show();
    this.listed();
  }

  // Which launch of a file's kernels is meant, where there are several.
  launches() {
    const found = this.rows.filter((row) => (row.kind || "").startsWith("launch "));
    this.launch.hidden = found.length < 2;
    this.launch.replaceChildren(new Option("all launches", ""), ...found.map((row) => {
      const n = row.kind.slice(7);
      return Object.assign(new Option(`${n}: ${row.caller || row.name}, line ${row.line}`, n), { title: row.value });
    }));
    this.launch.value = state.launch;
  }

  // The list, what can be drawn first.
  show() {
    const filter = this.box.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean);
    this.box.hidden = !this.rows.length;
    if (!this.rows.length) return;
    const good = this.rows.filter((row) => drawable(row) || row.kind === "spec"), others = this.rows.filter((row) => !good.includes(row));
    this.box.querySelector("summary").textContent = `${good.length} objects, ${others.length} other definitions`;
    if (this.rows.every((row) => row.kind === "spec")) this.box.open = true;
    const found = [...good, ...(filter.length ? others : [])].filter((row) => filter.every((word) => `${row.path} ${row.kind} ${row.brief || row.value}`.toLowerCase().includes(word)));
    const list = element("table");
    for (const row of found.slice(0, 200)) {
      const line = list.insertRow(), name = button(row.name || row.path, () => {}, { title: row.path, disabled: Boolean(row.error && !row.needs?.length) });
      line.addEventListener("click", () => name.disabled || this.pick(row));
      line.setAttribute("aria-current", this.current(row));
      line.insertCell().textContent = row.line;
      line.insertCell().append(name);
      Object.assign(line.insertCell(), { className: "value", textContent: row.error || `${row.kind || ""} ${row.brief || row.value || ""}` });
    }
    this.box.querySelector("div").replaceChildren(list);
  }

  // A mark for each object that can be drawn, on lines that have no other.
  marks(taken) {
    const out = [];
    for (const row of this.rows) {
      if (!drawable(row) || row.error || ["shape", "stride", "tuple"].includes(row.kind) || taken.has(row.line) || row.file) continue;
      taken.add(row.line);
      out.push({ line: row.line, words: "▦", kind: this.current(row) ? "object now" : "object", title: `draw ${row.path}`, act: () => this.pick(row) });
    }
    return out;
  }
}
