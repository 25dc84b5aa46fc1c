// The editor: a text area, and under it the same text with the place of an error underlined.
export class Editor {
  constructor(changed) {
    this.area = document.getElementById("source");
    this.under = document.getElementById("under");
    this.example = false; // nobody has written it: the first key takes its place
    this.area.addEventListener("click", () => { if (this.example) this.area.select(); this.example = false; });
    this.area.addEventListener("input", () => { this.example = false; this.mark(null); changed(); });
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") document.getElementById("picture").focus();
    });
    new ResizeObserver(() => this.follow()).observe(this.area);
  }

  get text() { return this.area.value; }

  set text(words) {
    if (this.area.value !== words) this.area.value = words;
    this.mark(null);
  }

  // Underline [start, end); null for nothing.
  mark(span) {
    const text = this.area.value;
    this.area.toggleAttribute("aria-invalid", Boolean(span));
    if (!span) { this.under.replaceChildren(); return; }
    const [start, end] = span, mark = document.createElement("mark");
    mark.textContent = text.slice(start, Math.max(end, start + 1)) || " ";
    this.under.replaceChildren(text.slice(0, start), mark, text.slice(Math.max(end, start + 1)));
    this.follow();
  }

  // Another text in the place of a span, as if it was typed, so that undo takes it back.
  put(span, words) {
    this.area.focus();
    this.area.setSelectionRange(span[0], span[1]);
    if (!document.execCommand("insertText", false, words)) {
      this.area.setRangeText(words, span[0], span[1], "end");
      this.area.dispatchEvent(new Event("input"));
    }
  }

  go(start, end) {
    this.area.focus();
    this.area.setSelectionRange(start, end);
  }

  follow() {
    this.under.scrollTop = this.area.scrollTop;
    this.under.scrollLeft = this.area.scrollLeft;
    this.under.style.width = `${this.area.clientWidth}px`;
  }
}
