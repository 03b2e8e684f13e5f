"use strict";
(() => {
  // So many fields are seen at once.
  const FIELDS = 18;
  const make = (name, attributes = {}, ...inner) => {
    const found = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value !== false && value !== null) found.setAttribute(key, value === true ? "" : value);
    found.append(...inner);
    return found;
  };
  const shown = (value) => {
    if (!Number.isFinite(value)) return "–";
    const text = Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-4) ? value.toPrecision(4) : String(Number(value.toPrecision(4)));
    return text.replace("-", "−");
  };
  const percent = (share) => `${(100 * share).toFixed(share > 0.0995 && share < 0.995 ? 0 : 1)}%`;
  const quantile = (sorted, level) => {
    const at = level * (sorted.length - 1), low = Math.floor(at), high = Math.min(low + 1, sorted.length - 1);
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
  };

  // ---- what if ----------------------------------------------------------------------------------------------------
  function whatIf(record, place) {
    const predict = Predictor.of(record);
    const row = record.inputs.map((column) => column.value);
    const outcome = make("div", { class: "outcome", id: "outcome", role: "status", "aria-live": "polite" });
    const fields = make("fieldset", { class: "inputs" }, make("legend", {}, "One row: change a value, and the prediction follows"));

    function update() {
      const draws = predict(row), width = draws[0].length;
      const parts = [], means = [];
      for (let k = 0; k < width; ++k) {
        const values = draws.map((draw) => draw[k]).sort((a, b) => a - b);
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        const ends = [quantile(values, 0.05), quantile(values, 0.95)];
        means.push({ mean, ends });
        const text = record.classes ? percent : shown;
        const bars = record.draws > 1 ? `, 90% interval ${text(ends[0])} to ${text(ends[1])}` : "";
        const name = record.classes ? `P(${record.response} = ${record.outputs[k]})` : `Expected ${record.outputs[k]}`;
        parts.push(make("p", {}, `${name}: `, make("strong", {}, text(mean)), bars));
        if (record.classes) {
          const bar = make("span");
          bar.style.width = `${100 * mean}%`;
          parts.push(make("span", { class: "meter", "aria-hidden": "true" }, bar));
        }
      }
      outcome.dataset.found = JSON.stringify(means);
      outcome.replaceChildren(...parts);
    }

    const more = make("div", { class: "inputs" });
    record.order.forEach((j, at) => {
      const column = record.inputs[j];
      const id = `input-${j}`, input = make("div", { class: "input" }, make("label", { for: id }, column.name));
      const controls = [];
      let read;
      if (column.kind === "numeric") {
        const step = column.step;
        const box = make("input", { type: "number", id, step: "any", value: column.value });
        const slider = make("input", { type: "range", min: column.low, max: column.high, step, "aria-label": `${column.name}, slider` });
        slider.value = box.value;
        slider.addEventListener("input", () => { box.value = slider.value; changed(); });
        box.addEventListener("input", () => { slider.value = box.value; changed(); });
        read = () => (box.value === "" || !Number.isFinite(Number(box.value)) ? row[j] : Number(box.value));
        controls.push(box, slider);
      } else {
        const names = column.kind === "boolean" ? ["false", "true"] : column.levels;
        const select = make("select", { id }, ...names.map((name, level) => make("option", { value: level }, name)));
        select.value = String(column.value);
        select.addEventListener("change", () => changed());
        read = () => Number(select.value);
        controls.push(select);
      }
      input.append(...controls);
      let absent = null;
      if (column.missing) {
        absent = make("input", { type: "checkbox", id: `${id}-missing` });
        absent.addEventListener("change", () => changed());
        input.append(make("label", { class: "missing", for: `${id}-missing` }, absent, ` ${column.name} is missing`));
      }
      function changed() {
        const gone = absent !== null && absent.checked;
        controls.forEach((control) => { control.disabled = gone; });
        row[j] = gone ? null : read();
        update();
      }
      (at < FIELDS ? fields : more).append(input);
    });
    if (more.children.length)
      fields.append(make("details", { class: "more" }, make("summary", {}, `${more.children.length} more columns`), more));
    const again = make("button", { type: "button" }, "Back to the first row");
    again.addEventListener("click", () => { place.replaceChildren(); whatIf(record, place); place.querySelector("button").focus(); });
    place.append(fields, outcome, make("p", {}, again));
    update();
  }

  const data = document.getElementById("what-if-data"), place = document.getElementById("what-if-form");
  if (data && place) whatIf(JSON.parse(data.textContent), place);

  // ---- trees: where they are too wide for the screen, they are shown from their root on -----------------------------
  for (const tree of document.querySelectorAll("svg.tree[data-root]")) {
    const area = tree.closest(".scroll");
    if (area) area.scrollLeft = Number(tree.dataset.root) * tree.clientWidth / tree.viewBox.baseVal.width - area.clientWidth / 2;
  }

  // ---- the map ----------------------------------------------------------------------------------------------------
  for (const map of document.querySelectorAll("svg.map")) {
    const cells = [...map.querySelectorAll(".cell")];
    if (!cells.length) continue;
    const said = make("p", { class: "said", role: "status" }, "Point at a part of the map, or walk over it with the arrow keys, to read its path.");
    map.closest("figure").insertBefore(said, map.closest("figure").querySelector("figcaption"));
    map.setAttribute("role", "group");
    const choose = (cell) => {
      cells.forEach((one) => { one.classList.toggle("chosen", one === cell); one.setAttribute("tabindex", one === cell ? 0 : -1); });
      said.textContent = cell.dataset.path;
    };
    cells.forEach((cell, at) => {
      cell.setAttribute("role", "button");
      cell.setAttribute("aria-label", cell.dataset.path);
      cell.setAttribute("tabindex", at ? -1 : 0);
      cell.addEventListener("click", () => { choose(cell); cell.focus({ preventScroll: true }); });
      cell.addEventListener("pointerenter", () => { said.textContent = cell.dataset.path; });
      cell.addEventListener("focus", () => choose(cell));
      cell.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        const next = event.key === "Home" ? 0 : event.key === "End" ? cells.length - 1 : at + step;
        if (Number.isNaN(next) || !cells[next]) return;
        event.preventDefault();
        cells[next].focus();
      });
    });
  }
})();
