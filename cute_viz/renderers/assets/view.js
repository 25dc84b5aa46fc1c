// A picture in its window: fitted, zoomed around a point, dragged; scroll bars and arrow keys stay those of the browser.
const LEGIBLE = 0.7; // a picture that would have to be smaller to fit is scrolled
const GROWN = 1.6; // as large as a small one becomes

export class View {
  constructor(box, changed = () => {}) {
    this.box = box;
    this.changed = changed;
    this.scale = 1;
    this.free = false; // whether somebody has zoomed
    this.dragged = false;
    box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), event.clientX, event.clientY);
    }, { passive: false });
    box.addEventListener("pointerdown", (event) => this.grab(event));
    box.addEventListener("touchmove", (event) => this.pinch(event), { passive: false });
    box.addEventListener("touchend", () => { this.apart = 0; });
    if (typeof ResizeObserver === "function") {
      new ResizeObserver(([{ contentRect }]) => { this.room = [contentRect.width, contentRect.height]; if (!this.free) this.fit(this.least); }).observe(box);
    }
  }

  // Take another picture; a zoom that somebody chose stays.
  take(svg) {
    this.svg = svg;
    this.width = svg.viewBox.baseVal.width || 1;
    this.height = svg.viewBox.baseVal.height || 1;
    if (this.free) this.set(this.scale);
    else this.fit();
  }

  // The picture as large as its window, but no smaller than can be read; least 0: all of it.
  fit(least = LEGIBLE) {
    this.least = least;
    if (!this.svg) return;
    if (!this.room) { // what an observer tells costs no layout
      const style = getComputedStyle(this.box), inside = (size, ...sides) => sides.reduce((left, side) => left - parseFloat(style[side]), size);
      this.room = [inside(this.box.clientWidth, "paddingLeft", "paddingRight"), inside(this.box.clientHeight, "paddingTop", "paddingBottom")];
    }
    const wide = (this.room[0] - 2) / this.width, high = (this.room[1] - 2) / this.height;
    this.free = false;
    this.set(Math.max(0.05, Math.min(GROWN, wide > 0 ? wide : 1, Math.max(high, least))));
  }

  set(scale) {
    this.scale = Math.min(16, Math.max(0.05, scale));
    this.svg.style.width = `${this.width * this.scale}px`;
    this.svg.style.height = `${this.height * this.scale}px`;
    this.changed(this.scale);
  }

  zoom(factor, clientX, clientY) {
    if (!this.svg) return;
    const box = this.box.getBoundingClientRect(), before = this.svg.getBoundingClientRect();
    const cx = clientX === undefined ? box.left + box.width / 2 : clientX, cy = clientY === undefined ? box.top + box.height / 2 : clientY;
    const x = (cx - before.left) / before.width, y = (cy - before.top) / before.height;
    this.free = true;
    this.set(this.scale * factor);
    const after = this.svg.getBoundingClientRect();
    this.box.scrollLeft += after.left + x * after.width - cx;
    this.box.scrollTop += after.top + y * after.height - cy;
  }

  // Two fingers zoom around the place between them; one scrolls, as everywhere.
  pinch(event) {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const [a, b] = event.touches, apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (this.apart) this.zoom(apart / this.apart, (a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2);
    this.apart = apart;
  }

  // Keep a rectangle of the picture in sight.
  reveal(x, y, w, h) {
    const s = this.scale, margin = 24, box = this.box;
    if (x * s < box.scrollLeft + margin) box.scrollLeft = x * s - margin;
    if ((x + w) * s > box.scrollLeft + box.clientWidth - margin) box.scrollLeft = (x + w) * s - box.clientWidth + margin;
    if (y * s < box.scrollTop + margin) box.scrollTop = y * s - margin;
    if ((y + h) * s > box.scrollTop + box.clientHeight - margin) box.scrollTop = (y + h) * s - box.clientHeight + margin;
  }

  grab(event) {
    if (event.button !== 0 || event.pointerType === "touch") return;
    const start = [event.clientX, event.clientY, this.box.scrollLeft, this.box.scrollTop];
    this.dragged = false;
    const move = (to) => {
      const dx = to.clientX - start[0], dy = to.clientY - start[1];
      if (!this.dragged && Math.hypot(dx, dy) < 5) return;
      this.dragged = true;
      this.box.classList.add("grabbed");
      this.box.scrollLeft = start[2] - dx;
      this.box.scrollTop = start[3] - dy;
    };
    const drop = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", drop);
      this.box.classList.remove("grabbed");
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", drop);
  }
}
