// Instants in the reader's own time zone, ages that tick, and the clock, all by the server's clock.
(() => {
  "use strict";
  const written = Number(document.querySelector('meta[name="server-time"]').content);
  let skew = written - Date.now() / 1000;

  const now = () => Date.now() / 1000 + skew;

  // Called with the server's time as a message brings it: a page left open for days stays right.
  const correct = (serverSeconds) => {
    skew = serverSeconds - Date.now() / 1000;
  };

  const KEY = "chargehand-times";
  const stored = () => {
    try {
      return localStorage.getItem(KEY) || "";
    } catch {
      return ""; // storage is refused: the reader's own zone it is
    }
  };
  let zone = stored();

  const two = (n) => String(n).padStart(2, "0");
  // In UTC the local getters read a date that is as far ahead as the zone is behind.
  const here = (date) =>
    zone === "utc" ? new Date(date.getTime() + date.getTimezoneOffset() * 60000) : date;
  const clock = (date) => {
    const d = here(date);
    return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
  };
  const day = (date) => {
    const d = here(date);
    return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  };
  const utc = (date) => `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;

  const local = (date) => {
    const today = day(new Date(now() * 1000));
    return day(date) === today ? clock(date) : `${day(date)} ${clock(date)}`;
  };

  // The same steps as the template filter "duration", whole seconds at the least.
  const duration = (seconds) => {
    const s = Math.max(0, seconds);
    for (const [size, unit] of [
      [86400, "d"],
      [3600, "h"],
      [60, "min"],
    ]) {
      if (s >= 2 * size) {
        const value = s / size;
        return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
      }
    }
    return `${Math.floor(s)} s`;
  };

  const show = (node) => {
    const at = new Date(node.dateTime);
    const age = now() - at.getTime() / 1000;
    const texts = { local: () => local(at), ago: () => duration(age), left: () => duration(-age) };
    const text = texts[node.dataset.time]();
    if (node.textContent !== text) node.textContent = text;
  };

  const tick = () => {
    for (const node of document.querySelectorAll("time[data-time]")) show(node);
    const date = new Date(now() * 1000);
    for (const node of document.querySelectorAll("[data-clock]")) {
      node.hidden = false;
      node.textContent = clock(date);
      node.title = utc(date);
      node.dateTime = date.toISOString();
    }
  };

  const press = () => {
    for (const button of document.querySelectorAll("[data-set-times]"))
      button.setAttribute("aria-pressed", String(button.dataset.setTimes === zone));
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-set-times]");
    if (!button) return;
    zone = button.dataset.setTimes;
    try {
      localStorage.setItem(KEY, zone);
    } catch {
      // not kept: it holds for this page
    }
    press();
    tick();
  });

  window.Chargehand = { now, correct, duration, local, clock, utc };
  tick();
  press();
  document.addEventListener("htmx:afterSwap", tick);
  setInterval(tick, 1000);
})();
