// The editor: CodeMirror, with one history for typing, sliders, examples, fixes and options; marks beside lines; an edit at its place.
import {
  EditorState, Compartment, StateField, StateEffect, RangeSet, Transaction, EditorView, keymap, lineNumbers, gutter, GutterMarker, Decoration,
  WidgetType, hoverTooltip, drawSelection, history, historyKeymap, defaultKeymap, invertedEffects, isolateHistory, StreamLanguage, syntaxHighlighting,
  bracketMatching, indentUnit, autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap, searchKeymap, search,
  classHighlighter, cpp, python,
} from "./codemirror.js";

const wrong = StateEffect.define(), beside = StateEffect.define(), lit = StateEffect.define(), shown = StateEffect.define(), folded = StateEffect.define(), opened = StateEffect.define();
const PYTHON = /^\s*(?:import |from \w+(?:\.\w+)* import|def |@cute\.)|\bcute\.\w+\(/m;
const LANGUAGES = { cpp: StreamLanguage.define(cpp), python: StreamLanguage.define(python) };

// A set of decorations that an effect replaces, and that an edit moves.
const decorated = (effect, make) => StateField.define({
  create: () => Decoration.none,
  update(set, transaction) {
    let out = set.map(transaction.changes);
    for (const one of transaction.effects) if (one.is(effect)) out = one.value === null ? Decoration.none : make(one.value, transaction.state);
    return out;
  },
  provide: (field) => EditorView.decorations.from(field),
});
const inside = (state, [start, end]) => {
  const from = Math.min(start, state.doc.length), to = Math.min(Math.max(end, start + 1), state.doc.length);
  return from < to ? [from, to] : [Math.max(0, to - 1), to];
};
const wrongs = decorated(wrong, (span, state) => {
  const [from, to] = inside(state, span);
  return from < to ? Decoration.set([Decoration.mark({ class: "wrong" }).range(from, to)]) : Decoration.none;
});
const lits = decorated(lit, (line, state) => {
  const found = line <= state.doc.lines ? state.doc.line(line) : null;
  return found ? Decoration.set([Decoration.line({ class: "lit" }).range(found.from)]) : Decoration.none;
});

class Shown extends WidgetType {
  constructor(element) { super(); this.element = element; }
  eq(other) { return other.element === this.element; }
  toDOM() { // its place in the text is as high as its box: a margin would lie outside
    const out = document.createElement("div");
    out.className = "shown";
    out.append(this.element);
    return out;
  }
  ignoreEvent() { return true; }
}
const showns = decorated(shown, ({ at, element }, state) => {
  const line = state.doc.lineAt(Math.min(at, state.doc.length));
  return Decoration.set([Decoration.widget({ widget: new Shown(element), block: true, side: 1 }).range(line.to)]);
});

class Fold extends WidgetType {
  constructor(lines) { super(); this.lines = lines; }
  eq(other) { return String(other.lines) === String(this.lines); }
  toDOM(view) {
    const out = document.createElement("button");
    Object.assign(out, { type: "button", className: "fold", textContent: this.lines.join("–"), title: "show these lines", tabIndex: -1 });
    out.addEventListener("click", () => view.dispatch({ effects: opened.of(view.posAtDOM(out)) }));
    return out;
  }
}
const folds = StateField.define({
  create: () => Decoration.none,
  update(set, transaction) {
    const { doc } = transaction.state;
    let out = set.map(transaction.changes);
    for (const one of transaction.effects) {
      if (one.is(folded)) out = Decoration.set(one.value.map((lines) => Decoration.replace({ widget: new Fold(lines), block: true }).range(doc.line(lines[0]).from, doc.line(lines[1]).to)));
      if (one.is(opened)) out = out.update({ filter: (from, to) => one.value < from || one.value > to });
    }
    return out;
  },
  provide: (field) => EditorView.decorations.from(field),
});

class Mark extends GutterMarker {
  constructor(mark) { super(); this.mark = mark; }
  eq(other) { return other.mark.words === this.mark.words && other.mark.kind === this.mark.kind; }
  toDOM() {
    const out = document.createElement("button");
    Object.assign(out, { type: "button", className: `mark ${this.mark.kind}`, textContent: this.mark.words, title: this.mark.title, tabIndex: -1 });
    out.addEventListener("click", () => this.mark.act());
    if (this.mark.more) out.append(Object.assign(document.createElement("i"), { textContent: this.mark.more }));
    return out;
  }
}
const marks = StateField.define({
  create: () => RangeSet.empty,
  update(set, transaction) {
    let out = set.map(transaction.changes);
    for (const one of transaction.effects) {
      if (one.is(beside)) {
        const known = one.value.filter(({ line }) => line > 0 && line <= transaction.state.doc.lines);
        out = RangeSet.of(known.map((mark) => new Mark(mark).range(transaction.state.doc.line(mark.line).from)), true);
      }
    }
    return out;
  },
});

// What belongs to the text beside it, such as options: undone and redone with it.
const own = StateEffect.define();
const owns = StateField.define({
  create: () => null,
  update: (value, transaction) => transaction.effects.reduce((now, one) => (one.is(own) ? one.value : now), value),
});
const before = invertedEffects.of(({ startState, effects }) => (effects.some((one) => one.is(own)) ? [own.of(startState.field(owns))] : []));

export class Editor {
  // changing: called before every change is seen, with the text and what else is other than it was, if it is: what is asked then costs no
  // wait for the editor. changed: called behind it, with whether it was typed, and with the same. another: gives what belongs to a text of which nothing was there before. complete, hover: what CodeMirror asks. suggest: what Tab writes into an empty editor.
  constructor(parent, { changing, changed, another, complete, hover, suggest }) {
    [this.language, this.wrap] = [new Compartment(), new Compartment()];
    const anew = EditorState.transactionExtender.of((transaction) => {
      let kept = false; // anything of the old text
      transaction.changes.iterGaps(() => { kept = true; });
      const mine = transaction.docChanged && !kept && (transaction.isUserEvent("input") || transaction.isUserEvent("delete"));
      return mine ? { effects: own.of(another()) } : null;
    });
    const tab = { key: "Tab", run: (view) => view.state.doc.length === 0 && suggest() };
    const leave = { key: "Escape", run: () => { document.getElementById("picture").focus(); return true; } };
    this.extensions = [
      history(), owns, before, anew, drawSelection(), lineNumbers(), bracketMatching(), closeBrackets(), indentUnit.of("  "), this.wrap.of(EditorView.lineWrapping),
      syntaxHighlighting(classHighlighter), this.language.of(LANGUAGES.cpp), search({ top: true }), wrongs, lits, showns, folds, marks,
      gutter({ class: "marks", markers: (view) => view.state.field(marks) }),
      autocompletion({ override: [complete], icons: false }), hoverTooltip(hover, { hoverTime: 250 }),
      keymap.of([tab, ...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, leave, ...defaultKeymap]),
      EditorView.contentAttributes.of({ id: "source", "aria-label": "source", "aria-describedby": "error", spellcheck: "false" }),
    ];
    this.view = new EditorView({ parent, state: this.fresh(""), dispatchTransactions: (steps, view) => {
      const next = steps.at(-1).state, mine = next.field(owns) === view.state.field(owns) ? null : next.field(owns);
      const told = !this.quiet && (mine || steps.some((one) => one.docChanged));
      if (told) changing(next.doc.toString(), mine);
      view.update(steps);
      parent.classList.toggle("empty", next.doc.length === 0);
      if (!told) return;
      changed(steps.some((one) => one.isUserEvent("input") || one.isUserEvent("delete")), mine);
      this.suit();
    } });
    const editor = this; // scripts may read and set it as they would a text area
    Object.defineProperty(this.view.contentDOM, "value", { get: () => editor.text, set(words) { editor.text = words; } });
  }

  fresh(doc, what) { return EditorState.create({ doc, extensions: [owns.init(() => what), ...this.extensions] }); }

  get text() { return this.view.state.doc.toString(); }

  // Another text, which changes no more than it must, and what belongs to it, as one step of the history.
  set text(words) { this.step(words); }
  step(words, what, annotations = isolateHistory.of("full")) {
    const old = this.text, other = what && JSON.stringify(what) !== JSON.stringify(this.state.field(owns));
    if (old === words && !other) return;
    let start = 0, end = 0;
    const most = Math.min(old.length, words.length);
    while (start < most && old[start] === words[start]) start++;
    while (end < most - start && old[old.length - 1 - end] === words[words.length - 1 - end]) end++;
    const changes = { from: start, to: old.length - end, insert: words.slice(start, words.length - end) };
    this.view.dispatch({ ...(old === words ? {} : { changes }), effects: other ? own.of(what) : [], annotations, userEvent: "set" });
  }

  // The same, without telling anybody: what is shown is told by who sets it. Where only what belongs to it is given, of no step of its own, `lasting` is false.
  take(words, what, lasting = true) {
    this.quiet = true;
    this.step(words, what, lasting ? isolateHistory.of("full") : Transaction.addToHistory.of(false));
    this.quiet = false;
    this.suit();
  }

  // The language of the text, and whether its lines fold: those of a kernel do not.
  suit() {
    const several = this.view.state.doc.lines > 3, language = LANGUAGES[PYTHON.test(this.text) ? "python" : "cpp"];
    this.view.dom.parentElement.classList.toggle("several", several);
    if (this.suits === `${several} ${language.name}`) return;
    this.suits = `${several} ${language.name}`;
    this.view.dispatch({ effects: [this.language.reconfigure(language), this.wrap.reconfigure(several ? [] : EditorView.lineWrapping)] });
  }

  // A text of its own, with its history: what another tab of texts holds.
  get state() { return this.view.state; }
  set state(state) { this.view.setState(state); this.suits = this.said = ""; this.wrong = true; this.suit(); }

  put(span, words) { this.change([{ span, text: words }]); }

  // Several edits as one step of the history; `turning`: those of a slider or a field, true where they go on with the last ones.
  change(edits, focus = true, turning = null) {
    const changes = edits.map(({ span: [from, to], text }) => ({ from, to, insert: text }));
    const userEvent = turning === null ? "set" : `input.type.compose${turning ? "" : ".start"}`, annotations = turning ? [] : isolateHistory.of("before");
    this.view.dispatch({ changes, scrollIntoView: focus && edits.length === 1, userEvent, annotations });
    if (focus) this.view.focus();
  }

  // Underline [start, end); null for nothing.
  mark(span) {
    if (!span && !this.wrong) return; // telling the editor costs a layout of the page
    this.wrong = span;
    this.view.dispatch({ effects: wrong.of(span) });
    this.view.contentDOM.toggleAttribute("aria-invalid", Boolean(span));
  }

  marks(list) {
    const said = list.map(({ line, words, kind }) => `${line} ${words} ${kind}`).join("\n");
    if (said === this.said && !list.length) return;
    this.said = said;
    this.view.dispatch({ effects: beside.of(list) });
  }

  // What brings a place into sight.
  sight(at, where = { y: "center" }) { return [opened.of(at), EditorView.scrollIntoView(at, where)]; }

  // Fold what is far from all of some lines.
  fold(lines, around = 1, least = 3) {
    const last = this.view.state.doc.lines, out = [];
    let from = 1;
    for (const line of [...lines.sort((a, b) => a - b), last + around + 1]) {
      if (line - around - from >= least) out.push([from, Math.min(last, line - around - 1)]);
      from = line + around + 1;
    }
    this.view.dispatch({ effects: folded.of(out) });
  }

  // Light a line, and bring it into sight; 0 for none.
  light(line, reveal = true) {
    const effects = [lit.of(line || null)];
    if (line && reveal && line <= this.view.state.doc.lines) effects.push(...this.sight(this.view.state.doc.line(line).from));
    this.view.dispatch({ effects });
  }

  // An element below the line of an offset; null takes it away.
  show(at, element) {
    const effects = [shown.of(element && { at, element })];
    if (element) effects.push(...this.sight(this.view.state.doc.lineAt(at).from, { y: "end", yMargin: 160 })); // what is above it is seen, too
    this.view.dispatch({ effects });
    if (element) requestAnimationFrame(() => element.scrollIntoView({ block: "nearest" })); // all of it, which may be higher
  }

  focus() { this.view.focus(); }
}
