// The report of a kernel: marks beside the lines, a row for each access that costs more than it must, its fix as a diff at its place.
import { button, element } from "./panes.js";

const number = (n) => n.toLocaleString("en-US");
const bits = (instruction) => /\.(\d+)$/.exec(instruction)?.[1];

export class Report {
  // ask: a question to the engine. open: show a row's access. told: another report has come. proposed: an edit is shown in the text.
  constructor({ ask, editor, open, told, proposed, values }) {
    Object.assign(this, { ask, editor, open, told, proposed, values, out: null, applied: [] });
  }

  // Ask anew; null of a text without copies.
  async refresh(wanted) {
    this.counting = wanted && !this.out;
    for (const quick of wanted ? [true, false] : [null]) { // the marks first, the fixes as soon as they are found
      const out = quick === null ? { accesses: null } : await this.ask({ ask: "report", quick }, "report");
      if (!out) return;
      if (quick && this.out && !this.quick && this.worse.some((row) => row.fix)) continue; // the fixes of a moment ago stay until others come
      this.out = out.accesses ? out : null;
      [this.counting, this.found, this.quick] = [false, this.quick && !quick, quick];
      const said = JSON.stringify(out);
      if (said === this.said) continue; // what one may be clicking on stays
      this.said = said;
      this.told(this.out);
    }
  }

  // The sizes that were taken for granted, as lines of values.
  get sizes() { return Object.entries(this.out?.assumed || {}).map(([name, { value }]) => `${name}=${value}`); }

  get worse() { return (this.out?.accesses || []).filter((row) => row.lost > 0); }

  // For each line the mark of its worst access.
  marks() {
    const lines = new Map();
    for (const row of this.out?.accesses || []) {
      if (row.file) continue;
      const known = lines.get(row.line);
      if (!known || row.lost > known.lost) lines.set(row.line, row);
    }
    const out = [...lines.values()].map((row) => ({
      line: row.line, words: row.ratio, more: bits(row.instruction) ? `${bits(row.instruction)}b` : "", kind: row.lost > 0 ? "bad" : "good",
      title: `${row.instruction}: ${cost(row)}`, act: () => this.open(this.out?.accesses.find((one) => one.id === row.id)),
    }));
    for (const row of this.out?.unknown || []) {
      if (!row.file && !lines.has(row.line)) out.push({ line: row.line, words: "?", kind: "unknown", title: row.error, act: () => this.open(null) });
    }
    return out;
  }

  show(box) {
    this.box = box;
    const out = this.out;
    if (!out) {
      const needed = "A report needs a kernel with copy or gemm statements: paste one, drop a file, or open the example.";
      box.replaceChildren(element("p", this.counting ? "Counting what each copy costs …" : needed, { className: "soft" }));
      return;
    }
    const head = element("p", null, { className: "report-head" }, element("b", "Report"), ` ${out.summary}`);
    const rows = this.worse.map((row) => this.row(row));
    const good = out.accesses.filter((row) => row.lost <= 0);
    const lines = [...new Map(good.map((row) => [row.place, row])).values()];
    const ideal = element("p", `${good.length} ${rows.length ? "more " : ""}access${good.length === 1 ? " is" : "es are"} ideal: line `, { className: "ideal" },
      ...lines.flatMap((row, n) => [n ? " " : "", button(row.place, () => this.open(row), { className: "line" })]));
    const parts = [head, ...this.applied.length ? [this.reverting()] : [], ...rows, ...(good.length ? [ideal] : []), ...this.missing(out.unknown)];
    for (const note of out.notes || []) parts.push(element("p", note, { className: "soft" }));
    box.replaceChildren(...parts);
    this.chosen(this.at);
  }

  row(row) {
    const line = button(row.place, () => this.open(row), { className: "line" });
    const [unit, now, ideal] = counted(row);
    const bar = element("meter", null, { min: 0, max: now || 1, value: ideal, title: cost(row) });
    bar.setAttribute("aria-label", cost(row));
    const fix = row.fix ? button(row.fix.what, () => this.propose(row), { className: "fix", title: "show the edit" })
      : element("span", row.accepted ? "as good as it gets" : row.unfixed || "", { className: "soft" });
    const out = element("div", null, { className: "access" }, line,
      element("div", null, { className: "what" }, element("code", row.statement), element("br"), element("span", row.why.replace(/: .*/, "."), { className: "soft", title: row.why })),
      element("code", row.instruction), element("div", null, { className: "count", title: unit }, element("b", number(now)), ` / ${number(ideal)}`, element("br"), bar), fix);
    out.dataset.id = row.id;
    out.addEventListener("click", (event) => { if (!event.target.closest("button")) this.open(row); });
    return out;
  }

  missing(unknown) {
    const causes = new Map();
    for (const row of unknown) causes.set(row.error, [...(causes.get(row.error) || []), row]);
    return [...causes].map(([error, rows]) => {
      const lines = [...new Set(rows.map((row) => row.line))], needs = [...new Set(rows.flatMap((row) => row.needs))];
      return element("p", `Not evaluated, line ${lines.slice(0, 12).join(", ")}${lines.length > 12 ? " and more" : ""}: ${error} `, { className: "soft" },
        ...(needs.length ? [button(`Give ${needs[0]} a value`, () => this.values([`${needs[0]}=`]), { className: "link" })] : []));
    });
  }

  // Light the row that is shown.
  chosen(row) {
    this.at = row;
    for (const one of this.box?.querySelectorAll(".access") || []) one.setAttribute("aria-current", Boolean(row) && one.dataset.id === String(row.id));
    const current = this.box?.querySelector("[aria-current=true]");
    if (current && this.box.clientHeight) this.box.scrollTop = Math.max(0, current.offsetTop - this.box.clientHeight / 2);
  }

  // The edit at its place.
  propose(row) {
    const { spans } = row.fix, box = this.diff(row, button("Close", () => this.editor.show(0, null)));
    if (spans.length) { this.editor.show(spans[0].span[1], box); this.proposed(); }
    else this.box.querySelector(`[data-id="${row.id}"]`)?.after(box);
  }

  // The lines of an edit, before and after, with what it does.
  diff(row, ...more) {
    const { fix } = row, { spans } = fix, found = this.worse.filter((one) => one.fix?.spans.length);
    const every = [...new Map(found.flatMap((one) => one.fix.spans).map((edit) => [`${edit.span} ${edit.text}`, edit])).values()];
    const lines = fix.edits.flatMap(({ file, line, old, new: changed }) => {
      let start = 0, end = 0;
      while (start < old.length && old[start] === changed[start]) start++;
      while (end < Math.min(old.length, changed.length) - start && old.at(-1 - end) === changed.at(-1 - end)) end++;
      const shown = (sign, text, name) => element("pre", `${file ? `${file}:` : ""}${line} ${sign} ${text.slice(0, start)}`, { className: name },
        element("b", text.slice(start, text.length - end)), text.slice(text.length - end));
      return [shown("−", old, "minus"), shown("+", changed, "plus")];
    });
    const words = [`Line ${row.place}: ${number(row.wavefronts ?? row.instructions)} → ${number(fix.left ?? fix.wavefronts)} ${row.wavefronts === null ? "instructions" : "wavefronts"}.`];
    if (fix.bytes) words.push(`The buffer grows by ${number(fix.bytes)} bytes.`);
    if (fix.unless.length) words.push(`Holds where line ${fix.unless.join(", ")} follows the edit.`);
    return element("div", null, { className: "diff" }, ...lines, element("div", null, { className: "row" }, element("span", words.join(" "), { className: "grow" }),
      ...(spans.length ? [button("Apply", () => this.apply(row.fix.what, spans), { className: "main" })] : []),
      ...(every.length > spans.length && spans.length ? [button("Apply all", () => this.apply("all fixes", every), { title: `the edits of ${found.length} fixes` })] : []), ...more));
  }

  apply(what, edits) {
    const before = this.editor.text;
    this.editor.show(0, null);
    this.editor.change(edits, false);
    this.applied.push({ what, before, after: this.editor.text });
  }

  // What was applied, and the way back: where the text was edited since, undo is.
  reverting() {
    const last = this.applied.at(-1);
    return element("p", `Applied: ${last.what}. `, { className: "applied" }, button("Revert", () => {
      this.applied.pop();
      if (this.editor.text === last.after) this.editor.text = last.before;
      else { this.editor.focus(); this.show(this.box); }
    }, { title: "once the text was edited, undo takes it back" }));
  }
}

// What an access costs and at least must, in the unit in which it costs too much, else in that of its memory.
function counted(row) {
  const units = [["wavefronts", row.wavefronts, row.ideal], ["sectors", row.sectors, row.ideal_sectors], ["instructions", row.instructions, row.fewest_instructions ?? row.instructions]].filter(([, now]) => now !== null);
  return units.find(([, now, ideal]) => now > ideal) || units[0];
}

export function cost(row) {
  const [unit, now, ideal] = counted(row);
  return unit === "instructions" && now === ideal ? `${number(now)} instructions` : `${number(now)} ${unit}, ${number(ideal)} are ideal`;
}
