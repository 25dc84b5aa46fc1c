// What is wrong with a text, where, and its hint as one click: not while one still types.
import { button, element } from "./panes.js";

const PAUSE = 650; // ms without a key, after which a mistake is told

export class Faults {
  // picture: what is stale as long as something is wrong. fix: carries out what a hint proposes. write: another text. examples: those that have words, open: one of them.
  constructor({ editor, picture, fix, write, examples, open }) {
    Object.assign(this, { editor, picture, fix, write, examples, open, telling: 0, box: document.getElementById("error") });
  }

  tell(error, typed = false) {
    clearTimeout(this.telling);
    if (error && typed) { this.telling = setTimeout(() => this.tell(error), PAUSE); return; }
    this.editor.mark(error?.span || null);
    this.picture.classList.toggle("stale", Boolean(error && this.picture.querySelector("svg")));
    this.box.replaceChildren(...(error ? this.parts(error, this.editor.text) : []));
  }

  parts(error, source) {
    const out = [element("span", error.message)];
    const hint = (error.hint || (error.fix && "change it") || "").replace(/;? ?'cute-viz list [^']*' \w+ \w+$/, "");
    if (error.span && source) out[0].title = `characters ${error.span[0] + 1} to ${error.span[1]}`;
    const named = /instructions.* for example ([^;]+)/.exec(`${error.message} ${hint}`)?.[1].split(", ") || [];
    const choices = [...new Set([...named, ...[...hint.matchAll(/\b(?:GMMA::[\w:<>]+\{\}|Sw<[\d,]+>)/g)].map((match) => match[0])])];
    if (hint && error.fix) out.push(element("br"), button(hint, () => this.fix(error.fix), { className: "fix", title: error.fix.text ? `write ${error.fix.text}` : "" }));
    else if (hint) out.push(element("span", hint, { className: "hint" }));
    if (choices.length && !source.includes("\n") && error.fix?.text !== choices[0]) {
      out.push(element("br"), ...choices.map((choice) => button(choice, () => this.write(choice), { className: "fix" })));
    }
    const examples = /^[A-Za-z][\w .-]{2,40}$/.test(source.trim()) ? this.examples(source).slice(0, 4) : [];
    if (examples.length) out.push(element("br"), "Examples: ", ...examples.map((one) => button(one.title, () => this.open(one), { className: "fix" })));
    return out;
  }
}
