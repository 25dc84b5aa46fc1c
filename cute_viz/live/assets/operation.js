// The operation that the source calls, as a form: which one, and a field for each operand. It writes the text that one would type.
import { element } from "./panes.js";

const STATEMENTS = /[\n;=]/;
const CALL = /^\s*(?:cute(?:::|\.))?([A-Za-z_]\w*)(?:<[^()]*>)?\(/;
const kind = (words) => (/^\d+$/.test(words) ? "number" : /[(:]/.test(words) ? "layout" : "name");

// The call that a text is, perhaps not yet closed: its name, its operands, and where these stand; null of any other text.
export function called(text) {
  const begin = CALL.exec(text), operands = [""];
  if (!begin || STATEMENTS.test(text)) return null;
  let depth = 0, at = begin[0].length;
  for (; at < text.length && (depth || text[at] !== ")"); at++) {
    depth += "([{<".includes(text[at]) - ")]}>".includes(text[at]);
    if (text[at] === "," && !depth) operands.push(""); else operands[operands.length - 1] += text[at];
  }
  return text.slice(at + 1).trim() ? null : { name: begin[1], operands: operands.map((one) => one.trim()), from: begin[0].length, to: at };
}

export class Operation {
  // operations: [name, signature, summary, example] of each. write: another text as a step of the history, with its own options.
  constructor({ box, editor, operations, write }) {
    Object.assign(this, { box, editor, write, known: new Map(operations.map((one) => [one[0], one])), inputs: [] });
    this.pick = element("select", null, { id: "operation" }, new Option("none", ""), ...operations.map(([name]) => new Option(name)));
    this.pick.addEventListener("change", () => this.choose());
    this.means = element("span", null, { className: "soft" });
    box.replaceChildren(element("label", "Operation ", {}, this.pick), this.means);
  }

  // The names of its operands, of the last of which there may be several.
  names(name, many = 0) {
    const [, signature] = this.known.get(name), names = signature.slice(name.length + 1, -1).split(", ");
    while (names.length < many) names.push(names.at(-1));
    return names;
  }

  // Another operation: a text that calls none is its first operand; operands of the same name and kind stay, and the rest are those of its example.
  choose() {
    const text = this.editor.text.trim(), now = called(text), name = this.pick.value, had = new Map();
    if (!name) { this.write(now.operands[0]); return; }
    const names = this.names(name), example = this.known.get(name)[3], like = called(example);
    if (this.known.has(now?.name)) this.names(now.name, now.operands.length).forEach((one, n) => had.set(one, now.operands[n]));
    else had.set(names[0], text);
    const operands = like.operands.map((one, n) => { const mine = had.get(names[n]); return mine && kind(mine) === kind(one) ? mine : one; });
    this.write(`${example.slice(0, like.from)}${operands.join(", ")})`);
  }

  // The text into the form, unless it came from there: an operand that is not yet closed takes in those behind it.
  show(text) {
    if (text === this.wrote) return;
    this.wrote = null;
    const now = called(text), row = this.known.get(now?.name);
    this.box.hidden = STATEMENTS.test(text.trim());
    this.pick.value = row ? now.name : "";
    this.means.textContent = row?.[2] ?? "";
    const names = row ? this.names(now.name, now.operands.length) : [];
    if (this.said !== names.join()) this.build(names);
    this.said = names.join();
    this.inputs.forEach((input, n) => { if (document.activeElement !== input) input.value = now.operands[n] ?? ""; });
  }

  build(names) {
    this.inputs = names.map((name) => {
      const input = element("input", null, { className: "operand", autocomplete: "off", spellcheck: false });
      let typing = false;
      input.addEventListener("input", () => {
        const text = this.editor.text, { from, to } = called(text), words = this.inputs.map((one) => one.value.trim());
        while (words.length > 1 && !words.at(-1)) words.pop();
        const now = words.join(", ") + (to < text.length ? "" : ")");
        this.wrote = text.slice(0, from) + now + text.slice(to);
        this.editor.change([{ span: [from, to], text: now }], false, typing); // one step of the history
        typing = true;
      });
      input.addEventListener("change", () => { typing = false; });
      return input;
    });
    for (const label of this.box.querySelectorAll("label:has(.operand)")) label.remove();
    this.box.append(...names.map((name, n) => element("label", `${name} `, {}, this.inputs[n])));
  }
}
