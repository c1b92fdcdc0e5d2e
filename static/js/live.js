// One websocket a page. It brings samples for the charts and the word "changed" for the tables,
// which fetch again what they show: <div hx-get="…" hx-trigger="chargehand:changed from:body"
// hx-sync="this:queue last">: a server that takes longer than a second is waited for, not asked anew.
// Without it the page polls; on a hidden tab it rests, and also while its reader has paused it. Whoever
// finds a second too fast chooses another pace: messages between two of its beats are left undrawn, and
// the charts fetch what they missed. Both are kept for the next pages. Events on body:
//   chargehand:sample   detail = one second of the record
//   chargehand:quiet    detail = {now, oldest}: the record has no new sample
//   chargehand:changed  tables fetch again
//   chargehand:catchup  charts fetch what they have missed
(() => {
  "use strict";
  const POLL_MS = 5000;
  const PACE_S = [1, 5, 15, 60];
  // Messages come about once a second: one that is a little early is in time.
  const EARLY_MS = 200;
  // The word reaches all pages in one instant; they do not fetch in one.
  const SPREAD_MS = 250;
  // The server says something every second; after ten the line is dead, whatever TCP believes.
  const SILENT_MS = 10000;
  const BACKOFF_MS = 500;
  // A page that is looked at is right again within two seconds of the server's return.
  const BACKOFF_CAP_MS = 1500;
  // How long a line may take to open: at first as long as a healthy one takes at the most.
  const OPEN_MS = [1500, 3000, 6000, 10000];
  const SIGNED_OUT = 4401;

  const PAUSED_KEY = "chargehand-paused";
  const PACE_KEY = "chargehand-pace";
  const OFF = "off";

  const label = document.querySelector("[data-connection]");
  const pauseButton = document.querySelector("[data-pause]");
  const paceChoice = document.querySelector("[data-pace]");
  if (!label) return;
  const root = document.querySelector('meta[name="site-root"]').content;
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${root}ws/live/`;
  let socket = null;
  let failures = 0;
  let heardAt = 0;
  let retry = null;
  let opening = null;
  let paused = stored(PAUSED_KEY) === "yes";
  let paceMs = paceOf(stored(PACE_KEY));
  let shownAt = Date.now();
  // What came since the page was drawn last and waits for the next beat of its pace.
  let undrawn = false;
  let undrawnChange = false;

  function stored(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // storage is refused: nothing is kept from page to page
    }
  }

  function keep(key, value) {
    try {
      localStorage.setItem(key, value);
    } catch {
      // not kept: it holds for this page
    }
  }

  function paceOf(text) {
    const seconds = Number(text);
    return 1000 * (PACE_S.includes(seconds) ? seconds : PACE_S[0]);
  }

  const resting = () => paused || document.hidden;

  const WORDS = {
    live: gettext("Live"),
    away: gettext("Database away"),
    reconnecting: gettext("Reconnecting…"),
    paused: gettext("Paused"),
  };
  const TITLES = {
    reconnecting: gettext("Figures are fetched every 5 s, or at a slower pace, until the line is back"),
    away: gettext("The web process runs; its database does not answer"),
    paused: gettext("Nothing on this page changes until it goes on"),
  };
  const say = (state) => {
    if (label.dataset.state === state) return;
    label.dataset.state = state;
    label.textContent = WORDS[state];
    label.title = TITLES[state] || "";
  };

  const tell = (name, detail) =>
    document.body.dispatchEvent(new CustomEvent(`chargehand:${name}`, { detail }));

  let changedAt = 0;
  let changedLater = null;
  const changed = () => {
    if (changedLater || resting()) return;
    changedLater = setTimeout(
      () => {
        changedLater = null;
        if (resting()) return;
        // A dialog must not lose the table under it.
        if (document.querySelector("dialog[open]")) return changed();
        changedAt = Date.now();
        tell("changed");
      },
      Math.max(0, changedAt + paceMs - Date.now()) + Math.random() * SPREAD_MS,
    );
  };

  const count = (byStatus) => {
    for (const node of document.querySelectorAll("[data-count]")) {
      const n = byStatus[node.dataset.count] || 0;
      node.textContent = n;
      node.hidden = n === 0;
    }
  };

  // The leader writes a sample in the transaction of a round: the round is as young as the sample.
  const follow = (at) => {
    for (const node of document.querySelectorAll("[data-follows-samples] time"))
      node.dateTime = new Date(at * 1000).toISOString();
  };

  // Everything at once, whenever the page was fetched last: it was cut off, or paused.
  const catchUp = () => {
    changedAt = 0;
    clearTimeout(changedLater);
    changedLater = null;
    shownAt = Date.now();
    undrawn = undrawnChange = false;
    // What was asked before the line was cut may never be answered.
    for (const table of document.querySelectorAll('[hx-trigger*="chargehand:changed"]'))
      window.htmx.trigger(table, "htmx:abort");
    tell("catchup");
    changed();
  };

  const heard = (event) => {
    heardAt = Date.now();
    // The server sends only so many messages ahead of this word; a slow page loses samples.
    event.target.send("ok");
    const message = JSON.parse(event.data);
    const back = label.dataset.state === "away" && !message.away;
    say(message.away ? "away" : "live");
    if (message.away) return;
    window.Chargehand.correct(message.now);
    if (back) catchUp();
    else if (Date.now() - shownAt >= paceMs - EARLY_MS) draw(message);
    else {
      undrawn ||= Boolean(message.sample || message.missed);
      undrawnChange ||= Boolean(message.changed || message.missed);
    }
  };

  const draw = (message) => {
    const moved = message.changed || message.missed || undrawnChange;
    if (message.missed || undrawn) tell("catchup");
    shownAt = Date.now();
    undrawn = undrawnChange = false;
    if (message.sample) {
      count({ ...message.sample.by_status, INBOX: message.inbox });
      follow(message.sample.at);
      tell("sample", message.sample);
    } else {
      tell("quiet", message);
    }
    if (moved) changed();
  };

  const again = (event) => {
    socket = null;
    clearTimeout(opening);
    if (resting()) return;
    if (event.code === SIGNED_OUT) {
      document.dispatchEvent(new CustomEvent("chargehand:signed-out"));
      return;
    }
    say("reconnecting");
    // Full jitter: a thousand browsers do not come back in the same instant.
    const delay = Math.random() * Math.min(BACKOFF_CAP_MS, BACKOFF_MS * 2 ** failures);
    failures += 1;
    retry = setTimeout(connect, delay);
  };

  function connect() {
    clearTimeout(retry);
    if (socket || resting()) return;
    const mine = new WebSocket(address);
    socket = mine;
    heardAt = Date.now();
    // What was sent while the line was cut may be waited for very long: a new line is faster.
    const patience = OPEN_MS[Math.min(failures, OPEN_MS.length - 1)];
    opening = setTimeout(() => {
      drop();
      again({ code: 0 });
    }, patience);
    mine.onopen = () => {
      clearTimeout(opening);
      failures = 0;
      say("live");
      catchUp();
    };
    mine.onmessage = heard;
    mine.onclose = (event) => {
      if (socket === mine) again(event);
    };
  }

  const drop = () => {
    clearTimeout(retry);
    clearTimeout(opening);
    const old = socket;
    socket = null;
    old?.close();
  };

  const restOrGoOn = () => {
    if (resting()) {
      drop();
      say("paused");
    } else {
      failures = 0;
      say("reconnecting");
      connect();
    }
    pauseButton.textContent = paused ? gettext("Go on") : gettext("Pause");
    paceChoice.value = paused ? OFF : String(paceMs / 1000);
  };

  const pause = (wanted) => {
    if (paused === wanted) return;
    paused = wanted;
    keep(PAUSED_KEY, paused ? "yes" : "no");
    restOrGoOn();
  };
  const togglePause = () => pause(!paused);

  pauseButton.hidden = paceChoice.hidden = false;
  pauseButton.addEventListener("click", togglePause);
  paceChoice.addEventListener("change", () => {
    const chosen = paceChoice.value;
    if (chosen !== OFF) {
      paceMs = paceOf(chosen);
      keep(PACE_KEY, chosen);
      if (!paused) catchUp();
    }
    pause(chosen === OFF);
  });
  // What a part asks by itself every so often follows the pace, and rests with the page.
  const polledAt = new WeakMap();
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, requestConfig } = event.detail;
    if (requestConfig.triggeringEvent || !/\bevery /.test(elt.getAttribute("hx-trigger"))) return;
    const early = Date.now() - (polledAt.get(elt) ?? 0) < paceMs - EARLY_MS;
    if (resting() || early) event.preventDefault();
    else polledAt.set(elt, Date.now());
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "p" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) return;
    if (!document.querySelector("dialog[open]")) togglePause();
  });
  document.addEventListener("visibilitychange", restOrGoOn);
  // A page that the browser keeps for "back" must not hold a socket.
  addEventListener("pagehide", drop);
  addEventListener("pageshow", (event) => event.persisted && connect());
  addEventListener("online", () => {
    failures = 0;
    // A line that is only being waited for was begun while there was no network.
    if (socket && socket.readyState !== WebSocket.OPEN) drop();
    connect();
  });

  setInterval(() => {
    if (socket && Date.now() - heardAt > SILENT_MS) {
      drop();
      again({ code: 0 });
    }
  }, 1000);
  setInterval(() => {
    if (resting() || label.dataset.state === "live") return;
    if (Date.now() - shownAt < Math.max(POLL_MS, paceMs) - EARLY_MS) return;
    shownAt = Date.now();
    tell("catchup");
    changed();
  }, 1000);

  restOrGoOn();
})();
