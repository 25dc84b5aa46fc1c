// The page: what is typed goes to the engine, what comes back is shown, and the address always holds the state.
import { Editor } from "./editor.js";
import { engine as connect } from "./engine.js";
import { Explorer, table } from "./explore.js";
import { fields as turn } from "./knobs.js";
import { More, picture } from "./more.js";
import { copyAs } from "./share.js";
import { pack, unpack } from "./state.js";

const by = (id) => document.getElementById(id);
const settings = JSON.parse(by("settings").textContent);
const state = { source: "", options: {}, let: "", name: "", file: false, tab: "", by: "" };
if (location.search) history.replaceState(null, "", location.pathname + location.hash); // the token is in a cookie by now
const FIRST = { source: "SM80_16x8x16_F32F16F16F32_TN" };
const WRITES = [80, 30000]; // so often in so many ms is the address written at once: browsers refuse much more than that

const narrow = matchMedia("(max-width: 820px)"); // where a picture is laid out for the window

const explorer = new Explorer();
const editor = new Editor(() => { state.source = editor.text; state.file = false; changed(); });
const engine = connect(settings, (words) => { by("status").textContent = words; });
const more = new More((question, channel) => engine.ask({ ...asked(), ...question }, channel), explorer,
  (source) => { editor.put([0, editor.text.length], source); });
more.changed = () => { state.tab = more.tab === "notes" ? "" : more.tab; address(); };

// The question that the state is.
function asked() {
  const values = {};
  for (const line of state.let.split(/[\n;]/)) {
    const at = line.indexOf("=");
    if (at > 0) values[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  const source = state.file && settings.engine === "server" ? { file: true } : { source: state.source };
  return { ...source, options: state.options, let: values, name: state.name || null };
}

const writes = [];
let waiting = 0, newest = 0;
async function address() {
  clearTimeout(waiting);
  const now = performance.now(), mine = ++newest;
  while (writes.length && writes[0] < now - WRITES[1]) writes.shift();
  if (writes.length >= WRITES[0]) { waiting = setTimeout(address, 500); return; }
  const fragment = `#${await pack(state.file ? { ...state, source: "" } : state)}`;
  if (mine !== newest || fragment === location.hash) return;
  writes.push(now);
  history.replaceState(null, "", fragment);
}

function changed() {
  return draw(); // which writes the address, once what was asked for is there: it takes as long as a small picture
}

async function draw() {
  const since = performance.now();
  turn(by("sliders"), editor, () => { state.source = editor.text; state.file = false; changed(); });
  const question = asked();
  if (narrow.matches && !question.options.width) question.options = { ...question.options, width: Math.max(300, by("picture").clientWidth - 8) };
  const out = await engine.ask({ ask: "draw", ...question });
  if (!out) return;
  fault(out.error);
  list(question);
  if (!out.svg) { address(); by("picture").classList.toggle("stale", Boolean(by("picture").querySelector("svg"))); return; }
  const svg = picture(out.svg);
  explorer.take(svg, out.panels, out.formula); // before it stands in the page, so that it is laid out once
  by("picture").replaceChildren(svg);
  setTimeout(address); // once the picture stands there
  by("picture").classList.remove("stale");
  by("picture").setAttribute("aria-label", out.description);
  document.title = `${out.title} · cute-viz`;
  fields(out.uses);
  tables(out.panels);
  document.body.dataset.ms = (performance.now() - since).toFixed(1);
  document.body.dataset.drawn = state.file ? "file" : state.source;
  more.refresh(out);
}

function tables(panels) {
  by("tables").replaceChildren(...panels.map((p) => {
    const box = document.createElement("details"), head = document.createElement("summary");
    head.textContent = `Table: ${p.caption || `${p.down} by ${p.right}`}`;
    box.append(head);
    box.addEventListener("toggle", () => { if (p.labels.length) box.append(table(p)); }, { once: true });
    return box;
  }));
}

// What is wrong, where, and the hint as one click.
function fault(error) {
  const box = by("error");
  editor.mark(error?.span || null);
  if (!error) { box.replaceChildren(); return; }
  const parts = [Object.assign(document.createElement("span"), { textContent: error.message })];
  const hint = error.hint || (error.fix && "change it") || "";
  if (error.span && state.source) parts[0].title = `characters ${error.span[0] + 1} to ${error.span[1]}`;
  if (hint && error.fix) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "fix", textContent: hint });
    if (error.fix.text) button.title = `write ${error.fix.text}`;
    button.addEventListener("click", () => fix(error.fix));
    parts.push(" ", document.createElement("br"), button);
  } else if (hint) {
    parts.push(" ", Object.assign(document.createElement("span"), { className: "hint", textContent: hint }));
  }
  box.replaceChildren(...parts);
}

function fix(it) {
  if (it.span) { editor.put(it.span, it.text); return; }
  if (it.option === "let") {
    state.let = `${state.let.trim()}${state.let.trim() ? "\n" : ""}${it.value}`;
    by("let").value = state.let;
    by("values").open = true;
  } else if (it.option === "name") state.name = it.value;
  else state.options = { ...state.options, [it.option]: it.value };
  fill();
  changed();
}

// The list of a file's definitions, asked for when they may be others.
let listed = "";
async function list({ options, name, ...question }) {
  const now = JSON.stringify([question, state.file && followed?.version]), several = state.source.trim().includes("\n");
  if (several && now !== listed) {
    const out = await engine.ask({ ...question, ask: "objects" }, "objects");
    if (!out) return;
    listed = now;
    rows = out.objects || [];
  } else if (!several) { rows = []; listed = ""; }
  objects(rows);
}

// The definitions of a file, to be picked.
let rows = [];
function objects(rows) {
  const box = by("objects");
  box.hidden = !rows.length;
  if (!rows.length) { box.replaceChildren(); return; }
  const list = document.createElement("table");
  list.createCaption().textContent = `${rows.length} definitions`;
  let scope = "";
  for (const one of rows) {
    if ((one.scope || "") !== scope) {
      scope = one.scope || "";
      const head = document.createElement("th");
      Object.assign(head, { colSpan: 3, scope: "colgroup", textContent: scope || "at the top" });
      list.insertRow().append(head);
    }
    const line = list.insertRow(), name = document.createElement("button");
    name.type = "button";
    name.textContent = one.name || one.path;
    name.title = one.path;
    name.disabled = Boolean(one.error);
    const query = rows.filter((other) => other.path === one.path).length > 1 ? `${one.path}@${one.line}` : one.path;
    line.setAttribute("aria-current", state.name === query);
    name.addEventListener("click", () => { state.name = state.name === query ? "" : query; changed(); });
    line.insertCell().textContent = one.line;
    line.insertCell().append(name);
    const value = line.insertCell();
    value.className = "value";
    value.textContent = one.error || `${one.kind || ""} ${one.brief || one.value || ""}`;
    if (one.error) line.className = "unread";
  }
  const top = box.scrollTop;
  box.replaceChildren(list);
  box.scrollTop = top;
}

// A field for each option that this picture uses, or that is set.
function build() {
  const box = document.querySelector("#options .fields");
  for (const option of settings.fields) {
    const label = document.createElement("label"), words = option.name.replace("_", " ");
    const input = document.createElement(option.choices.length ? "select" : "input");
    input.name = option.name;
    input.title = option.meaning;
    if (option.choices.length) {
      input.append(new Option("", ""));
      for (const choice of option.choices) input.append(new Option(choice, choice));
    } else if (option.holds === "flag") { input.type = "checkbox"; label.className = "flag"; }
    else input.placeholder = option.like === "TEXT" ? "" : option.like;
    label.append(...(option.holds === "flag" ? [input, words] : [words, input]));
    label.dataset.option = option.name;
    input.addEventListener("input", () => {
      const value = option.holds === "flag" ? input.checked : input.value.trim();
      state.options = { ...state.options, [option.name]: value };
      if (!value) delete state.options[option.name];
      changed();
    });
    box.append(label);
  }
  for (const group of settings.presets) by("preset-list").append(new Option(`${group.group}: ${group.source.slice(0, 60)}`, group.title));
  by("presets").addEventListener("input", () => {
    const found = settings.presets.find((one) => one.title === by("presets").value);
    if (!found) return;
    Object.assign(state, { source: found.source, options: { ...found.options }, let: "", name: "", file: false });
    by("presets").value = "";
    fill();
    changed();
  });
  by("let").addEventListener("input", () => { state.let = by("let").value; changed(); });
  by("theme").addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches !== (state.options.theme === (matchMedia("(prefers-color-scheme: dark)").matches ? "light" : "dark"));
    state.options = { ...state.options, theme: dark ? "light" : "dark" };
    fill();
    changed();
  });
  by("copy-link").addEventListener("click", async () => {
    await copyAs("link", `${location.href.split("#")[0]}#${await pack(state.file ? { ...state, file: false } : state)}`);
  });
  const ways = by("copy-as");
  ways.append(new Option("…", ""));
  for (const way of [...settings.ways, "png"]) ways.append(new Option(way, way));
  ways.addEventListener("change", async () => {
    const way = ways.value;
    ways.value = "";
    if (way === "png") return copyAs("png", by("picture").querySelector("svg"));
    const out = way ? await engine.ask({ ...asked(), ask: "copy", as: way }, "copy") : null;
    if (out?.error) by("status").textContent = out.error.message;
    else if (out) await copyAs(way, out.text);
    return undefined;
  });
}

function fields(used) {
  for (const label of document.querySelectorAll("#options .fields label")) {
    label.hidden = !used.includes(label.dataset.option) && !(label.dataset.option in state.options);
  }
}

// The state into the fields.
function fill() {
  editor.text = state.source;
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

async function load(fragment) {
  const found = await unpack(fragment);
  const fallback = settings.file ? { file: true } : settings.first || FIRST;
  Object.assign(state, { source: "", options: {}, let: "", name: "", file: false, tab: "" }, found || fallback);
  editor.example = !found && !settings.file;
  if (state.file && !settings.file) state.file = false;
  if (state.file && followed) state.source = followed.text;
  fill();
  if (state.tab) more.open(state.tab);
  return draw();
}

let followed = null;
build();
const before = by("picture").querySelector("svg"); // drawn when the site was made
if (before && settings.drawn && !location.hash) {
  explorer.take(before, settings.drawn.panels, settings.drawn.formula);
  fields(settings.drawn.uses);
} else by("picture").classList.toggle("stale", Boolean(before));
if (settings.engine !== "server" && navigator.serviceWorker) {
  navigator.serviceWorker.register(new URL("service.js", document.baseURI)).catch(() => {}); // without it, it only needs the network
}
if (settings.file) {
  engine.follow((now) => {
    const first = !followed;
    followed = now;
    by("status").textContent = now.error || `${first ? "following" : "reloaded"} ${now.name}`;
    if (first && !state.file) return;
    state.file = true; // saved anew: what was tried in the page gives way
    state.source = now.text;
    fill();
    changed();
  });
}
narrow.addEventListener("change", () => draw());
addEventListener("hashchange", () => load(location.hash));
await load(location.hash);
