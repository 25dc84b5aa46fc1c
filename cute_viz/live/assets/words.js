// What the editor offers while one types, and says of what is under the pointer: operations, names of the file, atoms.
import { element } from "./panes.js";

// settings.operations: [name, signature, summary]. rows: gives the file's definitions. ask: a question to the engine.
export function words({ settings, rows, ask }) {
  const operations = new Map(settings.operations.map((one) => [one[0], one]));

  const complete = async (context) => {
    const member = context.matchBefore(/\b[A-Za-z_]\w*(?:\.|->|::)\w*/), text = context.state.doc.toString();
    if (member) {
      const [, owner, own] = /^(\w+)(?:\.|->|::)(\w*)$/.exec(member.text), mine = [...fields(text, owner)].filter((name) => name !== own);
      if (mine.length) return { from: member.to - own.length, options: mine.map((label) => ({ label, detail: brief(rows().find((row) => row.name === `${owner}.${label}`) || {}) })) };
    }
    const word = context.matchBefore(/[\w:.{}<>]*[\w]/);
    if (!word || (!context.explicit && word.text.length < 2) || /^\d/.test(word.text)) return null;
    const start = word.text.toLowerCase(), options = [];
    for (const row of rows()) if (row.name) options.push({ label: row.name, detail: brief(row).slice(0, 60), boost: 4 });
    for (const [name, signature, summary] of operations.values()) options.push({ label: name, detail: signature.slice(name.length), info: summary, apply: name, boost: 3 });
    if (text.includes("\n")) for (const label of new Set(text.match(/\b[A-Za-z_]\w{2,}/g))) if (label !== word.text) options.push({ label, boost: 2 }); // parameters, types
    if (start.length > 2) {
      const out = await ask({ ask: "words", source: word.text }, "words");
      for (const atom of out?.atoms || []) { // which match by any of their names: behind the names of the file
        options.push({ label: word.text, displayLabel: atom.name, detail: atom.ptx || atom.arch, apply: atom.example, boost: -99 });
      }
    }
    const seen = new Set(), known = (one) => { const key = one.displayLabel || one.label; return !seen.has(key) && seen.add(key); };
    return { from: word.from, options: options.filter(known), filter: true };
  };

  const hover = async (view, at) => {
    const line = view.state.doc.lineAt(at), text = line.text;
    let from = at - line.from, to = from;
    while (from > 0 && /\w/.test(text[from - 1])) from--;
    while (to < text.length && /\w/.test(text[to])) to++;
    const name = text.slice(from, to);
    if (!/^[A-Za-z_]\w*$/.test(name)) return null;
    const same = rows().filter((row) => row.name === name), operation = operations.get(name);
    let row = same.find((one) => one.line === line.number && !one.file), said = "";
    if (!row && operation && text[to] === "(" && !same.length) said = `${operation[1]}\n${operation[2]}`;
    else if (!row) { // what it means on this line: a parameter as it is launched, a variable that has changed since
      const several = view.state.doc.lines > 1, out = await ask({ ask: "tool.eval", name: several ? `${name}@${line.number}` : name }, "hover");
      const cause = out?.error?.message;
      if (!out) return null;
      if (/^nothing here is named/.test(cause)) row = same.filter((one) => one.line <= line.number).at(-1) || same[0];
      else if (out.value) said = out.value;
      else if (same.length || (out.error?.needs?.length && !/is not defined in this file$/.test(cause))) said = `? ${cause}`;
    }
    if (row) said = `${row.kind || ""} ${brief(row)}`;
    if (!said.trim()) return null;
    return { pos: line.from + from, end: line.from + to, above: true, create: () => ({ dom: element("pre", said.trim().slice(0, 1200), { className: "hover" }) }) };
  };

  return { complete, hover };
}

// The fields of a struct or class, by its name or that of an object of it; and what the text has of the object anyhow.
function fields(text, owner) {
  const found = new Set([...text.matchAll(new RegExp(`\\b${owner}(?:\\.|->|::)(?:template +)?(\\w+)`, "g"))].map(([, name]) => name));
  const type = new RegExp(`\\b([A-Za-z_]\\w*)(?:<[^;{}]*>)?[\\s&*]+${owner}\\s*[;={(,)]`).exec(text)?.[1];
  for (const name of [owner, type]) {
    const begin = name && new RegExp(`\\b(?:struct|class|union)\\s[^;{}]*\\b${name}\\b[^;{}]*\\{`).exec(text);
    let depth = begin ? 1 : 0, outer = "";
    for (let at = begin ? begin.index + begin[0].length : 0; depth > 0 && at < text.length; at++) {
      depth += { "{": 1, "}": -1 }[text[at]] || 0;
      if (depth === 1) outer += text[at];
    }
    for (const [, field] of outer.matchAll(/(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=[^;]*|\}\s*)?;/g)) found.add(field);
  }
  return found;
}

const brief = (row) => row.brief || row.value || row.error || "";
