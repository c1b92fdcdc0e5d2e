// The search box: suggestions from the server while one types, chosen by keys or by pointer.
// Each suggestion says which characters of the query it stands for; nothing here knows the language.
(() => {
  "use strict";
  const PAUSE_MS = 120;
  const input = document.querySelector("[data-search][role=combobox]");
  const list = document.getElementById("suggestions");
  if (!input || !list) return;
  let later = null;
  let at = -1;

  const options = () => [...list.querySelectorAll("[role=option]")];

  const show = (open) => {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    if (!open) mark(-1);
  };

  const mark = (index) => {
    const all = options();
    at = all.length ? Math.max(-1, Math.min(index, all.length - 1)) : -1;
    all.forEach((each, place) => each.setAttribute("aria-selected", String(place === at)));
    if (at < 0) {
      input.removeAttribute("aria-activedescendant");
      return;
    }
    input.setAttribute("aria-activedescendant", all[at].id);
    all[at].scrollIntoView({ block: "nearest" });
  };

  const ask = () => {
    clearTimeout(later);
    later = setTimeout(() => htmx.trigger(input, "suggest"), PAUSE_MS);
  };

  const take = (option) => {
    const { start, end, text } = option.dataset;
    // What was typed since the suggestions came is part of the word that they stand for.
    const until = Math.max(Number(end), input.selectionStart);
    input.setRangeText(text, Number(start), until, "end");
    input.focus();
    ask();
  };

  input.addEventListener("htmx:configRequest", (event) => {
    event.detail.parameters.at = String(input.selectionStart);
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target !== list) return;
    at = -1;
    // What was typed while the answer was under way is asked for again.
    if (event.detail.requestConfig.parameters.q !== input.value) ask();
    show(options().length > 0 && document.activeElement === input);
  });

  input.addEventListener("input", ask);
  input.addEventListener("focus", ask);
  input.addEventListener("click", ask);
  input.addEventListener("blur", () => {
    clearTimeout(later);
    show(false);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      // The first press closes the list; it must not empty the box as a browser would.
      event.preventDefault();
      event.stopPropagation();
      show(false);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && options().length) {
      event.preventDefault();
      if (list.hidden) show(true);
      mark(at + (event.key === "ArrowDown" ? 1 : -1));
    } else if ((event.key === "Enter" || event.key === "Tab") && at >= 0 && !list.hidden) {
      event.preventDefault();
      take(options()[at]);
    }
  });

  // A pointer must not take the focus from the box before the choice is made.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) take(option);
  });
})();
