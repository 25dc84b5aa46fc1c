// The picture in the page: parts that have the elements of the last picture are written into those, which costs no parsing and no style.
import { picture } from "./panes.js";

const NAME = /^[\w:-]*/, ATTRIBUTE = /([\w:-]+)="([^"]*)"/g;
const LARGE = 64; // tags of a part that is looked for where the parts around it are others
const cut = (tag) => { const end = tag.indexOf(">"); return [tag.slice(0, end), tag.slice(end + 1)]; };
const foreign = (tag) => tag.includes("&") || tag.includes("xlink:"); // what only a parser reads

// An SVG text as the tag of its root and its children, each a list of tags: what stands between two "<".
function children(text) {
  const tags = text.split("<"), parts = [];
  let depth = 0, from = 2;
  for (let n = 2; n < tags.length - 1; n++) {
    const tag = tags[n];
    if (tag[0] === "/") depth--;
    else if (tag[tag.indexOf(">") - 1] !== "/") depth++;
    if (depth === 0) { parts.push(tags.slice(from, n + 1)); from = n + 1; }
  }
  return [tags[1], parts];
}

// What to change in the elements of one part to make them those of another: [number of the element, its tag, the one before, its new words]; null where they are others.
function edits(before, now) {
  if (before.length !== now.length) return null;
  const out = [];
  for (let n = 0, element = -1; n < now.length; n++) {
    const tag = now[n], old = before[n], opens = tag[0] !== "/";
    if (opens) element++;
    if (tag === old) continue;
    if (!opens || foreign(tag) || foreign(old) || NAME.exec(tag)[0] !== NAME.exec(old)[0]) return null;
    const [head, words] = cut(tag), [had, said] = cut(old);
    if (head.endsWith("/") !== had.endsWith("/") || !words !== !said) return null;
    out.push([element, head, had, words === said ? null : words]);
  }
  return out;
}

function write(element, head, had, words = null) {
  if (words !== null) element.firstChild.data = words;
  if (head === had) return;
  const gone = new Map(Array.from(had.matchAll(ATTRIBUTE), ([, name, value]) => [name, value]));
  for (const [, name, value] of head.matchAll(ATTRIBUTE)) {
    if (gone.get(name) !== value) element.setAttribute(name, value);
    gone.delete(name);
  }
  for (const name of gone.keys()) element.removeAttribute(name);
}

export class Drawn {
  constructor(box) { this.box = box; this.svg = null; }

  // The element of an SVG text: the one in the page, changed, or a new one that is not yet in it.
  draw(text) {
    const [root, parts] = children(text), there = this.svg?.parentNode === this.box && !foreign(root + this.root);
    if (there) this.change(root, parts);
    else this.svg = picture(text);
    [this.root, this.parts, this.elements] = [root, parts, there ? this.elements : [...this.svg.children]];
    return this.svg;
  }

  change(root, parts) {
    const old = this.parts, from = new Map(), most = Math.min(old.length, parts.length); // the old part of a new one
    const keep = (now, before) => { const found = edits(old[before], parts[now]); if (found) from.set(now, [before, found]); return found; };
    let start = 0, end = 0;
    while (start < most && keep(start, start)) start++;
    while (end < most - start && keep(parts.length - 1 - end, old.length - 1 - end)) end++;
    for (let n = start, at = start; n < parts.length - end; n++) {
      if (parts[n].length < LARGE) continue;
      for (let k = at; k < old.length - end; k++) if (keep(n, k)) { at = k + 1; break; }
    }
    write(this.svg, root, this.root);
    const fresh = parts.filter((_, n) => !from.has(n)).map((tags) => `<${tags.join("<")}`), kept = new Set();
    const made = fresh.length ? [...picture(`<svg>${fresh.join("")}</svg>`).children] : [];
    const elements = parts.map((_, n) => {
      if (!from.has(n)) return made.shift();
      const [before, found] = from.get(n), mine = this.elements[before], all = found.length ? [mine, ...mine.getElementsByTagName("*")] : [];
      for (const [k, ...what] of found) write(all[k], ...what);
      kept.add(mine);
      return mine;
    });
    for (const one of this.elements) if (!kept.has(one)) one.remove();
    let next = this.svg.firstChild; // behind them stands what the page has put above the picture
    for (const one of elements) if (one === next) next = one.nextSibling; else this.svg.insertBefore(one, next);
    this.elements = elements;
  }
}
