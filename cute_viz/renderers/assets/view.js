// A picture in its window: fitted, zoomed around a point, dragged; scroll bars and arrow keys stay those of the browser.
const GROWN = 1.6; // as large as a small one becomes
const LARGEST = 32; // times that a picture may be enlarged
const AROUND = 30; // of the picture, on each side of a panel that fills the window: its rulers
const STILL = 200; // ms without a wheel, after which a picture that is zoomed is drawn anew: until then it is scaled as it stands

const held = (scale) => Math.min(LARGEST, Math.max(0.05, scale));

export class View {
  constructor(box, changed = () => {}) {
    this.box = box;
    this.changed = changed;
    this.resized = () => {}; // called when the window has another size
    this.scale = 1;
    this.legible = 0.7; // a picture that would have to be smaller to fit is scrolled
    this.free = false; // whether somebody has zoomed
    this.dragged = false;
    box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.glide(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), event.clientX, event.clientY);
    }, { passive: false });
    box.addEventListener("pointerdown", (event) => this.grab(event));
    box.addEventListener("touchmove", (event) => this.pinch(event), { passive: false });
    box.addEventListener("touchend", () => { this.apart = 0; this.settle(); });
    box.addEventListener("scroll", () => this.settle(), { passive: true });
    if (typeof ResizeObserver === "function") {
      new ResizeObserver(([{ contentRect }]) => { this.room = [contentRect.width, contentRect.height]; if (this.part) this.frame(...this.part); else if (!this.free) this.fit(this.least); this.resized(); }).observe(box);
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
  fit(least = this.legible) {
    this.least = least;
    this.part = null; // of the picture, that fills the window
    if (!this.svg) return;
    this.measure();
    const wide = (this.room[0] - 2) / this.width, high = (this.room[1] - 2) / this.height;
    this.free = false;
    this.set(Math.max(0.05, Math.min(GROWN, wide > 0 ? wide : 1, Math.max(high, least))));
  }

  // A rectangle of the picture as large as the window, with what is around it.
  frame(x, y, w, h) {
    this.measure();
    this.part = [x, y, w, h];
    this.free = true;
    this.set(Math.min((this.room[0] - 2) / (w + 2 * AROUND), (this.room[1] - 2) / (h + 2 * AROUND)));
    const svg = this.svg.getBoundingClientRect(), box = this.box.getBoundingClientRect();
    this.box.scrollLeft += svg.left + (x + w / 2) * this.scale - box.left - this.box.clientWidth / 2;
    this.box.scrollTop += svg.top + (y + h / 2) * this.scale - box.top - this.box.clientHeight / 2;
  }

  measure() {
    if (!this.room) { // what an observer tells costs no layout
      const style = getComputedStyle(this.box), inside = (size, ...sides) => sides.reduce((left, side) => left - parseFloat(style[side]), size);
      this.room = [inside(this.box.clientWidth, "paddingLeft", "paddingRight"), inside(this.box.clientHeight, "paddingTop", "paddingBottom")];
    }
  }

  set(scale) {
    this.scale = held(scale);
    this.gliding = null;
    this.svg.style.transform = this.svg.style.willChange = "";
    this.svg.style.width = `${this.width * this.scale}px`;
    this.svg.style.height = `${this.height * this.scale}px`;
    this.changed(this.scale);
  }

  zoom(factor, clientX, clientY) {
    if (!this.svg) return;
    const box = this.box.getBoundingClientRect();
    this.free = true;
    this.around(this.scale * factor, clientX ?? box.left + box.width / 2, clientY ?? box.top + box.height / 2);
  }

  // Another scale, with the place of the window where it was.
  around(scale, cx, cy) {
    this.part = null;
    const before = this.svg.getBoundingClientRect(), x = (cx - before.left) / before.width, y = (cy - before.top) / before.height;
    this.set(scale);
    const after = this.svg.getBoundingClientRect();
    this.box.scrollLeft += after.left + x * after.width - cx;
    this.box.scrollTop += after.top + y * after.height - cy;
  }

  // Zoom as part of a gesture, which a browser does without drawing: the picture as it stands is moved and scaled.
  glide(factor, clientX, clientY) {
    if (!this.svg) return;
    const { left, top } = this.gliding || this.svg.getBoundingClientRect(), { k: before, x, y } = this.gliding || { k: 1, x: 0, y: 0 };
    const k = held(this.scale * before * factor) / this.scale, f = k / before;
    const go = (to, from, moved) => to - from - f * (to - from - moved);
    this.gliding = { left, top, k, x: go(clientX, left, x), y: go(clientY, top, y), at: [clientX, clientY] };
    Object.assign(this.svg.style, { willChange: "transform", transformOrigin: "0 0", transform: `translate(${this.gliding.x}px, ${this.gliding.y}px) scale(${k})` });
    this.free = true;
    clearTimeout(this.still);
    this.still = setTimeout(() => this.settle(), STILL);
  }

  // The end of the gesture.
  settle() {
    if (!this.gliding) return;
    const { k, at } = this.gliding;
    this.around(this.scale * k, ...at);
  }

  // Two fingers zoom around the place between them; one scrolls, as everywhere.
  pinch(event) {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const [a, b] = event.touches, apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (this.apart) this.glide(apart / this.apart, (a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2);
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
