// The page: what is typed goes to the engine, what comes back is shown, and the address always holds the state.
import { Compare } from "./compare.js";
import { Editor } from "./editor.js";
import { engine as connect } from "./engine.js";
import { Explorer, table } from "./explore.js";
import { First } from "./first.js";
import { fields as turn } from "./knobs.js";
import { Panes, button, element, picture } from "./panes.js";
import { Report } from "./report.js";
import { copyAs, save } from "./share.js";
import { pack, unpack } from "./state.js";
import { words } from "./words.js";

const by = (id) => document.getElementById(id);
const settings = JSON.parse(by("settings").textContent);
const BLANK = { source: "", options: {}, let: "", name: "", launch: "", file: false, tab: "", by: "", find: "", zoom: 0, access: "", against: "", named: "" };
const state = { ...BLANK };
if (location.search) history.replaceState(null, "", location.pathname + location.hash); // the token is in a cookie by now
const WRITES = [80, 30000]; // so often in so many ms is the address written at once: browsers refuse much more than that
const PAUSE = 650; // ms without a key, after which a mistake is told
const BOTH = 20; // lines of the editor in sight: an access and its fix, which is shown unasked
const HELD = 50; // texts whose options are kept for undo
const LATER = 350; // ms after which the report is asked for anew
const MOVES = /\b(?:copy|copy_if|copy_aligned|cooperative_copy|axpby|gemm)\s*\(/;

const narrow = matchMedia("(max-width: 820px)"); // where a picture is laid out for the window

const said = (text) => { by("status").textContent = text; };
const engine = connect(settings, said);
const ask = (question, channel) => engine.ask({ ...asked(), ...question }, channel);
const explorer = new Explorer();
let rows = []; // the definitions of a file
const first = new First({ settings, draw: (question, channel) => engine.ask({ ask: "draw", ...question, options: { ...question.options, bare: true, theme: theme() } }, channel), open: example });
const editor = new Editor(by("editor"), {
  ...words({ settings, rows: () => rows, ask }),
  suggest: () => { example(first.suggestion); return true; },
  changed: (typed, anew, undone) => {
    const other = typed && anew;
    if (other || had.has(state.source)) keep();
    Object.assign(state, { source: editor.text, file: false });
    if (other) another();
    else if (undone && had.has(state.source)) restore();
    changed(typed);
  },
});
const report = new Report({ ask, editor, open: access, told: reported, proposed: () => { if (narrow.matches) panes.open("source"); }, values: (lines) => give(lines) });
const compare = new Compare({ ask, others, changed: () => { state.against = compare.against; state.named = compare.named; address(); } });
const panes = new Panes({
  ask, explorer, report, compare,
  apply: (source) => editor.put([0, editor.text.length], source),
  moved: () => address(),
  changed: (tab) => { state.tab = tab === "picture" ? "" : tab; address(); if (tab === "source") editor.focus(); },
});

// The question that the state is.
function asked() {
  const values = {};
  for (const line of state.let.split(/[\n;]/)) {
    const at = line.indexOf("=");
    if (at > 0) values[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  const source = state.file && settings.engine === "server" ? { file: true } : { source: state.source };
  return { ...source, options: state.options, let: values, name: state.name || null, launch: state.launch };
}

const writes = [];
let waiting = 0, newest = 0, step = false, loading = false;
// The state into the address; a step is one that the browser's Back undoes.
async function address() {
  clearTimeout(waiting);
  if (loading) return;
  const now = performance.now(), mine = ++newest;
  while (writes.length && writes[0] < now - WRITES[1]) writes.shift();
  if (writes.length >= WRITES[0]) { waiting = setTimeout(address, 500); return; }
  const kept = { ...state, ...(state.file ? { source: "" } : {}), ...panes.places(), by: explorer.picked, find: explorer.find.value, zoom: explorer.view.free ? +explorer.view.scale.toFixed(3) : 0 };
  const fragment = `#${await pack(kept)}`;
  if (mine !== newest) return;
  const way = step ? "pushState" : "replaceState";
  step = false;
  if (fragment === location.hash) return;
  writes.push(now);
  history[way]({ text: texts[at].id }, "", fragment);
}
explorer.find.addEventListener("change", () => address());
by("picture").addEventListener("wheel", () => { clearTimeout(waiting); waiting = setTimeout(address, 600); }, { passive: true });

// What texts had that others replaced: the history gives it back with them.
const had = new Map();
function keep() {
  const { options, let: values, name, launch } = state;
  had.delete(state.source);
  had.set(state.source, { own: { options: { ...options }, let: values, name, launch }, lent });
  if (had.size > HELD) had.delete(had.keys().next().value);
}
function restore() {
  const { own, lent: ours } = had.get(state.source);
  Object.assign(state, own, { options: { ...own.options } });
  lent = ours;
  fill();
}

// Another text: what the example before it had, and what the old text alone has, does not apply to it.
let lent = {};
function another() {
  state.options = Object.fromEntries(Object.entries(state.options).filter(([name, value]) => lent[name] !== value));
  Object.assign(state, { name: "", launch: "" });
  lent = {};
  for (const input of document.querySelectorAll("#options [name]")) if (!(input.name in state.options)) input.type === "checkbox" ? (input.checked = false) : (input.value = "");
}

function changed(typed = false) {
  fresh = false;
  if (editor.text) first.hide();
  else if (typed && !settings.file) first.show();
  report.chosen(null);
  state.access = "";
  return draw(typed); // which writes the address, once what was asked for is there: it takes as long as a small picture
}

let asking = 0;
async function draw(typed = false) {
  const since = performance.now();
  turn(by("sliders"), editor);
  subject();
  clearTimeout(asking);
  asking = setTimeout(() => { list(); report.refresh(state.source.includes("\n") && MOVES.test(state.source)); }, typed ? LATER : 0);
  if (!state.source.trim() && !state.file) { fault(null); address(); return; }
  const question = asked();
  if (narrow.matches && !question.options.width) question.options = { ...question.options, width: Math.max(300, by("picture").clientWidth - 8) };
  const out = await engine.ask(state.access ? { ...question, ask: "access", access: state.access } : { ask: "draw", ...question });
  if (!out) return;
  fault(out.error, typed);
  if (!out.svg) { address(); return; }
  take(out);
  document.body.dataset.ms = (performance.now() - since).toFixed(1);
  document.body.dataset.drawn = state.file ? "file" : state.source;
}

// A picture into the page.
function take(out) {
  const svg = picture(out.svg);
  explorer.take(svg, out.panels, out.formula || null); // before it stands in the page, so that it is laid out once
  by("picture").replaceChildren(svg);
  setTimeout(address); // once the picture stands there
  if (texts[at].title !== title()) strip();
  by("picture").classList.remove("stale");
  by("picture").setAttribute("aria-label", out.description);
  document.title = `${out.title} · cute-viz`;
  if (out.uses) fields(out.uses);
  tables(out.panels);
  shown = out.name || "";
  marks();
  arrive();
  panes.refresh(out);
}
let shown = "";

function tables(panels) {
  by("tables").replaceChildren(...panels.map((p) => {
    const box = document.createElement("details"), head = document.createElement("summary");
    head.textContent = `Table: ${p.caption || `${p.down} by ${p.right}`}`;
    box.append(head);
    box.addEventListener("toggle", () => { if (p.labels.length) box.append(table(p)); }, { once: true });
    return box;
  }));
}

// What is wrong, where, and the hint as one click: not while one still types.
let telling = 0;
function fault(error, typed = false) {
  clearTimeout(telling);
  if (error && typed) { telling = setTimeout(() => fault(error), PAUSE); return; }
  const box = by("error");
  editor.mark(error?.span || null);
  by("picture").classList.toggle("stale", Boolean(error && by("picture").querySelector("svg")));
  if (!error) { box.replaceChildren(); return; }
  const parts = [element("span", error.message)];
  const hint = (error.hint || (error.fix && "change it") || "").replace(/;? ?'cute-viz list [^']*' \w+ \w+$/, "");
  if (error.span && state.source) parts[0].title = `characters ${error.span[0] + 1} to ${error.span[1]}`;
  const named = /instructions.* for example ([^;]+)/.exec(`${error.message} ${hint}`)?.[1].split(", ") || [];
  const choices = [...new Set([...named, ...[...hint.matchAll(/\b(?:GMMA::[\w:<>]+\{\}|Sw<[\d,]+>)/g)].map((match) => match[0])])];
  if (hint && error.fix) parts.push(element("br"), button(hint, () => fix(error.fix), { className: "fix", title: error.fix.text ? `write ${error.fix.text}` : "" }));
  else if (hint) parts.push(element("span", hint, { className: "hint" }));
  if (choices.length && !state.source.includes("\n") && error.fix?.text !== choices[0]) {
    parts.push(element("br"), ...choices.map((choice) => button(choice, () => editor.put([0, editor.text.length], choice), { className: "fix" })));
  }
  const examples = /^[A-Za-z][\w .-]{2,40}$/.test(state.source.trim()) ? first.of(state.source).slice(0, 4) : [];
  if (examples.length) parts.push(element("br"), "Examples: ", ...examples.map((one) => button(one.title, () => example(one), { className: "fix" })));
  box.replaceChildren(...parts);
}

function fix(it) {
  if (it.span) { editor.put(it.span, it.text); return; }
  if (it.option === "let") return give([it.value]);
  if (it.option === "name") state.name = it.value;
  else state.options = { ...state.options, [it.option]: it.value };
  fill();
  return changed();
}

// Values for names, which one may still change.
function give(lines) {
  const names = new Set(lines.map((line) => line.split("=")[0]));
  const kept = state.let.split("\n").filter((line) => line.trim() && !names.has(line.split("=")[0].trim()));
  state.let = by("let").value = [...kept, ...lines].join("\n");
  by("values").open = true;
  if (lines.some((line) => line.endsWith("="))) by("let").focus();
  changed();
}

// The picture of an access of the kernel, now and with its fix; null shows the report.
function access(row, chosen = true) {
  if (!row) { panes.open("report"); return; }
  step = chosen;
  state.access = row.id;
  explorer.find.value = row.lost > 0 ? /bank \d+/.exec(row.why)?.[0] || "" : ""; // who meets there
  explorer.chosen = explorer.find.value ? () => explorer.search(explorer.find.value) : null;
  report.chosen(row);
  if (chosen && narrow.matches) panes.open("picture");
  if (!row.file) editor.light(row.line);
  if (row.fix && row.lost > 0 && !narrow.matches) report.propose(row);
  draw();
}

// The line of the report whose access is shown, with the way back to the object.
function subject() {
  const row = state.access && report.out?.accesses.find((one) => one.id === state.access), box = by("subject");
  box.hidden = !row;
  if (row) box.replaceChildren(element("b", `Line ${row.place}`), " ", element("code", row.statement, { title: row.statement }), " ", button("×", () => { step = true; changed(); }, { ariaLabel: "back to the object" }));
}

let fresh = false; // a text that was just opened: nobody has chosen what to look at
function reported(out) {
  const badge = by("tab-report").querySelector("b");
  badge.textContent = report.worse.length;
  badge.hidden = !report.worse.length;
  badge.title = out ? out.summary : "";
  marks();
  subject();
  if (panes.tab === "report") panes.refresh();
  const now = state.access && out?.accesses.find((one) => one.id === state.access);
  if (now?.fix?.spans.length && !report.at?.fix && !narrow.matches && Math.abs(now.fix.edits[0].line - now.line) < BOTH) {
    report.chosen(now); // its fix has been found since
    report.propose(now);
  }
  if (!fresh || !out) return;
  fresh = false;
  const worst = report.worse.find((row) => !row.file && row.wavefronts !== null);
  if (!worst) return;
  if (!narrow.matches) panes.open("report");
  access(worst, false);
}

// The marks beside the lines: of every copy and gemm, and of every object that can be drawn.
function marks() {
  const found = report.marks(), taken = new Set(found.map((mark) => mark.line));
  for (const row of rows) {
    if (!drawable(row) || row.error || ["shape", "stride", "tuple"].includes(row.kind) || taken.has(row.line) || row.file) continue;
    taken.add(row.line);
    found.push({ line: row.line, words: "▦", kind: current(row) ? "object now" : "object", title: `draw ${row.path}`, act: () => pick(row) });
  }
  editor.marks(found);
}

const PLAIN = ["", "integer", "flag", "type", "other", "spec"];
const drawable = (row) => !PLAIN.includes(row.kind || "") && !row.kind.startsWith("launch") || Boolean(row.error && row.needs?.length);
const query = (row) => (rows.filter((other) => other.path === row.path).length > 1 ? `${row.path}@${row.line}` : row.path);
const current = (row) => (state.name ? state.name === query(row) || state.name === row.path : shown === row.name);

function pick(row) {
  step = true;
  const mine = query(row);
  state.name = state.name === mine && !state.access ? "" : mine;
  if (row.line) editor.light(row.line);
  changed();
}

by("picture").addEventListener("click", () => {
  const row = state.access ? report.out?.accesses.find((one) => one.id === state.access) : rows.find((one) => current(one));
  if (row?.line && !row.file) editor.light(row.line, false);
});

// The list of a file's definitions, asked for when they may be others.
let listed = "";
async function list() {
  const { options, name, ...question } = asked();
  const now = JSON.stringify([question, state.file && followed?.version]), several = state.source.trim().includes("\n");
  if (several && now !== listed) {
    const out = await engine.ask({ ...question, ask: "objects" }, "objects");
    if (!out) return;
    listed = now;
    rows = out.objects || [];
    by("compiled").hidden = !out.compiled;
  } else if (!several) { rows = []; listed = ""; by("compiled").hidden = true; }
  launches();
  objects();
  marks();
  arrive();
}

// Which launch of a file's kernels is meant, where there are several.
function launches() {
  const select = by("launch"), found = rows.filter((row) => (row.kind || "").startsWith("launch "));
  select.hidden = found.length < 2;
  select.replaceChildren(new Option("all launches", ""), ...found.map((row) => {
    const n = row.kind.slice(7);
    return Object.assign(new Option(`${n}: ${row.caller || row.name}, line ${row.line}`, n), { title: row.value });
  }));
  select.value = state.launch;
}
by("launch").addEventListener("change", () => { step = true; state.launch = by("launch").value; fresh = false; changed(); });

// A text that was just opened is scrolled to what is drawn of it.
function arrive() {
  const drawn = fresh && rows.find((row) => current(row) && !row.file);
  if (drawn) editor.light(drawn.line);
}

// The definitions of a file, what can be drawn first, to be picked.
function objects() {
  const box = by("objects"), filter = box.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean);
  box.hidden = !rows.length;
  if (!rows.length) return;
  const good = rows.filter((row) => drawable(row) || row.kind === "spec"), others = rows.filter((row) => !good.includes(row));
  box.querySelector("summary").textContent = `${good.length} objects, ${others.length} other definitions`;
  if (rows.every((row) => row.kind === "spec")) box.open = true;
  const found = [...good, ...(filter.length ? others : [])].filter((row) => filter.every((word) => `${row.path} ${row.kind} ${row.brief || row.value}`.toLowerCase().includes(word)));
  const list = document.createElement("table");
  for (const row of found.slice(0, 200)) {
    const line = list.insertRow(), name = button(row.name || row.path, () => pick(row), { title: row.path, disabled: Boolean(row.error && !row.needs?.length) });
    line.setAttribute("aria-current", current(row));
    line.insertCell().textContent = row.line;
    line.insertCell().append(name);
    Object.assign(line.insertCell(), { className: "value", textContent: row.error || `${row.kind || ""} ${row.brief || row.value || ""}` });
  }
  box.querySelector("div").replaceChildren(list);
}
by("objects").querySelector("input").addEventListener("input", objects);

// What a text may be compared with: the other objects of its file, and the other texts.
function others() {
  const mine = rows.filter((row) => drawable(row) && !row.error && !current(row)).map((row) => [query(row), "", query(row)]);
  return [...mine, ...texts.filter((_, n) => n !== at).map((one) => [`text: ${one.title}`, one.kept.source, one.kept.name])];
}

// Several texts, each with its state and its own history.
const texts = [{ id: 0, title: "", kept: null, state: null }];
let at = 0, born = 0;
function hold() { Object.assign(texts[at], { kept: { ...state }, state: editor.state, title: title() }); }
function title() {
  if (state.file && settings.file) return settings.file;
  const several = state.source.includes("\n"), kernel = several && /__global__[^;{]*?\b(\w+)\s*\(|@cute\.(?:kernel|jit)\s+def (\w+)/.exec(state.source);
  const line = state.source.split("\n").find((words_) => words_.trim() && !/^\s*(?:\/\/|#|\/\*|using namespace|import |from )/.test(words_)) || "";
  return (several && texts[at].file) || kernel?.[1] || kernel?.[2] || line.trim().slice(0, 24) || "new";
}
function enter(n) {
  at = n;
  step = true;
  Object.assign(state, BLANK, texts[at].kept);
  editor.state = texts[at].state || editor.fresh(state.source);
}
function turnTo(n, fresh = null, name = "") {
  hold();
  if (fresh) texts.push({ id: ++born, title: "", kept: fresh, state: null, file: name });
  enter(fresh ? texts.length - 1 : n);
  show();
}
function drop(n) {
  texts.splice(n, 1);
  if (n === at) { enter(Math.max(0, n - 1)); show(); } else { at -= n < at ? 1 : 0; strip(); }
}
function strip() {
  texts[at].title = title();
  by("texts").replaceChildren(...texts.map((one, n) => {
    const box = element("span", null, { className: n === at ? "text now" : "text" }, button(one.title, () => { if (n !== at) turnTo(n); }));
    if (texts.length > 1) box.append(button("×", () => drop(n), { ariaLabel: "close this text" }));
    return box;
  }), button("+", () => { turnTo(0, { ...BLANK }); first.show(); editor.focus(); }, { ariaLabel: "another text" }));
}

// The state into the page, which draws it.
function show() {
  fill();
  strip();
  compare.against = state.against;
  compare.named = state.named;
  if (state.source || state.file) first.hide();
  if ((state.tab || "picture") !== panes.tab) panes.open(state.tab || "picture");
  explorer.find.value = state.find;
  explorer.chosen = state.find ? () => explorer.search(state.find) : null;
  explorer.picked = state.by;
  panes.place(state);
  explorer.view.free = state.zoom > 0;
  if (state.zoom) explorer.view.scale = state.zoom;
  fresh = !state.access && !state.name;
  return draw();
}

function example(one) {
  step = true;
  hold();
  keep();
  if (one.svg) { by("picture").replaceChildren(picture(one.svg)); by("picture").classList.add("stale"); } // until Python is there
  texts[at].file = one.shown || "";
  lent = { ...one.options };
  Object.assign(state, BLANK, { source: one.source, options: { ...one.options }, tab: one.tab || "", find: one.find || "", against: one.against || "" });
  keep();
  editor.quiet = true;
  editor.put([0, editor.text.length], state.source, !narrow.matches);
  editor.quiet = false;
  show();
}

async function opened(file) {
  if (!file) return;
  const text = await file.text();
  const fresh = { ...BLANK, source: text.replace(/\r\n?/g, "\n") };
  if (!state.source && !state.file) { Object.assign(state, fresh); texts[at].file = file.name; show(); } else turnTo(0, fresh, file.name);
}
by("open-file").addEventListener("click", () => by("file").click());
by("file").addEventListener("change", () => { opened(by("file").files[0]); by("file").value = ""; });
addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
addEventListener("drop", (event) => { if (event.dataTransfer?.files.length) { event.preventDefault(); opened(event.dataTransfer.files[0]); } });
by("examples").addEventListener("click", () => (first.shown && (state.source || state.file) ? first.hide() : first.show(" ")));

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return { light: "light", print: "light", dark: "dark" }[state.options.theme] || (dark ? "dark" : "light");
}

const GROUPS = { view: "What is drawn", tile: "What is drawn", operand: "What is drawn", tensor: "What is drawn", crop: "What is drawn", fold: "What is drawn", type: "Elements", bits: "Elements", shape: "Elements", arch: "Elements", wave: "Elements", thread: "Who is lit", warp: "Who is lit", value: "Who is lit" };
// A field for each option that this picture uses, or that is set, by groups.
function build() {
  const box = document.querySelector("#options .fields"), groups = new Map();
  for (const option of settings.fields) {
    const label = document.createElement("label"), words_ = option.name.replace("_", " ");
    const input = document.createElement(option.choices.length ? "select" : "input");
    input.name = option.name;
    input.title = option.meaning;
    if (option.choices.length) {
      input.append(new Option("auto", ""));
      for (const choice of option.choices) input.append(new Option(choice, choice));
    } else if (option.holds === "flag") { input.type = "checkbox"; label.className = "flag"; }
    label.append(...(option.holds === "flag" ? [input, words_] : [words_, input]));
    label.dataset.option = option.name;
    input.addEventListener("input", () => {
      const value = option.holds === "flag" ? input.checked : input.value.trim();
      state.options = { ...state.options, [option.name]: value };
      if (!value) delete state.options[option.name];
      if (option.name === "theme") fill();
      changed(input.tagName === "INPUT" && input.type !== "checkbox");
    });
    const group = GROUPS[option.name] || "Looks";
    if (!groups.has(group)) groups.set(group, element("fieldset", null, {}, element("legend", group)));
    groups.get(group).append(label);
  }
  box.append(...groups.values());
  by("let").addEventListener("input", () => { state.let = by("let").value; changed(true); });
  by("theme").addEventListener("click", () => {
    state.options = { ...state.options, theme: theme() === "dark" ? "light" : "dark" };
    fill();
    changed();
  });
  const menu = (box_, ones) => by(box_).append(...ones.map(([label, act]) => button(label, () => { act(); by(box_).parentElement.open = false; })));
  const copied = async (way) => {
    const out = await ask({ ask: "copy", as: way }, "copy");
    if (out?.error) said(out.error.message);
    else if (out) await copyAs(way, out.text);
  };
  const NAMES = { markdown: "Markdown", command: "command", cpp: "C++", dsl: "Python DSL", cute: "CuTe notation", latex: "LaTeX", svg: "SVG", json: "JSON", spec: "spec" };
  menu("share", [["Copy link", async () => copyAs("link", `${location.href.split("#")[0]}#${await pack(state.file ? { ...state, file: false } : state)}`)],
    ...settings.ways.map((way) => [`Copy as ${NAMES[way] || way}`, () => copied(way)]), ["Copy as PNG", () => copyAs("png", by("picture").querySelector("svg"))]]);
  menu("export", ["svg", "png", "pdf", "tikz", "html"].map((format) => [format.toUpperCase().replace("TIKZ", "TikZ"), async () => {
    if (format === "png") { await save(by("picture").querySelector("svg"), "png"); return; }
    said(`drawing ${format} …`);
    const out = await ask({ ask: "export", as: format }, "export");
    if (out?.error) said(out.error.message);
    else if (out) await save(out, format);
  }]));
  addEventListener("click", (event) => { for (const open of document.querySelectorAll(".drop[open]")) if (!open.contains(event.target)) open.open = false; });
}

function fields(used) {
  for (const label of document.querySelectorAll("#options .fields label")) {
    label.hidden = !used.includes(label.dataset.option) && !(label.dataset.option in state.options);
  }
  for (const group of document.querySelectorAll("#options fieldset")) group.hidden = !group.querySelector("label:not([hidden])");
}

// The state into the fields.
function fill() {
  editor.take(state.source);
  by("let").value = state.let;
  if (state.let) by("values").open = true;
  for (const input of document.querySelectorAll("#options [name]")) {
    const value = state.options[input.name];
    if (input.type === "checkbox") input.checked = value === true || value === "true";
    else input.value = value ?? "";
  }
  document.body.classList.remove("auto", "light", "dark");
  document.body.classList.add({ light: "light", print: "light", dark: "dark" }[state.options.theme] || "auto");
}

async function load(fragment, again = false) {
  const found = await unpack(fragment), begin = found || (settings.file ? { file: true } : settings.first || {});
  loading = true;
  Object.assign(state, BLANK, begin);
  if (state.file && !settings.file) state.file = false;
  if (state.file && followed) state.source = followed.text;
  const drawn = show();
  if (again) fresh = false; // by Back, to what was looked at
  if (!state.source && !state.file) first.show();
  await drawn;
  loading = false;
  if (found) address();
}

// A file that is followed is never overwritten, and never overwrites: where both have changed, the page asks.
let followed = null;
function follow(now) {
  const begun = !followed;
  followed = now;
  said(now.error || `${begun ? "following" : "reloaded"} ${now.name}`);
  if (!state.file && (begun || at > 0 || editor.text === now.text)) return;
  const mine = () => { by("saved").hidden = true; };
  const theirs = () => { mine(); Object.assign(state, { file: true, source: now.text }); show(); };
  if (state.file) { theirs(); return; }
  said(`${now.name} was saved`);
  by("saved").hidden = false;
  by("saved").replaceChildren(element("span", `${now.name} was saved, and you changed its text here. `), button("Take the file's text", theirs),
    button("Keep mine", mine), button("See the file's in another tab", () => { mine(); turnTo(0, { ...BLANK, source: now.text }, now.name); }));
}

const whole = button("⤢", () => (document.fullscreenElement ? document.exitFullscreen() : by("picture-pane").requestFullscreen()), { ariaLabel: "full screen", title: "full screen" });
document.querySelector("#controls .zoom").append(whole);
build();
strip();
const before = by("picture").querySelector("svg"); // drawn when the site was made
if (before && settings.drawn && !location.hash) {
  explorer.take(before, settings.drawn.panels, settings.drawn.formula);
  fields(settings.drawn.uses);
} else by("picture").classList.toggle("stale", Boolean(before));
if (settings.engine !== "server" && navigator.serviceWorker) {
  const keep = () => navigator.serviceWorker.register(new URL("service.js", document.baseURI)).catch(() => {}); // without it, it only needs the network
  engine.ready.then(() => setTimeout(keep, 1000)); // it reads all files once more: not while the first picture waits for them
}
if (settings.file) engine.follow(follow);
narrow.addEventListener("change", () => draw());
// Back and Forward lead to the text that stood there, too, and open it anew where it was closed.
addEventListener("popstate", (event) => {
  const id = event.state?.text ?? 0;
  if (texts[at].id !== id) {
    hold();
    if (!texts.some((one) => one.id === id)) texts.push({ id, title: "", kept: { ...BLANK }, state: null });
    enter(texts.findIndex((one) => one.id === id));
    step = false;
  }
  load(location.hash, true);
});
await load(location.hash);
if (first.shown) editor.focus();
