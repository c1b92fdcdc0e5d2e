// Runs before the first paint: a theme that is set later would flash.
(() => {
  "use strict";
  const KEY = "chargehand-theme";
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(KEY) || "";
    } catch {
      return ""; // storage is refused: the system's theme it is
    }
  };

  const apply = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };

  const press = () => {
    const chosen = root.dataset.theme || "";
    for (const button of document.querySelectorAll("[data-set-theme]"))
      button.setAttribute("aria-pressed", String(button.dataset.setTheme === chosen));
  };

  const announce = () => document.dispatchEvent(new CustomEvent("chargehand:theme"));

  apply(stored());
  document.addEventListener("DOMContentLoaded", press);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-set-theme]");
    if (!button) return;
    const theme = button.dataset.setTheme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // not kept: it holds for this page
    }
    apply(theme);
    press();
    announce();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce);
})();
