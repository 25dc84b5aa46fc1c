// Several texts, each with its state and its own history, as tabs of the header.
import { button, element } from "./panes.js";
import { BLANK, own, state } from "./state.js";

const KERNEL = /__global__(?:__launch_bounds__\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[^;({])*?\b(?!__launch_bounds__)(\w+)\s*\(|@cute\.(?:kernel|jit)\s+def (\w+)/;

export class Texts {
  // file: the name of the file that is followed. entered: another text is the one that is shown. blank: a new one was asked for.
  constructor({ editor, file, entered, blank }) {
    Object.assign(this, { editor, file, entered, blank, at: 0, born: 0, list: [{ id: 0, title: "", kept: null, state: null }], box: document.getElementById("texts") });
  }

  get now() { return this.list[this.at]; }

  get title() {
    if (state.file && this.file) return this.file;
    const several = state.source.includes("\n"), kernel = several && KERNEL.exec(state.source);
    const line = state.source.split("\n").find((words) => words.trim() && !/^\s*(?:\/\/|#|\/\*|using namespace|import |from )/.test(words)) || "";
    return (several && this.now.file) || kernel?.[1] || kernel?.[2] || line.trim().slice(0, 24) || "new";
  }

  hold() { Object.assign(this.now, { kept: { ...state }, state: this.editor.state, title: this.title }); }

  enter(n) {
    this.at = n;
    Object.assign(state, BLANK, this.now.kept);
    this.editor.state = this.now.state || this.editor.fresh(state.source, own());
  }

  open(kept, name = "") {
    this.hold();
    this.list.push({ id: ++this.born, title: "", kept, state: null, file: name });
    this.turn(this.list.length - 1, false);
  }

  turn(n, hold = true) {
    if (hold) this.hold();
    this.enter(n);
    this.entered();
  }

  // The text of a step that Back leads to, opened anew where it was closed; whether it is another one.
  back(id) {
    if (this.now.id === id) return false;
    this.hold();
    if (!this.list.some((one) => one.id === id)) this.list.push({ id, title: "", kept: { ...BLANK }, state: null });
    this.enter(this.list.findIndex((one) => one.id === id));
    return true;
  }

  drop(n) {
    this.list.splice(n, 1);
    if (n === this.at) this.turn(Math.max(0, n - 1), false);
    else { this.at -= n < this.at ? 1 : 0; this.show(); }
  }

  show() {
    this.now.title = this.title;
    this.box.replaceChildren(...this.list.map((one, n) => {
      const box = element("span", null, { className: n === this.at ? "text now" : "text" }, button(one.title, () => { if (n !== this.at) this.turn(n); }));
      if (this.list.length > 1) box.append(button("×", () => this.drop(n), { ariaLabel: "close this text" }));
      return box;
    }), button("+", () => { this.open({ ...BLANK }); this.blank(); }, { ariaLabel: "another text" }));
  }
}
