// Who answers: a server, or Python in a worker of the browser. Both take the same questions and give the same answers.
const page = crypto.randomUUID ? crypto.randomUUID() : String(Math.random());

export function engine(settings, said) {
  return settings.engine === "server" ? new Server() : new InBrowser(settings, said);
}

class Server {
  constructor() { this.under = new Map(); this.number = 0; }

  // The answer; null where a newer question of the same kind came in between, which the server is told by their numbers.
  async ask(question, channel = "draw") {
    const number = ++this.number, body = JSON.stringify({ ...question, page: `${page} ${channel}`, number });
    this.under.set(channel, number);
    try {
      const response = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, cache: "no-store", body });
      const text = await response.text();
      if (this.under.get(channel) !== number) return null;
      const out = response.ok ? JSON.parse(text) : { error: { message: `the server refused the request: ${text}` } };
      return out.cancelled ? null : out;
    } catch {
      return this.under.get(channel) !== number ? null : { error: { message: "the server does not answer; is cute-viz serve still running?" } };
    }
  }

  // Only while the page is seen: a browser has six connections for all of its pages.
  follow(seen) {
    let events = null, before = "";
    const listen = () => {
      if (document.hidden) { events?.close(); events = null; return; }
      events ??= new EventSource("file");
      events.onmessage = (event) => {
        const now = JSON.parse(event.data), said = `${now.error}\n${now.text}`;
        if (said !== before) { before = said; seen(now); }
      };
    };
    document.addEventListener("visibilitychange", listen);
    listen();
  }
}

const PATIENCE = 8000; // ms that a picture may take before a newer question ends it: a new worker has to load Python anew

class InBrowser {
  constructor(settings, said) {
    Object.assign(this, { settings, said, waiting: new Map(), number: 0 });
    this.drawn = fetch(new URL(settings.drawn, document.baseURI)).then((response) => response.json()).catch(() => ({}));
    this.start();
  }

  start() {
    this.said("loading Python …");
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.ready = new Promise((done) => { this.done = done; });
    this.worker.onmessage = ({ data }) => {
      if (data.ready) { this.said(""); this.drawn = null; this.done(); return; }
      if (data.said) { this.said(data.said); return; }
      const mine = this.under?.number === data.number ? this.under : null;
      this.under = null;
      mine?.resolve(mine.stale ? null : JSON.parse(data.answer));
      this.next();
    };
    this.worker.onerror = (event) => this.said(`the worker cannot be started: ${event.message || "is the site complete?"}`);
    this.worker.postMessage({ start: { pyodide: new URL(this.settings.pyodide, document.baseURI).href, files: this.settings.files.map((f) => new URL(f, document.baseURI).href) } });
  }

  // One question is under way at a time; of those that wait the newest of each kind is kept. What was drawn with the site needs no Python.
  async ask(question, channel = "draw") {
    const { width, target, ...options } = question.options || {}, drawn = question.ask === "draw" && (await this.drawn)?.[JSON.stringify([question.source, options])];
    this.waiting.get(channel)?.resolve(null);
    this.waiting.delete(channel);
    if (drawn) return drawn;
    return new Promise((resolve) => {
      this.waiting.set(channel, { question, resolve, number: ++this.number, channel });
      if (this.under?.channel === channel) {
        this.under.stale = true;
        if (performance.now() - this.under.since > PATIENCE) this.restart();
      }
      this.ready.then(() => this.next());
    });
  }

  next() {
    if (this.under || !this.waiting.size) return;
    const [channel, one] = this.waiting.entries().next().value;
    this.waiting.delete(channel);
    this.under = one;
    one.since = performance.now();
    this.worker.postMessage({ number: one.number, question: JSON.stringify(one.question) });
  }

  restart() {
    this.worker.terminate();
    this.under?.resolve(null);
    this.under = null;
    this.start();
    this.ready.then(() => this.next());
  }

  follow() {}
}
