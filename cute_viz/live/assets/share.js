// Into the clipboard, or a file: text as it is, a picture as PNG, drawn by the browser.
import { button, element } from "./panes.js";

const said = (words) => {
  const status = document.getElementById("status");
  status.textContent = words;
  setTimeout(() => { if (status.textContent === words) status.textContent = ""; }, 5000);
};

const NAMES = { markdown: "Markdown", command: "command", cpp: "C++", dsl: "Python DSL", cute: "CuTe notation", latex: "LaTeX", svg: "SVG", json: "JSON", spec: "spec" };
const FORMATS = { svg: "SVG", png: "PNG", pdf: "PDF", tikz: "TikZ", html: "HTML" };

// The menus of what leaves the page. ways: those that the engine knows to write a source. link: gives the page's address.
export function menus({ ask, ways, link }) {
  const shown = () => document.querySelector("#picture svg"), menu = (name, ones) => {
    const box = document.getElementById(name);
    box.append(...ones.map(([label, act]) => button(label, () => { act(); box.parentElement.open = false; })));
  };
  const asked = async (question, channel, act) => {
    const out = await ask(question, channel);
    if (out) await (out.error ? said(out.error.message) : act(out));
  };
  menu("share", [["Copy link", async () => copyAs("link", await link())],
    ...ways.map((way) => [`Copy as ${NAMES[way] || way}`, () => asked({ ask: "copy", as: way }, "copy", (out) => copyAs(way, out.text))]),
    ["Copy as PNG", () => copyAs("png", shown())]]);
  menu("export", Object.entries(FORMATS).map(([format, words]) => [words, () => {
    if (format === "png") return save(shown(), "png");
    said(`drawing ${format} …`);
    return asked({ ask: "export", as: format }, "export", (out) => save(out, format));
  }]));
  addEventListener("click", (event) => { for (const open of document.querySelectorAll(".drop[open]")) if (!open.contains(event.target)) open.open = false; });
}

export async function copyAs(way, what) {
  try {
    if (way === "png") await navigator.clipboard.write([new ClipboardItem({ "image/png": await png(what) })]);
    else await navigator.clipboard.writeText(what);
    said(`copied: ${way}`);
  } catch {
    if (way === "png") return save(what, "png");
    by(what);
    said(`copied: ${way}`);
  }
  return undefined;
}

// Where a browser gives no clipboard to scripts: a selection, and its copy command.
function by(text) {
  const area = document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text, className: "unseen" }));
  area.select();
  document.execCommand("copy");
  area.remove();
}

// Into a file: an SVG of the page as PNG, an answer of the engine as what it is.
export async function save(what, format) {
  const data = format === "png" ? await png(what) : new Blob([what.base64 ? Uint8Array.from(atob(what.base64), (c) => c.charCodeAt(0)) : what.text], { type: what.mime });
  const link = element("a", null, { href: URL.createObjectURL(data), download: `cute-viz.${format === "tikz" ? "tex" : format}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  said(`saved: ${link.download}`);
}

// An SVG of the page as a PNG of two pixels for each of its own.
export async function png(svg) {
  const copy = svg.cloneNode(true), { width, height } = svg.viewBox.baseVal;
  copy.querySelector(".layer")?.remove();
  copy.removeAttribute("style");
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}
