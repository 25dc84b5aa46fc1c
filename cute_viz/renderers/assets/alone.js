// The page of one picture: its panels stand in the page, and large tables are made when they are opened. Where it is one of
// several, a slider puts another in its place.
import { Explorer, table } from "./explore.js";

const { panels, series } = JSON.parse(document.getElementById("data").textContent);
const explorer = new Explorer();
addEventListener("message", ({ data }) => { // the page around a frame says how dark it is
  if (!["dark", "light"].includes(data?.theme) || !/auto|framed/.test(document.body.className)) return;
  document.body.className = `framed ${data.theme}`;
});
explorer.take(document.querySelector("#picture svg"), panels);
for (const note of document.querySelectorAll("p.later")) {
  note.parentElement.addEventListener("toggle", () => {
    const p = panels[note.dataset.panel];
    if (p.labels.length) note.replaceWith(table(p));
  }, { once: true });
}
if (series) {
  const slider = document.getElementById("series"), which = document.getElementById("which");
  document.getElementById("controls").addEventListener("input", (event) => { // a thread that is searched is the one that is shown
    const word = series.word === "thread" && event.target.id === "find" && /^\s*(?:T|threads?\s*=?\s*)(\d+)\b/i.exec(event.target.value);
    const at = word ? series.pictures.findIndex(([number]) => number === +word[1]) : -1;
    if (at < 0 || +slider.value === at) return;
    slider.value = at;
    slider.dispatchEvent(new Event("input"));
  }, true);
  const picture = document.getElementById("picture"), tables = document.getElementById("tables");
  slider.addEventListener("input", () => {
    const [number, title, words, cut, kept] = series.pictures[slider.value];
    const open = [...tables.children].map((one) => one.open);
    picture.innerHTML = cut.map((n) => series.parts[n]).join("<");
    const now = kept.map((panel) => Object.fromEntries(Object.entries(panel).map(([name, n]) => [name, JSON.parse(series.values[n])])));
    explorer.take(picture.querySelector("svg"), now);
    which.value = number;
    slider.setAttribute("aria-valuetext", `${series.word} ${number}`);
    picture.setAttribute("aria-label", words);
    document.title = title;
    tables.replaceChildren(...now.map((p, n) => {
      const one = document.createElement("details"), head = document.createElement("summary");
      head.textContent = `Table: ${p.caption}`;
      one.append(head, table(p));
      one.open = Boolean(open[n]);
      return one;
    }));
  });
}
