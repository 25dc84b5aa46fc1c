// The address of the page holds what it shows, so that a link shows the same, and Back undoes a step.
import { pack } from "./state.js";

const WRITES = [80, 30000]; // so often in so many ms is it written at once: browsers refuse much more than that

export class Address {
  // kept: gives what the link holds. text: the number of the text that is shown.
  constructor({ kept, text }) {
    Object.assign(this, { kept, text, writes: [], newest: 0, waiting: 0, step: false, still: false }); // step: the next is one that Back undoes
    if (location.search) history.replaceState(null, "", location.pathname + location.hash); // the token is in a cookie by now
  }

  soon(ms = 0) { clearTimeout(this.waiting); this.waiting = setTimeout(() => this.write(), ms); }

  async write() {
    clearTimeout(this.waiting);
    const now = performance.now(), mine = ++this.newest;
    if (this.still) return;
    while (this.writes.length && this.writes[0] < now - WRITES[1]) this.writes.shift();
    if (this.writes.length >= WRITES[0]) { this.soon(500); return; }
    const fragment = `#${await pack(this.kept())}`;
    if (mine !== this.newest) return;
    const way = this.step ? "pushState" : "replaceState";
    this.step = false;
    if (fragment === location.hash) return;
    this.writes.push(now);
    history[way]({ text: this.text() }, "", fragment);
  }

  async link(state) { return `${location.href.split("#")[0]}#${await pack(state)}`; }
}
