// What somebody typed comes back to its form after a log-in or a refusal: <form data-kept data-page="…">
// holds the fields. The page of the form is looked at first; without it, or without this script, the
// fields are sent from where they are. They rest in this tab's storage for the way to that page alone.
(() => {
  "use strict";
  const KEY = "chargehand-kept";
  const TOKEN = "csrfmiddlewaretoken";
  const here = location.pathname + location.search;
  // The admin's pages have no catalogue for scripts.
  const gettext = window.gettext ?? ((text) => text);

  const pathOf = (address, page) => {
    const url = new URL(address || page, new URL(page, location.href));
    return url.pathname + url.search;
  };

  const formFor = (root, page, action) =>
    [...root.querySelectorAll("form:not([data-kept])")].find(
      (form) =>
        form.method === "post" &&
        [form, ...form.elements].some(
          (each) =>
            (each === form || each.hasAttribute("formaction")) &&
            pathOf(each.getAttribute(each === form ? "action" : "formaction"), page) === action,
        ),
    );

  const fieldsOf = (form) =>
    [...new FormData(form)].filter(([name, value]) => name !== TOKEN && typeof value === "string");

  const fill = (form, fields) => {
    const byName = new Map();
    for (const [name, value] of fields) byName.set(name, [...(byName.get(name) || []), value]);
    for (const element of form.elements) {
      const values = byName.get(element.name);
      if (!element.name || element.name === TOKEN || element.type === "password") continue;
      if (element.matches("[type=checkbox], [type=radio]")) element.checked = !!values?.includes(element.value);
      else if (element.matches("select[multiple]"))
        for (const option of element.options) option.selected = !!values?.includes(option.value);
      else if (element.matches("input, textarea, select") && values?.length) element.value = values.shift();
    }
    const said = document.createElement("p");
    said.classList.add("alert", "messagelist");
    said.setAttribute("role", "status");
    said.textContent = gettext("What you typed was kept and has not been sent.");
    form.before(said);
  };

  const toForm = async (kept) => {
    const page = kept.dataset.page;
    const action = pathOf(kept.getAttribute("action"), here);
    const answer = await fetch(page, { credentials: "same-origin" });
    if (!answer.ok || answer.redirected) return false;
    const there = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!formFor(there, page, action)) return false;
    sessionStorage.setItem(KEY, JSON.stringify({ page, action, fields: fieldsOf(kept) }));
    location.assign(page);
    return true;
  };

  const taken = () => {
    try {
      const text = sessionStorage.getItem(KEY);
      sessionStorage.removeItem(KEY);
      return text ? JSON.parse(text) : null;
    } catch {
      return null; // storage is refused: nothing was brought here
    }
  };

  const isTyped = (element) => {
    if (element.type === "hidden" || element.disabled) return false;
    if (element.matches("[type=checkbox], [type=radio]")) return element.checked !== element.defaultChecked;
    if (element.matches("select"))
      return [...element.options].some(
        (option) => option.selected !== option.defaultSelected && (option.defaultSelected || option.index > 0),
      );
    return element.matches("input, textarea") && element.value !== element.defaultValue;
  };

  // A page that is loaded again, to lead to the log-in, must not take with it what was typed.
  document.addEventListener("chargehand:signed-out", () => {
    const forms = [...document.querySelectorAll("form")].filter((form) => form.method === "post");
    const holds = forms.find(
      (form) => [...form.elements].some(isTyped) || form.querySelector("[aria-invalid=true], .errorlist"),
    );
    if (!holds) {
      location.reload(); // the server sends to the log-in and back
    } else if (!document.getElementById("signed-out")) {
      const said = document.createElement("p");
      said.id = "signed-out";
      said.classList.add("alert");
      said.setAttribute("role", "alert");
      said.textContent = gettext("Your log-in has expired. Send the form: after the log-in your text is back.");
      holds.before(said);
    }
  });

  const brought = taken();
  if (brought && brought.page === here) {
    const form = formFor(document, here, brought.action);
    if (form) fill(form, brought.fields);
  }
  const kept = document.querySelector("form[data-kept]");
  if (!kept?.dataset.page) return;
  if (kept.hasAttribute("data-back")) toForm(kept).catch(() => false);
  kept.querySelector("[data-to-form]")?.addEventListener("click", (event) => {
    event.preventDefault();
    toForm(kept).then(
      (went) => went || kept.querySelector("[data-to-form]").remove(),
      () => false,
    );
  });
})();
