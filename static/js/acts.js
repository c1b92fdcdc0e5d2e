// Acts that are confirmed in a dialog, forms that are sent once, and swaps that change nothing.
// A link or button with hx-target="#act-body" opens the dialog; without this script it loads a page.
(() => {
  "use strict";
  const BODY = "act-body";
  const dialog = document.getElementById("act");

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== BODY || !dialog) return;
    if (!dialog.open) dialog.showModal();
    dialog.querySelector("[autofocus], textarea, button.primary, button.danger")?.focus();
  });

  document.addEventListener("click", (event) => {
    const leave = event.target.closest("dialog a[data-leave]");
    if (!leave) return;
    event.preventDefault();
    dialog.close();
  });

  // What cannot be shown in the dialog (a log-in, a refusal) is shown as its own page.
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.target?.id === BODY) location.assign(event.detail.xhr.responseURL);
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-once]")) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", "true");
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) {
      delete form.dataset.sent;
      for (const button of form.querySelectorAll("button")) button.removeAttribute("aria-disabled");
    }
  });

  // A table that comes back as it was is left alone: a selection of text, an open fold and the
  // scroll within it stay.
  const last = new WeakMap();
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, xhr } = event.detail;
    if (target.id === BODY || !event.detail.shouldSwap) return;
    if (last.get(target) === xhr.responseText) event.detail.shouldSwap = false;
    last.set(target, xhr.responseText);
  });
})();
