// Tables with data-rows: j and k move, Enter opens, x selects, r and d act; swaps keep all of it,
// and a reload keeps what is selected.
// A row is <tr data-id="…" data-href="…">, its box <input type="checkbox" data-select value="…">.
// An act is a button or link with data-act="requeue" or "dismiss", in the row or for the selection
// (then with data-for-selection; its text counts in [data-selected]).
(() => {
  "use strict";
  const ACTS = { r: "requeue", d: "dismiss" };
  let currentId = null;

  const rows = () => [...document.querySelectorAll("[data-rows] tr[data-id]")];
  const boxes = () => [...document.querySelectorAll("[data-rows] input[data-select]")];
  const currentRow = () => rows().find((row) => row.dataset.id === currentId);

  const mark = (row, focus) => {
    for (const each of rows()) each.classList.toggle("current", each === row);
    currentId = row ? row.dataset.id : null;
    if (!row || !focus) return;
    row.scrollIntoView({ block: "nearest" });
    (row.querySelector("a[href]") || row.querySelector("input, button"))?.focus({
      preventScroll: true,
    });
  };

  const move = (by) => {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(currentRow());
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
    mark(all[Math.min(Math.max(next, 0), all.length - 1)], true);
  };

  const recount = () => {
    const values = boxes().flatMap((box) => (box.checked ? [box.value] : []));
    const selected = values.length;
    // It belongs to this visit: a reload and a step back find it, a page opened anew does not.
    history.replaceState({ ...history.state, selected: values }, "");
    for (const node of document.querySelectorAll("[data-selected]"))
      node.textContent = String(selected);
    for (const node of document.querySelectorAll("button[data-for-selection]"))
      node.disabled = selected === 0;
    for (const all of document.querySelectorAll("input[data-select-all]")) {
      all.checked = selected > 0 && selected === boxes().length;
      all.indeterminate = selected > 0 && !all.checked;
    }
  };

  const act = (name) => {
    const selected = boxes().some((box) => box.checked);
    const forSelection = document.querySelector(`[data-act="${name}"][data-for-selection]`);
    const inRow = currentRow()?.querySelector(`[data-act="${name}"]`);
    const alone = document.querySelector(`[data-act="${name}"][data-for-page]`);
    (selected ? forSelection : inRow || alone)?.click();
  };

  document.addEventListener("change", (event) => {
    if (event.target.matches("input[data-select-all]"))
      for (const box of boxes()) box.checked = event.target.checked;
    if (event.target.matches("input[data-select-all], input[data-select]")) recount();
  });

  document.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-rows] tr[data-id]");
    if (row) mark(row, false);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    if (target.matches("input:not([type=checkbox]), select, textarea")) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      move(event.key === "j" ? 1 : -1);
    } else if (event.key === "x") {
      currentRow()?.querySelector("input[data-select]")?.click();
    } else if (event.key === "Enter" && target === document.body) {
      const href = currentRow()?.dataset.href;
      if (href) location.assign(href);
    } else if (ACTS[event.key]) {
      act(ACTS[event.key]);
    }
  });

  // What a swap replaces is told by ids: what was selected, the current row, and the focus in it.
  let before = null;
  document.addEventListener("htmx:beforeSwap", () => {
    const row = document.activeElement?.closest?.("[data-rows] tr[data-id]");
    const within = row ? [...row.querySelectorAll("a, input, button")] : [];
    before = {
      selected: new Set(boxes().filter((box) => box.checked).map((box) => box.value)),
      focus: row ? { id: row.dataset.id, at: within.indexOf(document.activeElement) } : null,
    };
  });
  document.addEventListener("htmx:afterSwap", () => {
    if (!before) return;
    for (const box of boxes()) box.checked = before.selected.has(box.value);
    if (currentId) mark(currentRow(), false);
    const { focus } = before;
    if (focus && !document.activeElement?.closest?.("[data-rows]")) {
      const row = rows().find((each) => each.dataset.id === focus.id);
      row?.querySelectorAll("a, input, button")[focus.at]?.focus({ preventScroll: true });
    }
    recount();
  });

  const kept = new Set(history.state?.selected);
  for (const box of boxes()) box.checked = kept.has(box.value);
  recount();
})();
