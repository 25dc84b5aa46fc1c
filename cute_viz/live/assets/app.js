// The page: what is typed goes to the engine, what comes back is shown, and the address always holds the state.
import { Address } from "./address.js";
import { Compare } from "./compare.js";
import { Definitions, drawable } from "./definitions.js";
import { Drawn } from "./drawn.js";
import { table as offsets, rows } from "./early.js";
import { Editor } from "./editor.js";
import { engine as connect } from "./engine.js";
import { Explorer, table } from "./explore.js";
import { Faults } from "./faults.js";
import { Fields, theme } from "./fields.js";
import { First } from "./first.js";
import { fields as turn } from "./knobs.js";
import { Operation } from "./operation.js";
import { Panes, button, choice, element } from "./panes.js";
import { Report } from "./report.js";
import { menus } from "./share.js";
import { BLANK, own, state, unpack } from "./state.js";
import { Texts } from "./texts.js";
import { words } from "./words.js";

const by = (id) => document.getElementById(id);
const settings = JSON.parse(by("settings").textContent);
const BOTH = 20; // lines of the editor in sight: an access and its fix, which is shown unasked
const FOLDED = 40; // accesses of a kernel whose other lines are folded
const LATER = 350; // ms after which the report is asked for anew, and after which what was typed into a field is a step of the history
const SOON = 60; // ms after which a picture of the static site is not one of those that came with it: it waits for Python
const OTHER = 60; // px by which the room for the picture may change before it is drawn anew
const MOVES = /\b(?:copy|copy_if|copy_aligned|cooperative_copy|axpby|gemm)\s*\(/;

const narrow = matchMedia("(max-width: 820px)"); // where one pane is seen at a time

const said = (text) => { by("status").textContent = text; };
const engine = connect(settings, said);
const ask = (question, channel) => engine.ask({ ...asked(), ...question }, channel);
const explorer = new Explorer();
const drawn = new Drawn(by("picture"));
const first = new First({ settings, draw: (question, channel) => engine.ask({ ask: "draw", ...question, options: { ...question.options, bare: true, theme: theme() } }, channel), open: example });
const editor = new Editor(by("editor"), {
  ...words({ settings, rows: () => definitions.rows, ask }),
  suggest: () => { example(first.suggestion); return true; },
  another,
  changing: (source, mine) => {
    Object.assign(state, { source, file: false, access: "" }, mine && { ...mine, options: { ...mine.options }, lent: { ...mine.lent } });
    sent = source.trim() && send();
  },
  changed: (typed, mine) => {
    if (mine) fields.fill();
    changed(typed);
    unseen = fresh = typed && Boolean(mine); // pasted, or typed anew
  },
});
const definitions = new Definitions({
  ask: (question) => engine.ask(question, "objects"), pick,
  launched: (launch) => { address.step = true; state.launch = launch; fresh = false; changed(); },
  listed: () => { marks(); arrive(); },
});
const report = new Report({ ask, editor, open: access, told: reported, proposed: () => { if (narrow.matches) panes.open("source"); }, values: give });
const compare = new Compare({
  ask: (question, channel) => ask(narrow.matches ? { ...question, options: { width: innerWidth - 30 } } : question, channel), others,
  changed: () => { state.against = compare.against; state.named = compare.named; address.write(); },
});
const panes = new Panes({
  ask, report, compare, apply: write, option: (option, value) => fix({ option, value }),
  moved: () => address.write(),
  redraw: (access, step, far) => { [state.accessor, banking] = [access, { step, global: far }]; draw(); },
  changed: (tab) => {
    state.tab = tab === "picture" ? "" : tab;
    if (tab === "banks" && state.access) { state.access = ""; report.chosen(null); }
    address.write();
    if (tab === "source") editor.focus();
    if ((tab === "banks") !== Boolean(banking)) draw();
  },
});
const operation = new Operation({ box: by("call"), editor, operations: settings.operations, write: (source) => editor.step(source, another()) });
const texts = new Texts({ editor, file: settings.file, entered: () => { address.step = true; show(); }, blank: () => { first.show(); editor.focus(); } });
const faults = new Faults({ editor, picture: by("picture"), fix, write, examples: (text) => first.of(text), open: example });
const shown = () => ({ ...state, ...panes.places(), by: explorer.picked, find: explorer.find.value, panel: explorer.framed + 1, zoom: explorer.view.free ? +explorer.view.scale.toFixed(3) : 0 });
const address = new Address({ text: () => texts.now.id, kept: () => ({ ...shown(), ...(state.file ? { source: "" } : {}) }) });
explorer.find.addEventListener("input", () => address.soon(LATER));
explorer.elsewhere = (what) => (/^(bank|byte)/i.test(what) ? "; Banks, or the view banks, has banks" : /^[TV]\d/i.test(what) ? "; a tile, under Options, has threads" : "");
const zoomed = explorer.view.changed;
explorer.view.changed = (scale) => { zoomed(scale); address.soon(LATER); };
const fields = new Fields({ options: settings.fields, changed: (typed) => { keep(typed ? LATER : 0); changed(typed); }, done: () => keep() });
menus({ ask, ways: settings.ways, link: () => address.link({ ...shown(), file: false }) });

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

// What belongs to a text of which nothing was there before: what an example had, and what the old text alone has, does not apply to it.
function another() {
  const options = Object.entries(state.options).filter(([name, value]) => state.lent[name] !== value);
  return { ...own(), options: Object.fromEntries(options), name: "", launch: "", lent: {} };
}

// What was chosen beside the text becomes a step of the editor's history, typed values once they are whole.
let keeping = 0;
function keep(ms = 0, lasting = true) {
  clearTimeout(keeping);
  if (ms) keeping = setTimeout(keep, ms);
  else editor.take(state.source, own(), lasting);
}

function changed(typed = false) {
  fresh = false;
  if (editor.text && typed && first.shown && narrow.matches) panes.open("source"); // where one types on
  if (editor.text) first.hide();
  else if (typed && !settings.file) first.show();
  report.chosen(null);
  state.access = "";
  return draw(typed);
}

const suit = () => { explorer.view.legible = narrow.matches ? 1 : 0.8; }; // a phone is scrolled
suit();
narrow.addEventListener("change", suit);
let fixed = ""; // of an access on a phone: "fixed" for the picture with its fix
let banking = null; // where the picture is that of an access, by the pane of banks: which step of it
let asking = 0, sent = null, drawnFor = 0; // px that the last picture was drawn for
const room = () => Math.max(300, Math.floor(explorer.view.room?.[0] || by("picture").clientWidth - 16) - 2); // an observer costs no layout, but knows none of what was hidden
// The question for the picture, and its answer.
function send() {
  const question = asked();
  drawnFor = room();
  if (!question.options.width && !question.options.cell) question.options = { ...(narrow.matches ? {} : { target: "readme" }), ...question.options, width: drawnFor };
  banking = panes.tab === "banks" && !state.access && (banking || {});
  if (banking) return engine.ask({ ...question, ask: "banks", access: state.accessor, ...banking });
  return engine.ask(state.access ? { ...question, ask: "access", access: state.access, quick: report.quick, fixed } : { ask: "draw", ...question });
}

async function draw(typed = false) {
  if (address.step) address.write(); // before another change is part of it
  operation.show(editor.text);
  turn(by("sliders"), editor);
  subject();
  clearTimeout(asking);
  asking = setTimeout(() => { definitions.refresh(asked(), state.file && followed?.version); report.refresh(state.source.includes("\n") && MOVES.test(state.source)); }, typed ? LATER : 0);
  if (!state.source.trim() && !state.file) { faults.tell(null); address.write(); return; }
  const answer = sent || send(), late = engine.drawn && setTimeout(early, SOON);
  sent = null;
  const out = await answer;
  clearTimeout(late);
  if (!out) return;
  by("picture").classList.remove("stale", "waiting");
  faults.tell(out.error, typed);
  if (texts.now.title !== texts.title) texts.show();
  address.soon(LATER); // it takes as long as a small picture: not between two keys
  if (out.told) by("picture").replaceChildren(element("h2", out.title), ...out.told.map((words) => element("p", words)));
  if (out.told) Object.assign(out, { labels: [], panels: [] });
  else if (!out.svg) return;
  else take(out);
  about(out);
  document.body.dataset.drawn = state.file ? "file" : state.source;
}
// Until Python is there: a layout as a table of its offsets; the picture of anything else is faded.
function early() {
  const found = rows(state.source);
  by("picture").classList.add("stale", "waiting");
  if (found) by("picture").replaceChildren(offsets(found));
}
explorer.view.resized = () => { if (Math.abs(room() - drawnFor) > OTHER && drawnFor && !first.shown) { clearTimeout(asking); asking = setTimeout(draw, LATER); } };

// A picture into the page.
function take(out) {
  const svg = drawn.draw(out.svg);
  explorer.take(svg, out.panels, out.formula || null); // before it stands in the page, so that it is laid out once
  if (svg.parentNode !== by("picture")) by("picture").replaceChildren(svg);
  by("picture").setAttribute("aria-label", out.description);
  if (out.uses) fields.use(out.uses);
  definitions.shown = out.name || "";
  marks();
  arrive();
  panes.refresh(out);
}

// What stands around a picture: what its cells say, or which side of an access is shown; the sections of an atom; the tables.
function about(out) {
  document.title = `${out.title} · cute-viz`;
  by("says").ariaLabel = state.access ? "now or fixed" : "what a cell says";
  choice(by("says"), out.labels, state.access ? fixed : state.options.labels, says);
  by("sections").replaceChildren(...Object.entries(out.sections || {}).map(([name, value]) => element("div", null, {}, element("dt", name), element("dd", value))));
  tables(out.panels);
}

function says(value) {
  if (state.access) { fixed = value; draw(); } else fix({ option: "labels", value });
}

function tables(panels) {
  by("tables").replaceChildren(...panels.map((p) => {
    const box = element("details", null, {}, element("summary", `Table: ${p.caption || `${p.down} by ${p.right}`}`));
    box.addEventListener("toggle", () => { if (p.labels.length) box.append(table(p)); }, { once: true });
    return box;
  }));
}

// Another text in the place of this one, as a step of the history.
function write(source) { editor.put([0, editor.text.length], source); }

// What a hint proposes: an edit, a value, an option.
function fix(it) {
  if (it.span) { editor.put(it.span, it.text); return undefined; }
  if (it.option === "let") return give([it.value]);
  if (it.option === "name") state.name = it.value;
  else fields.set(it.option, it.value);
  fields.fill();
  keep();
  return changed();
}

// Values for names, which one may still change.
function give(lines) {
  const names = new Set(lines.map((line) => line.split("=")[0]));
  const kept = state.let.split("\n").filter((line) => line.trim() && !names.has(line.split("=")[0].trim()));
  state.let = [...kept, ...lines].join("\n");
  fields.fill();
  if (lines.some((line) => line.endsWith("="))) by("let").focus();
  keep();
  return changed();
}

// The picture of an access of the kernel, now and with its fix; null shows the report.
function access(row, chosen = true) {
  if (!row) { panes.open("report"); return; }
  address.step = chosen;
  state.access = row.id;
  fixed = "";
  explorer.find.value = "";
  explorer.chosen = null; // the picture itself outlines who meets
  report.chosen(row);
  if (chosen && narrow.matches) panes.open("picture");
  if (!row.file) editor.light(row.line);
  if (row.fix && row.lost > 0 && !narrow.matches) report.propose(row);
  draw();
}
const accessed = () => state.access && report.out?.accesses.find((one) => one.id === state.access);

// The line of the report whose access is shown, with the way back to the object.
function subject() {
  const row = accessed(), box = by("subject");
  box.hidden = !row;
  if (row) box.replaceChildren(element("b", `Line ${row.place}`), " ", element("code", row.statement, { title: row.statement }), " ", button("×", () => { address.step = true; changed(); }, { ariaLabel: "back to the object" }));
  by("fix").replaceChildren(...(row?.fix && narrow.matches ? [report.diff(row)] : [])); // on a phone the source is behind the picture
}

let unseen = false; // a kernel whose lines nobody has looked at
let fresh = false; // a text that was just opened: nobody has chosen what to look at
function reported(out) {
  const badge = by("tab-report").querySelector("b");
  badge.textContent = report.worse.length;
  badge.hidden = !report.worse.length;
  badge.title = out ? out.summary : "";
  const { sizes } = report, change = button("Change", (event) => { event.preventDefault(); give(sizes); }, { className: "link" });
  by("values").querySelector("summary").replaceChildren(...(sizes.length ? [`${sizes.join(", ")}, as without arguments `, change] : ["Values for names"]));
  marks();
  subject();
  if (panes.tab === "report") panes.refresh();
  const now = accessed();
  if (now?.fix && report.found) draw(); // beside it stands the fix, which has been found since
  if (now?.fix?.spans.length && !report.at?.fix && !narrow.matches) {
    report.chosen(now); // its fix has been found since
    const lines = [...out.accesses, ...now.fix.edits].filter((one) => !one.file).map((one) => one.line);
    const near = Math.abs(now.fix.edits[0].line - now.line) < BOTH;
    if (unseen && !near && lines.length < FOLDED) editor.fold(lines); // so that both are seen
    report.propose(now);
    if (near) editor.light(now.line);
    unseen = false;
  }
  if (!fresh || !out) return;
  fresh = false;
  const worst = report.worse.find((row) => !row.file && (row.wavefronts ?? row.sectors) !== null);
  if (report.worse.length && !narrow.matches) panes.open("report");
  if (worst) access(worst, false);
}

// The marks beside the lines: of every copy and gemm, and of every object that can be drawn.
function marks() {
  const found = report.marks();
  editor.marks([...found, ...definitions.marks(new Set(found.map((mark) => mark.line)))]);
}

function pick(row) {
  address.step = true;
  const mine = definitions.query(row);
  state.name = state.name === mine && !state.access ? "" : mine;
  keep(0, false); // Back leads to what was picked before, undo to the text before
  if (row.line) editor.light(row.line);
  changed();
}

by("picture").addEventListener("click", () => {
  const row = state.access ? accessed() : definitions.rows.find((one) => definitions.current(one));
  if (row?.line && !row.file) editor.light(row.line, false);
});

// A text that was just opened is scrolled to what is drawn of it.
function arrive() {
  const drawn = fresh && definitions.rows.find((row) => definitions.current(row) && !row.file);
  if (drawn) editor.light(drawn.line);
}

// What a text may be compared with: its layout without the swizzle, the other objects of its file, and the other texts.
function others() {
  const plain = /^\s*Sw<[^>]*> *o *\S+ *o *(\S.*)$/.exec(state.source)?.slice(1).map((text) => ["without the swizzle", text, ""]) || [];
  const mine = definitions.rows.filter((row) => drawable(row) && !row.error && !definitions.current(row)).map((row) => [definitions.query(row), "", definitions.query(row)]);
  return [...plain, ...mine, ...texts.list.filter((one) => one !== texts.now).map((one) => [`text: ${one.title}`, one.kept.source, one.kept.name])];
}

// The state into the page, which draws it.
function show(lasting = true) {
  keep(0, lasting);
  fields.fill();
  texts.show();
  compare.against = state.against;
  compare.named = state.named;
  if (state.source || state.file) first.hide();
  if ((state.tab || "picture") !== panes.tab) panes.open(state.tab || "picture");
  explorer.find.value = state.find;
  explorer.chosen = state.find ? () => explorer.search(state.find) : null;
  explorer.picked = state.by;
  panes.place(state);
  explorer.framed = state.panel - 1;
  explorer.view.free = state.zoom > 0;
  if (state.zoom) explorer.view.scale = state.zoom;
  unseen = fresh = !state.access && !state.name;
  return draw();
}

function example(one) {
  address.step = true;
  keep();
  texts.hold();
  texts.now.file = one.shown || "";
  Object.assign(state, BLANK, { source: one.source, options: { ...one.options }, lent: { ...one.options }, tab: one.tab || "", find: one.find || "", against: one.against || "" });
  show();
  if (!narrow.matches) editor.focus();
}

async function opened(file) {
  if (!file) return;
  const kept = { ...BLANK, source: (await file.text()).replace(/\r\n?/g, "\n") };
  if (!state.source && !state.file) { Object.assign(state, kept); texts.now.file = file.name; show(); } else texts.open(kept, file.name);
}
by("open-file").addEventListener("click", () => by("file").click());
by("file").addEventListener("change", () => { opened(by("file").files[0]); by("file").value = ""; });
addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
addEventListener("drop", (event) => { if (event.dataTransfer?.files.length) { event.preventDefault(); opened(event.dataTransfer.files[0]); } });
by("examples").addEventListener("click", () => (first.shown && (state.source || state.file) ? first.hide() : first.show(" ")));

let loads = 0;
async function load(fragment, again = false) {
  const mine = ++loads;
  const found = await unpack(fragment), begin = found || (settings.file ? { file: true } : settings.first || {});
  address.still = true;
  Object.assign(state, BLANK, { lent: {} }, begin);
  if (state.file && !settings.file) state.file = false;
  if (state.file && followed) state.source = followed.text;
  const drawn = show(again);
  if (again) fresh = false; // by Back, to what was looked at
  if (!state.source && !state.file) first.show();
  await drawn;
  if (mine !== loads) return; // Back again, meanwhile
  address.still = false;
  if (found) address.write();
}

// A file that is followed is never overwritten, and never overwrites: where both have changed, the page asks.
let followed = null;
function follow(now) {
  const begun = !followed;
  followed = now;
  said(now.error || `${begun ? "following" : "reloaded"} ${now.name}`);
  if (!state.file && (begun || texts.at > 0 || editor.text === now.text)) return;
  const mine = () => { by("saved").hidden = true; };
  const theirs = () => { mine(); Object.assign(state, { file: true, source: now.text }); show(); };
  if (state.file) { theirs(); return; }
  said(`${now.name} was saved`);
  by("saved").hidden = false;
  by("saved").replaceChildren(element("span", `${now.name} was saved, and you changed its text here. `), button("Take the file's text", theirs),
    button("Keep mine", mine), button("See the file's in another tab", () => { mine(); texts.open({ ...BLANK, source: now.text }, now.name); }));
}

const whole = button("⤢", () => (document.fullscreenElement ? document.exitFullscreen() : by("picture-pane").requestFullscreen()), { ariaLabel: "full screen", title: "full screen" });
document.querySelector("#controls .zoom").append(whole);
by("tools").append(...document.querySelectorAll("#controls .by, #along, #number, #controls .zoom")); // above the picture, beside the tabs
texts.show();
by("picture").classList.toggle("stale", Boolean(location.hash && by("picture").querySelector("svg"))); // drawn when the site was made
engine.ready?.then(() => draw()); // as wide as the window is
if (settings.engine !== "server" && navigator.serviceWorker) {
  const register = () => navigator.serviceWorker.register(new URL("service.js", document.baseURI)).catch(() => {}); // without it, it only needs the network
  engine.ready.then(() => setTimeout(register, 1000)); // it reads all files once more: not while the first picture waits for them
}
if (settings.file) engine.follow(follow);
// Back and Forward lead to the text that stood there, too.
addEventListener("popstate", (event) => { if (texts.back(event.state?.text ?? 0)) address.step = false; load(location.hash, true); });
await load(location.hash);
if (first.shown) editor.focus();
