// What there is to know of a picture's panels: who owns a cell, what it shares with cells of other panels, its words, the search.
const FEW = 8; // cells that are told one by one

export class Panels {
  constructor(panels, formula = null) {
    this.list = panels;
    this.formula = formula;
    this.indices = new Map();
    for (const p of panels) // labels that are a column of the data come as its name
      if (typeof p.labels === "string") p.labels = p.data[p.labels].map((v) => (v === null ? "" : Array.isArray(v) ? `(${v.join(",")})` : String(v)));
    for (const p of panels) p.first = [p.rowLabels, p.colLabels].map((labels) => (/^\d+$/.test(labels[0]) ? +labels[0] : 0)); // of a band: its columns go on
    for (const p of panels) p.axes = [p.down, p.right].map((name) => (name && name !== "thread" && name !== "value" ? name : ""));
  }

  // Every (thread, value) of a cell; a table's rows are threads and its columns values.
  owners(p, c) {
    if (p.owners[c]) return p.owners[c];
    if (p.data.filled) return p.data.filled[c]; // of shared memory: those that write it
    if (p.thread) return p.thread[c] === null ? [] : [[p.thread[c], p.value ? p.value[c] : null]];
    if (p.down === "thread" && p.right === "value") return [this.crd(p, c)];
    return [];
  }

  // Row and column of a cell, in the whole of which a panel may be a band.
  crd(p, c) { return [p.first[0] + Math.floor(c / p.cols), p.first[1] + (c % p.cols)]; }

  // What a cell has of a relation: cells that have something of it in common belong together.
  keys(p, c, by) {
    if (by === "thread") return this.owners(p, c).map((o) => o[0]);
    if (by === "warp") return [...new Set(this.owners(p, c).map((o) => Math.floor(o[0] / p.warp[0])))];
    if (by === "lane") return [...new Set(this.owners(p, c).map((o) => o[0] % p.warp[0]))];
    if (by === "value") {
      if (p.value && !p.thread) return p.value[c] === null ? [] : [p.value[c]];
      return [...new Set(this.owners(p, c).map((o) => o[1]).filter((v) => v !== null))];
    }
    if (by === "coordinate") return this.place(p, c);
    if (by === "label") return p.labels[c] ? [p.labels[c]] : [];
    const column = p.data[by];
    if (!column || column[c] === null || column[c] === undefined) return [];
    return (by === "bank" ? [column[c]].flat() : [column[c]]).map(String).map((v) => (isNaN(v) ? v : +v)); // a chunk lies in several banks
  }

  // The coordinates of a cell by its axes, such as M=3: an operand and the result have one of theirs in common.
  place(p, c) {
    const [r, k] = this.crd(p, c);
    if (p.down === "thread" && p.data.row) return [`0=${p.data.row[c]}`, `1=${p.data.column[c]}`];
    const tile = this.list.some((q) => q.down === "thread" && q.data.row);
    if (tile && p.axes[0] && p.axes[1]) return [`0=${r}`, `1=${k}`];
    return [p.axes[0] && `${p.axes[0]}=${r}`, p.axes[1] && `${p.axes[1]}=${k}`].filter(Boolean);
  }

  // The relations that exist here.
  relations() {
    const owned = this.list.some((p) => p.thread || (p.down === "thread" && p.right === "value"));
    const threads = owned ? this.last("thread") : -1;
    const has = (name) => this.list.some((p) => p.data[name]);
    const several = this.list.length > 1 && this.shared();
    return [
      owned && "thread", owned && threads > 31 && "warp", owned && threads > 31 && "lane",
      (owned || this.list.some((p) => p.value)) && "value", has("bank") && "bank", has("offset") && "offset", has("byte") && "byte",
      several && "coordinate", this.list.some((p) => p.labels.some(Boolean)) && "label",
    ].filter(Boolean);
  }

  // What may be searched for, with its last number.
  known() {
    const words = { thread: "T0..T", value: "V0..V", warp: "warps 0..", lane: "lanes 0..", bank: "banks 0.." };
    return ["coordinates", ...this.relations().map((by) => (by in words ? words[by] + this.last(by) : { offset: "offsets", byte: "bytes" }[by])).filter(Boolean)];
  }

  shared() {
    const names = this.list.flatMap((p) => [...new Set(p.axes)].filter(Boolean));
    return new Set(names).size < names.length || this.list.some((p) => p.down === "thread" && p.data.row);
  }

  // The cells of a panel by what they have of a relation.
  index(p, by) {
    const name = `${this.list.indexOf(p)} ${by}`;
    let found = this.indices.get(name);
    if (!found) {
      found = new Map();
      for (let c = 0; c < p.rows * p.cols; c++) {
        for (const key of this.keys(p, c, by)) found.has(key) ? found.get(key).push(c) : found.set(key, [c]);
      }
      this.indices.set(name, found);
    }
    return found;
  }

  // The cells of a panel that have one of the keys; of coordinates those that agree in every axis that both have.
  like(p, by, keys) {
    const index = this.index(p, by);
    if (by !== "coordinate") return [...new Set(keys.flatMap((key) => index.get(key) || []))];
    const known = keys.filter((key) => [...index.keys()].some((other) => other.split("=")[0] === key.split("=")[0]));
    if (!known.length) return [];
    const sets = known.map((key) => new Set(index.get(key) || []));
    return [...sets[0]].filter((c) => sets.every((set) => set.has(c)));
  }

  // The largest number of a relation, or -1.
  last(by) {
    let most = -1;
    for (const p of this.list) {
      if (by === "thread" || by === "warp" || by === "lane" || by === "value" || by === "bank") {
        for (const key of this.index(p, by).keys()) if (key > most) most = key;
      }
    }
    return most;
  }

  describe(p, c) {
    const r = Math.floor(c / p.cols), k = c % p.cols, words = [];
    if (p.caption) words.push(p.caption);
    words.push([p.down && `${p.down} ${p.rowLabels[r]}`, p.right && `${p.right} ${p.colLabels[k]}`].filter(Boolean).join(", "));
    const mine = this.owners(p, c);
    if (mine.length) words.push((p.data.filled ? "filled by " : "") + owned(mine, p.warp));
    else if (p.value && p.value[c] !== null) words.push(`value ${p.value[c]}`);
    const terms = p.data.offset ? this.terms(p, r, k, p.data.offset[c]) : "";
    let told = false;
    for (const [name, column] of Object.entries(p.data)) {
      const value = column[c];
      if (value === null || value === undefined || name === "filled") continue;
      words.push(`${name} ${Array.isArray(value) ? written(value) : value}${name === "offset" ? terms : ""}`);
      told = told || String(value) === p.labels[c];
    }
    if (!mine.length && p.labels[c] && !told) words.push(`shows ${p.labels[c]}`);
    return words.join(" · ");
  }

  // The offset of a cell term by term, where the formula gives it.
  terms(p, r, k, offset) {
    const f = this.formula;
    if (!f || this.list.length !== 1) return "";
    const parts = [], size = (mode) => mode.reduce((n, [extent]) => n * extent, 1);
    if (size(f.rows) !== p.rows || size(f.cols) !== p.cols) return "";
    let sum = f.offset;
    if (f.offset) parts.push(`${f.offset}`);
    for (const [mode, at] of [[f.rows, r], [f.cols, k]]) {
      let rest = at;
      for (const [extent, stride] of mode) {
        sum += (rest % extent) * stride;
        parts.push(`${rest % extent}·${stride}`);
        rest = Math.floor(rest / extent);
      }
    }
    const plain = parts.join(" + ");
    if (!f.swizzle) return sum === offset ? ` = ${plain}` : "";
    const [b, m, s] = f.swizzle, ones = (1n << BigInt(b)) - 1n, big = BigInt(sum);
    const bits = (big >> BigInt(m + Math.max(0, s))) & ones, low = (big >> BigInt(m)) & ones;
    const mask = s >= 0 ? bits << BigInt(m) : low << BigInt(m - s);
    if (sum < 0 || Number(big ^ mask) !== offset) return "";
    return ` = ${sum} ^ ${mask}, ${sum} = ${plain}`;
  }

  // What a search means: its name, and a test of a cell.
  search(text) {
    text = text.trim();
    const word = /^(warp|lane|bank|offset|byte|row|column)s?\s*=?\s*(-?\d+)$/i.exec(text);
    if (word) {
      const by = word[1].toLowerCase(), n = +word[2];
      if (by === "row") return [text, (p, c) => this.crd(p, c)[0] === n];
      if (by === "column") return [text, (p, c) => this.crd(p, c)[1] === n];
      return [text, (p, c) => this.keys(p, c, by).includes(n)];
    }
    const tv = /^(?:T(?:hreads?)?\s*=?\s*(\d+)(?:\s*(?:-|\.\.)\s*T?(\d+))?)?[\s,]*(?:V(?:alues?)?\s*=?\s*(\d+)(?:\s*(?:-|\.\.)\s*V?(\d+))?)?$/i.exec(text);
    if (tv && (tv[1] || tv[3])) {
      const [t, tt, v, vv] = tv.slice(1).map((n) => (n === undefined ? null : +n));
      const among = (n, first, last) => first === null || (n !== null && n >= first && n <= (last ?? first));
      const values = (p, c) => (p.value && !p.thread ? [[null, p.value[c]]] : this.owners(p, c));
      return [text, (p, c) => values(p, c).some(([own, held]) => among(own, t, tt) && among(held, v, vv))];
    }
    const crd = /^(?:([A-Za-z]\w*)?\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)|(\d+)\s*,\s*(\d+))$/.exec(text);
    if (crd && !this.list.some((p) => p.labels.includes(text))) {
      const row = +(crd[2] ?? crd[4]), column = +(crd[3] ?? crd[5]), letter = (crd[1] || "").toLowerCase();
      return [text, (p, c) => (!letter || name(p).toLowerCase() === letter) && String(this.crd(p, c)) === `${row},${column}`];
    }
    return [text, (p, c) => p.labels[c] === text || (p.data.offset && String(p.data.offset[c]) === text)];
  }

  // Cells in words, panel by panel: `C(5,3): T21 V1; A(5,3): T21 V1`, of one thread `C: V0 (1,2), V1 (1,3)`.
  told(hits, most = 24) {
    const threads = new Set(hits.flatMap(([p, cells]) => cells.flatMap((c) => this.owners(p, c).map((o) => o[0]))));
    const count = hits.reduce((n, [, cells]) => n + cells.length, 0), one = threads.size === 1 && count > hits.length;
    const parts = hits.map(([p, cells]) => {
      const at = (c) => `(${this.crd(p, c)})`;
      const held = (c) => this.owners(p, c).slice(0, 4).map(([t, v]) => [t === null || one ? "" : `T${t}`, v === null ? "" : `V${v}`].filter(Boolean).join(" ")).join(", ");
      const else_ = (c) => held(c) || ["bank", "byte", "offset"].filter((key) => p.data[key] && p.data[key][c] !== null).slice(0, 1).map((key) => `${key} ${p.data[key][c]}`)[0] || p.labels[c] || "";
      const mine = one ? [] : cells.flatMap((c) => this.owners(p, c).map((o) => o[0])).filter((t) => t !== null);
      if (mine.length > FEW) return `${name(p) || "here"}: ${cells.length} cells of ${runs(mine).replace(/\d+/g, "T$&")}`;
      const words = cells.slice(0, most).map((c) => (one ? `${held(c)} ${at(c)}` : `${name(p)}${at(c)}${else_(c) ? `: ${else_(c)}` : ""}`));
      const rest = cells.length > most ? [`${cells.length - most} more`] : [];
      return (one && name(p) ? `${name(p)}: ` : "") + [...words, ...rest].join(one ? ", " : "; ");
    });
    return (one ? `T${[...threads][0]} holds ` : "") + parts.join("; ");
  }
}

// The matrix of a panel, `C` of `C: 16 × 8 of f32`; "" of one without a short name, and of a band.
function name(p) {
  const word = (p.caption || "").replace(/^columns \d+\.\.\d+$/, "").split(/[:\s]/, 1)[0];
  return word.length <= 12 ? word : "";
}

// `thread 0 value 1`, of several `threads 0..3, 8 value 1`.
function owned(mine, [width, name]) {
  const values = [...new Set(mine.map((o) => o[1]))];
  const lane = (t) => ` (${name} ${Math.floor(t / width)}, lane ${t % width})`;
  if (mine.length === 1) return `thread ${mine[0][0]}${mine[0][1] === null ? "" : ` value ${mine[0][1]}`}${lane(mine[0][0])}`;
  if (values.length === 1) return `threads ${runs(mine.map((o) => o[0]))}${values[0] === null ? "" : ` value ${values[0]}`}`;
  return `${mine.slice(0, 32).map(([t, v]) => `T${t} V${v}`).join(", ")}${mine.length > 32 ? ` and ${mine.length - 32} more` : ""}`;
}

export function runs(numbers) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b), out = [];
  for (const n of sorted) {
    const last = out[out.length - 1];
    if (last && last[1] === n - 1) last[1] = n;
    else out.push([n, n]);
  }
  return out.map(([a, b]) => (a === b ? `${a}` : `${a}..${b}`)).join(", ");
}

const written = (value) => (Array.isArray(value) ? `(${value.map(written).join(",")})` : String(value));
