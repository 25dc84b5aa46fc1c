// The fields of a picture: one for each option that it uses, or that is set, by groups; the values of names; light or dark.
import { element } from "./panes.js";
import { state } from "./state.js";

const GROUPS = { view: "What is drawn", tile: "What is drawn", operand: "What is drawn", tensor: "What is drawn", crop: "What is drawn", fold: "What is drawn", type: "Elements", bits: "Elements", shape: "Elements", arch: "Elements", wave: "Elements", thread: "Who is lit", warp: "Who is lit", value: "Who is lit" };
const THEMES = { light: "light", print: "light", dark: "dark" };
const by = (id) => document.getElementById(id);

export function theme() {
  return THEMES[state.options.theme] || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

export class Fields {
  // options: what there is, in their order. changed: called with whether one still types. done: one has left the field.
  constructor({ options, changed, done }) {
    const groups = new Map();
    for (const option of options) {
      const words = option.name.replace("_", " "), flag = option.holds === "flag", name = GROUPS[option.name] || "Looks";
      const input = element(option.choices.length ? "select" : "input", null, { name: option.name, title: option.meaning });
      if (option.choices.length) input.append(new Option("auto", ""), ...option.choices.map((choice) => new Option(choice, choice)));
      else if (flag) input.type = "checkbox";
      const label = element("label", null, { className: flag ? "flag" : "" }, ...(flag ? [input, words] : [words, input]));
      label.dataset.option = option.name;
      const act = () => { this.set(option.name, flag ? input.checked : input.value.trim()); changed(input.tagName === "INPUT" && !flag); };
      input.addEventListener("input", act);
      input.addEventListener("change", () => { if (input.tagName === "SELECT" && input.value !== (state.options[option.name] ?? "")) act(); }); // some browsers and drivers tell no more
      if (!groups.has(name)) groups.set(name, element("fieldset", null, {}, element("legend", name)));
      groups.get(name).append(label);
    }
    for (const box of [by("options"), by("let")]) box.addEventListener("change", () => done());
    document.querySelector("#options .fields").append(...groups.values());
    by("let").addEventListener("input", () => { state.let = by("let").value; changed(true); });
    by("theme").addEventListener("click", () => { this.set("theme", theme() === "dark" ? "light" : "dark"); changed(false); });
  }

  set(name, value) {
    state.options = { ...state.options, [name]: value };
    if (!value) delete state.options[name];
    if (name === "theme") this.fill();
  }

  // Only those that a picture uses.
  use(names) {
    for (const label of document.querySelectorAll("#options .fields label")) {
      label.hidden = !names.includes(label.dataset.option) && !(label.dataset.option in state.options);
    }
    for (const group of document.querySelectorAll("#options fieldset")) group.hidden = !group.querySelector("label:not([hidden])");
  }

  // The state into the fields.
  fill() {
    if (by("let").value !== state.let) by("let").value = state.let;
    if (state.let) by("values").open = true;
    for (const input of document.querySelectorAll("#options [name]")) {
      const value = state.options[input.name];
      if (input.type === "checkbox") input.checked = value === true || value === "true";
      else if (input.value.trim() !== (value ?? "")) input.value = value ?? "";
    }
    document.body.classList.remove("auto", "light", "dark");
    document.body.classList.add(THEMES[state.options.theme] || "auto");
  }
}
