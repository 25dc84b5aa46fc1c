// A mark in the source opens its row, and a row shows its line.
"use strict";
const lit = (id) => {
  for (const line of document.querySelectorAll(".source .lit")) line.classList.remove("lit");
  const line = document.getElementById(id);
  const source = line?.closest(".source");
  if (!source) return;
  line.classList.add("lit");
  source.scrollTop = line.offsetTop - source.clientHeight / 2;
};
document.addEventListener("click", (event) => {
  const target = event.target.closest("a[href^='#']");
  if (!target) return;
  const row = document.getElementById(target.hash.slice(1));
  if (row?.tagName === "DETAILS") {
    row.closest(".rest")?.setAttribute("open", "");
    row.open = true;
  }
  else { event.preventDefault(); lit(target.hash.slice(1)); }
});
for (const row of document.querySelectorAll("details[id]")) {
  row.addEventListener("toggle", () => { if (row.open) lit(row.querySelector("a[href^='#L']")?.hash.slice(1)); });
}
const first = document.querySelector("details[open] a[href^='#L']");
if (first) lit(first.hash.slice(1));
