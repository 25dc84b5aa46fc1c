"use strict";
(() => {
  const { panels } = JSON.parse(document.getElementById("data").textContent);
  const picture = document.getElementById("picture");
  const svg = picture.querySelector("svg");
  const cellLine = document.getElementById("cell");
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const form = document.getElementById("controls");
  const layer = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "g"));
  layer.setAttribute("aria-hidden", "true");
  const path = (cls) => {
    const p = layer.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "path"));
    p.setAttribute("class", cls);
    return p;
  };
  const dim = path("dim"), chosen = path("chosen"), here = path("here");
  const square = (p, c) => `M${p.x + (c % p.cols) * p.w} ${p.y + Math.floor(c / p.cols) * p.h}h${p.w}v${p.h}h${-p.w}z`;
  let at = null; // [panel, cell] under the pointer or the keys

  // Every (thread, value) of a cell; a table's rows are threads and its columns values.
  function owners(p, c) {
    if (p.owners[c]) return p.owners[c];
    if (p.thread) return p.thread[c] === null ? [] : [[p.thread[c], p.value ? p.value[c] : null]];
    if (p.down === "thread" && p.right === "value") return [[Math.floor(c / p.cols), c % p.cols]];
    return [];
  }

  function describe(p, c) {
    const r = Math.floor(c / p.cols), k = c % p.cols, words = [];
    if (p.caption) words.push(p.caption);
    words.push(`${p.down} ${p.rowLabels[r]}, ${p.right} ${p.colLabels[k]}`);
    const mine = owners(p, c);
    if (mine.length) words.push(mine.slice(0, 8).map(([t, v]) => `thread ${t}` + (v === null ? "" : ` value ${v}`)).join(", ") +
      (mine.length > 8 ? ` and ${mine.length - 8} more` : "") + ` (${p.warp[1]} ${Math.floor(mine[0][0] / p.warp[0])}, lane ${mine[0][0] % p.warp[0]})`);
    for (const [name, column] of Object.entries(p.data)) {
      const value = column[c];
      if (value !== null && value !== undefined) words.push(`${name} ${Array.isArray(value) ? `(${value.join(",")})` : value}`);
    }
    if (!mine.length && p.labels[c]) words.push(`shows ${p.labels[c]}`);
    return words.join(" · ");
  }

  function show(p, c) {
    at = [p, c];
    here.setAttribute("d", square(p, c));
    cellLine.textContent = describe(p, c);
  }

  // Mark the cells for which test(panel, cell) holds, in every panel; panels without any keep their colours.
  function mark(test, what) {
    let inside = "", outside = "", count = 0;
    for (const p of panels) {
      let mine = "", others = "", n = 0;
      for (let c = 0; c < p.rows * p.cols; c++) {
        if (test(p, c)) { mine += square(p, c); n++; } else others += square(p, c);
      }
      if (n) { inside += mine; outside += others; count += n; }
    }
    dim.setAttribute("d", outside);
    chosen.setAttribute("d", count <= 4096 ? inside : "");
    found.value = `${what}: ${count} cell${count === 1 ? "" : "s"}`;
    return count;
  }

  function clear() {
    dim.setAttribute("d", ""); chosen.setAttribute("d", ""); here.setAttribute("d", "");
    found.value = ""; at = null;
  }

  function choose(p, c) {
    const by = form.elements.by.value, mine = owners(p, c);
    if (!mine.length || by === "label") {
      const label = p.labels[c];
      return mark((q, k) => q.labels[k] === label, label);
    }
    const [t, v] = mine[0];
    if (by === "value") return mark((q, k) => owners(q, k).some((o) => o[1] === v), `value ${v}`);
    if (by === "warp") {
      const of = (q, o) => Math.floor(o[0] / q.warp[0]);
      return mark((q, k) => owners(q, k).some((o) => of(q, o) === of(p, [t])), `${p.warp[1]} ${of(p, [t])}`);
    }
    return mark((q, k) => owners(q, k).some((o) => o[0] === t), `thread ${t}`);
  }

  function search(text) {
    text = text.trim();
    if (!text) return clear();
    const tv = /^(?:T(\d+))?\s*(?:V(\d+))?$/i.exec(text);
    if (tv && (tv[1] || tv[2])) {
      return mark((p, c) => owners(p, c).some(([t, v]) => (!tv[1] || t === +tv[1]) && (!tv[2] || v === +tv[2])), text);
    }
    const crd = /^\(?\s*(\d+)\s*,\s*(\d+)\s*\)?$/.exec(text);
    if (crd && !panels.some((p) => p.labels.includes(text))) {
      return mark((p, c) => Math.floor(c / p.cols) === +crd[1] && c % p.cols === +crd[2], text);
    }
    return mark((p, c) => p.labels[c] === text || (p.data.offset && String(p.data.offset[c]) === text), text);
  }

  function cellAt(event) {
    const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
    const x = (event.clientX - box.left) * view.width / box.width, y = (event.clientY - box.top) * view.height / box.height;
    for (const p of panels) {
      const c = Math.floor((x - p.x) / p.w), r = Math.floor((y - p.y) / p.h);
      if (c >= 0 && r >= 0 && c < p.cols && r < p.rows) return [p, r * p.cols + c];
    }
    return null;
  }

  svg.addEventListener("mousemove", (event) => { const hit = cellAt(event); if (hit) show(...hit); });
  svg.addEventListener("click", (event) => { const hit = cellAt(event); if (hit) { show(...hit); choose(...hit); } else clear(); });
  picture.addEventListener("keydown", (event) => {
    const [p, c] = at || [panels[0], 0];
    const n = panels.indexOf(p), r = Math.floor(c / p.cols), k = c % p.cols;
    const go = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (go) {
      const rr = Math.min(p.rows - 1, Math.max(0, r + (at ? go[0] : 0))), kk = Math.min(p.cols - 1, Math.max(0, k + (at ? go[1] : 0)));
      show(p, rr * p.cols + kk);
    } else if (event.key === "PageDown" || event.key === "PageUp") {
      const q = panels[(n + (event.key === "PageDown" ? 1 : panels.length - 1)) % panels.length];
      show(q, 0);
    } else if (event.key === "Enter" || event.key === " ") {
      if (at) choose(p, c);
    } else if (event.key === "Escape") clear();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== find) { find.focus(); event.preventDefault(); }
  });
  find.addEventListener("input", () => search(find.value));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => clear());
  for (const note of document.querySelectorAll("p.later")) {
    note.parentElement.addEventListener("toggle", () => {
      const p = panels[note.dataset.panel];
      if (!p.labels.length) return;
      const table = document.createElement("table"), head = table.createTHead().insertRow();
      head.insertCell().textContent = `${p.down} \\ ${p.right}`;
      for (const label of p.colLabels) { const th = document.createElement("th"); th.scope = "col"; th.textContent = label; head.append(th); }
      const body = table.createTBody();
      for (let r = 0; r < p.rows; r++) {
        const row = body.insertRow(), th = document.createElement("th");
        th.scope = "row"; th.textContent = p.rowLabels[r]; row.append(th);
        for (let c = 0; c < p.cols; c++) row.insertCell().textContent = p.labels[r * p.cols + c];
      }
      note.replaceWith(table);
    }, { once: true });
  }
})();
