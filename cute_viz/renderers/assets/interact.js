// A widget of a notebook: a slider, or a list, for each parameter, and the picture that they give.
export default {
  render({ model, el }) {
    const row = document.createElement("div"), shown = document.createElement("div");
    row.style.cssText = "display:flex;flex-wrap:wrap;gap:4px 18px;align-items:center;padding:4px 0";
    for (const [name, values] of model.get("names")) {
      const label = document.createElement("label"), numbers = values.every((value) => /^-?\d+$/.test(value)), now = model.get("picked")[name];
      const input = document.createElement(numbers ? "input" : "select"), out = document.createElement("output");
      if (numbers) Object.assign(input, { type: "range", min: 0, max: values.length - 1, value: now });
      else { input.append(...values.map((value, n) => new Option(value, n))); input.value = now; }
      input.dataset.lmSuppressShortcuts = true; // JupyterLab would take the arrow keys
      const told = () => { if (numbers) { out.textContent = ` ${values[input.value]}`; input.setAttribute("aria-valuetext", values[input.value]); } };
      input.addEventListener("input", () => { told(); model.set("picked", { ...model.get("picked"), [name]: +input.value }); model.save_changes(); });
      told();
      label.append(`${name} `, input, out);
      row.append(label);
    }
    const show = () => { shown.innerHTML = model.get("html"); };
    model.on("change:html", show);
    show();
    el.append(row, shown);
  },
};
