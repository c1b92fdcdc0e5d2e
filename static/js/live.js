// One websocket a page. It brings samples for the charts and the word "changed" for the tables,
// which fetch again what they show: <div hx-get="…" hx-trigger="chargehand:changed from:body">.
// Without it the page polls; on a hidden tab it rests. Events on body:
//   chargehand:sample   detail = one second of the record
//   chargehand:quiet    detail = {now, oldest}: the record has no new sample
//   chargehand:changed  tables fetch again
//   chargehand:catchup  charts fetch what they have missed
(() => {
  "use strict";
  const POLL_MS = 5000;
  const CHANGED_MS = 1000;
  // The word reaches all pages in one instant; they do not fetch in one.
  const SPREAD_MS = 250;
  // The server says something every second; after ten the line is dead, whatever TCP believes.
  const SILENT_MS = 10000;
  const BACKOFF_MS = 500;
  const BACKOFF_CAP_MS = 30000;
  const SIGNED_OUT = 4401;

  const label = document.querySelector("[data-connection]");
  if (!label) return;
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/live/`;
  let socket = null;
  let failures = 0;
  let heardAt = 0;
  let retry = null;

  const WORDS = {
    live: "Live",
    away: "Database away",
    reconnecting: "Reconnecting…",
    paused: "Paused",
  };
  const say = (state) => {
    if (label.dataset.state === state) return;
    label.dataset.state = state;
    label.textContent = WORDS[state];
    label.title =
      state === "reconnecting" ? "Figures are fetched every 5 s until the line is back" : "";
  };

  const tell = (name, detail) =>
    document.body.dispatchEvent(new CustomEvent(`chargehand:${name}`, { detail }));

  let changedAt = 0;
  let changedLater = null;
  const changed = () => {
    if (changedLater) return;
    changedLater = setTimeout(
      () => {
        changedLater = null;
        // A dialog must not lose the table under it.
        if (document.querySelector("dialog[open]")) return changed();
        changedAt = Date.now();
        tell("changed");
      },
      Math.max(0, changedAt + CHANGED_MS - Date.now()) + Math.random() * SPREAD_MS,
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

  const heard = (event) => {
    heardAt = Date.now();
    // The server sends only so many messages ahead of this word; a slow page loses samples.
    event.target.send("ok");
    const message = JSON.parse(event.data);
    say(message.away ? "away" : "live");
    if (message.away) return;
    window.Chargehand.correct(message.now);
    if (message.missed) tell("catchup");
    if (message.sample) {
      count(message.sample.by_status);
      follow(message.sample.at);
      tell("sample", message.sample);
    } else {
      tell("quiet", message);
    }
    if (message.changed || message.missed) changed();
  };

  const again = (event) => {
    socket = null;
    if (document.hidden) return;
    if (event.code === SIGNED_OUT) {
      location.reload(); // the server sends to the log-in and back
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
    if (socket || document.hidden) return;
    const mine = new WebSocket(address);
    socket = mine;
    heardAt = Date.now();
    mine.onopen = () => {
      failures = 0;
      say("live");
      tell("catchup");
      changed();
    };
    mine.onmessage = heard;
    mine.onclose = (event) => {
      if (socket === mine) again(event);
    };
  }

  const drop = () => {
    clearTimeout(retry);
    const old = socket;
    socket = null;
    old?.close();
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      drop();
      say("paused");
    } else {
      failures = 0;
      say("reconnecting");
      connect();
    }
  });
  // A page that the browser keeps for "back" must not hold a socket.
  addEventListener("pagehide", drop);
  addEventListener("pageshow", (event) => event.persisted && connect());
  addEventListener("online", () => {
    failures = 0;
    connect();
  });

  setInterval(() => {
    if (socket && Date.now() - heardAt > SILENT_MS) {
      drop();
      again({ code: 0 });
    }
  }, 1000);
  setInterval(() => {
    if (document.hidden || label.dataset.state === "live") return;
    tell("catchup");
    changed();
  }, POLL_MS);

  say("reconnecting");
  connect();
})();
