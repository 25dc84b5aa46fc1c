// The page of one picture: its panels stand in the page, and large tables are made when they are opened.
import { Explorer, table } from "./explore.js";

const { panels } = JSON.parse(document.getElementById("data").textContent);
new Explorer().take(document.querySelector("#picture svg"), panels);
for (const note of document.querySelectorAll("p.later")) {
  note.parentElement.addEventListener("toggle", () => {
    const p = panels[note.dataset.panel];
    if (p.labels.length) note.replaceWith(table(p));
  }, { once: true });
}
