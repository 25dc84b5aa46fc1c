// The offsets of a layout as a plain table, for the seconds until Python is there to draw its picture.
import { element } from "./panes.js";

const LAYOUT = /^\s*(?:Sw<(\d),(\d),(\d)>\s*o\s*_?0\s*o\s*)?(?=.*[(:])([\d,()\s_]+)(?::([\d,()\s_]+))?$/;
const MOST = 4096; // cells

const list = Array.isArray;
const read = (text) => JSON.parse(text.replace(/[\s_]/g, "").replaceAll("(", "[").replaceAll(")", "]"));
const size = (shape) => (list(shape) ? shape.reduce((all, one) => all * size(one), 1) : shape);

// Column-major strides of a shape, each the product of the extents before it.
function compact(shape, from = 1) {
  if (!list(shape)) return from;
  return shape.map((one) => { const here = compact(one, from); from *= size(one); return here; });
}

// The offset of each coordinate of a mode, the first extent fastest; nothing where shape and stride are not alike.
function offsets(shape, stride) {
  if (list(shape) !== list(stride) || (list(shape) && shape.length !== stride.length)) throw new Error("not alike");
  if (!list(shape)) return Array.from({ length: shape }, (_, n) => n * stride);
  return shape.reduce((all, one, n) => offsets(one, stride[n]).flatMap((far) => all.map((near) => near + far)), [0]);
}

// The rows of offsets of a layout of one or two modes; null of any other text.
export function rows(text) {
  const [, bits = 0, base = 0, shift = 0, left, right] = LAYOUT.exec(text) || [];
  try {
    const shape = read(left), stride = right === undefined ? compact(shape) : read(right), modes = list(shape) ? shape.length : 1;
    const [down, across] = modes === 2 ? shape.map((one, n) => offsets(one, stride[n])) : [[0], offsets(shape, stride)];
    if (modes > 2 || +shift < +bits || size(shape) > MOST) return null;
    const moved = (at) => at ^ ((at >> shift) & (((1 << bits) - 1) << base));
    return down.map((y) => across.map((x) => moved(x + y)));
  } catch {
    return null; // whatever else it is, Python knows
  }
}

export const table = (found) => element("table", null, { className: "early" }, ...found.map((row) => element("tr", null, {}, ...row.map((offset) => element("td", offset)))));
