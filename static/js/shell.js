// Toasts, dialogs, menus and the keys that work everywhere.
(() => {
  "use strict";
  const TOAST_MS = 8000;

  const closeButton = () => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = "✕";
    button.setAttribute("aria-label", gettext("Close this message"));
    button.dataset.closeToast = "";
    return button;
  };

  // Errors stay until somebody has read them; so does whatever the pointer or the focus is on.
  const keep = (toast) => {
    toast.append(closeButton());
    if (toast.classList.contains("error")) return;
    const leave = () => {
      if (toast.matches(":hover, :focus-within")) setTimeout(leave, TOAST_MS / 4);
      else toast.remove();
    };
    setTimeout(leave, TOAST_MS);
  };

  const toast = (level, text) => {
    const node = document.createElement("div");
    node.className = `toast ${level}`;
    const words = document.createElement("p");
    words.textContent = text;
    node.append(words);
    document.querySelector("[data-toasts]").append(node);
    keep(node);
  };

  // An act that is held counts down; once it may begin there is nothing left to undo.
  const countDown = (toast) => {
    const words = toast.querySelector("[data-countdown]");
    const begins = Date.parse(toast.dataset.begins);
    const offset = Number(document.querySelector('meta[name="server-time"]')?.content) * 1000 - Date.now();
    const tick = () => {
      const left = Math.ceil((begins - Date.now() - (offset || 0)) / 1000);
      if (left > 0) {
        words.textContent = interpolate(gettext("It begins in %(seconds)s s."), { seconds: left }, true);
        setTimeout(tick, 250);
        return;
      }
      words.textContent = gettext("It has begun.");
      toast.querySelector("[data-undo]").remove();
      keep(toast);
    };
    tick();
  };

  for (const each of document.querySelectorAll("[data-toasts] .toast"))
    each.dataset.begins ? countDown(each) : keep(each);

  // On a narrow screen the rail scrolls sideways: the page that is open must be seen in it.
  document.querySelector('.rail [aria-current="page"]')?.scrollIntoView({ block: "nearest" });

  // A response says HX-Trigger: {"chargehand:toast": {"level": "success", "text": "…"}}.
  document.addEventListener("chargehand:toast", (event) =>
    toast(event.detail.level, event.detail.text),
  );
  // A table that could not be fetched again stays as it is and says nothing: the header does. An
  // act that failed must say so.
  const acted = (event) => event.detail.requestConfig.verb !== "get";
  document.addEventListener("htmx:responseError", (event) => {
    const refused = gettext("That did not work: the server answered %(status)s.");
    if (acted(event)) toast("error", interpolate(refused, event.detail.xhr, true));
  });
  document.addEventListener("htmx:sendError", (event) => {
    if (acted(event)) toast("error", gettext("That did not work: the server cannot be reached."));
  });
  // What says the same as before is left alone: a selection of text in it lives on.
  const swapped = new Map();
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { target, fragment } = event.detail;
    const says = fragment.innerHTML;
    if (swapped.get(target.id) === says) event.detail.shouldSwap = false;
    swapped.set(target.id, says);
  });
  // When the log-in is over, the answer is the log-in page, which is no table.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const answered = event.detail.xhr.responseURL;
    const root = document.querySelector('meta[name="site-root"]').content;
    if (!answered || new URL(answered).pathname !== `${root}login/`) return;
    event.detail.shouldSwap = false;
    document.dispatchEvent(new CustomEvent("chargehand:signed-out"));
  });

  const typing = (node) =>
    node.matches("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]");

  // A swap keeps what its reader was at: the focus (in rows, rows.js knows better), the open folds,
  // and how far a part was scrolled. Places are told by ids, else by the way down to them.
  const wayTo = (node, top) => {
    const way = [];
    for (let at = node; at !== top; at = at.parentElement)
      way.unshift([...at.parentElement.children].indexOf(at));
    return way;
  };
  const follow = (way, top) => way.reduce((at, index) => at?.children[index], top);
  const folds = (top) => top.querySelectorAll("details[id]:not([hx-preserve])");
  let kept = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target } = event.detail;
    const focus = document.activeElement;
    const held = focus !== target && target.contains(focus) && !focus.closest("tr[data-id]");
    kept = {
      target: target.id,
      focus: held ? { id: focus.id, tag: focus.tagName, way: wayTo(focus, target) } : null,
      open: [...folds(target)].filter((fold) => fold.open).map((fold) => fold.id),
      scrolls: [...target.querySelectorAll(".scroll, pre")]
        .filter((node) => node.scrollLeft || node.scrollTop)
        .map((node) => ({ way: wayTo(node, target), x: node.scrollLeft, y: node.scrollTop })),
    };
  });
  document.addEventListener("htmx:afterSwap", () => {
    const target = kept?.target && document.getElementById(kept.target);
    if (!target) return;
    for (const fold of folds(target)) if (kept.open.includes(fold.id)) fold.open = true;
    for (const { way, x, y } of kept.scrolls) follow(way, target)?.scrollTo(x, y);
    const { focus } = kept;
    if (!focus || document.activeElement !== document.body) return;
    const found = (focus.id && document.getElementById(focus.id)) || follow(focus.way, target);
    if (found?.tagName === focus.tag) found.focus({ preventScroll: true });
  });

  // g and then a letter leads to a page of the rail.
  const GO_MS = 1500;
  const places = [...document.querySelectorAll(".rail [data-go]")];
  let goUntil = 0;
  const go = (key) => {
    const place = Date.now() < goUntil && places.find((link) => link.dataset.go === key);
    goUntil = key === "g" && !place ? Date.now() + GO_MS : 0;
    if (place) location.assign(place.href);
    return Boolean(place);
  };
  for (const list of document.querySelectorAll("[data-go-keys]"))
    list.replaceChildren(
      ...places.flatMap((link) => {
        const key = document.createElement("kbd");
        key.textContent = link.dataset.go;
        return [key, ` ${link.firstChild.textContent.trim()}  `];
      }),
    );

  const openDialog = (id) => {
    const dialog = document.getElementById(id);
    if (dialog && !dialog.open) dialog.showModal();
  };

  document.addEventListener("click", (event) => {
    const close = event.target.closest("[data-close-toast]");
    if (close) close.closest(".toast").remove();
    const opener = event.target.closest("[data-dialog]");
    if (opener) openDialog(opener.dataset.dialog);
    const closer = event.target.closest("[data-close-dialog]");
    if (closer) closer.closest("dialog").close();
    if (event.target instanceof HTMLDialogElement) event.target.close(); // the backdrop
    for (const menu of document.querySelectorAll("details.menu[open]"))
      if (!menu.contains(event.target) || opener) menu.open = false;
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
      if (typing(event.target)) event.target.blur();
      return;
    }
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    if (go(event.key)) {
      event.stopImmediatePropagation();
      event.preventDefault();
    } else if (event.key === "/") {
      const search = document.querySelector("[data-search]");
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    } else if (event.key === "?") {
      openDialog("help");
    }
  });
})();
