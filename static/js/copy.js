// Buttons that copy a file's text: <button data-copy="address" hidden>. Without script they stay away.
(() => {
  "use strict";
  const SAID_MS = 2000;

  const show = () => {
    for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
  };

  const copy = async (button) => {
    const answer = await fetch(button.dataset.copy, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(String(answer.status));
    await navigator.clipboard.writeText(await answer.text());
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const label = button.textContent;
    try {
      await copy(button);
      button.textContent = gettext("Copied");
    } catch {
      button.textContent = gettext("Not copied: open the JSON");
    }
    setTimeout(() => (button.textContent = label), SAID_MS);
  });
  document.addEventListener("htmx:afterSwap", show);
  show();
})();
