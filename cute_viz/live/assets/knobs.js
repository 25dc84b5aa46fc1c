// Numbers of the source that are worth turning: B, M and S of a swizzle, the atoms and the tile of a TiledMMA, threads of a copy.
import { element } from "./panes.js";

const LONGEST = 1000;
const KNOBS = [
  [/(?:Sw|Swizzle|SW|S)<\s*(\d+)\s*,\s*(\d+)\s*,\s*(-?\d+)\s*>/g, ["B", "M", "S"], [[0, 5], [0, 9], [-5, 9]]],
  [/make_tiled_mma\([^()]*?(?:\{\}|\(\))?\s*,\s*\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)/g, ["atoms M", "N", "K"], null],
  [/make_tiled_mma\([^()]*?(?:\{\}|\(\))?\s*,\s*\([\d\s,]+\)\s*,\s*\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)/g, ["tile M", "N", "K"], null],
  [/make_tiled_copy\([^;]*?>\s*(?:\{\})?\s*,\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)/g, ["threads M", "N"], null],
];

// The numbers of a text: [name, start, end, value, range].
export function knobs(text) {
  const out = [];
  if (text.length > LONGEST) return out; // a whole file: which of its numbers would be meant?
  for (const [pattern, names, ranges] of KNOBS) {
    for (const match of text.matchAll(new RegExp(pattern.source, pattern.flags + "d"))) {
      names.forEach((name, i) => out.push({ name, start: match.indices[i + 1][0], end: match.indices[i + 1][1], value: +match[i + 1], range: ranges && ranges[i] }));
    }
  }
  return out.slice(0, 12);
}

// Fields for them; a number that is turned is put into the source.
export function fields(box, editor) {
  const found = knobs(editor.text), names = found.map((k) => k.name).join();
  if (box.dataset.names !== names) {
    Object.assign(box, { className: "row" }).dataset.names = names;
    box.replaceChildren(...found.map((knob, i) => {
      const [min, max] = knob.range || [1, 1024], input = element("input", null, { type: knob.range ? "range" : "number", className: "knob", min, max });
      let turning = false;
      if (!knob.range) input.style.width = "5em";
      input.addEventListener("input", () => {
        const now = knobs(editor.text)[i];
        if (!now || input.value === "") return;
        editor.change([{ span: [now.start, now.end], text: input.value }], false, turning); // a drag is one step of the history
        turning = knob.range;
      });
      input.addEventListener("change", () => { turning = false; });
      return element("label", `${knob.name} `, {}, input, element("output"));
    }));
  }
  for (const [i, knob] of found.entries()) {
    const [input, out] = [box.querySelectorAll("input")[i], box.querySelectorAll("output")[i]];
    if (document.activeElement !== input) input.value = knob.value;
    out.textContent = knob.range ? ` ${knob.value}` : "";
  }
}
