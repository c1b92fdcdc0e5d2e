// The charts' life: history when the page opens, a sample a second, a range, a shared cross-hair.
(() => {
  "use strict";
  const { makePoints, plots, now, clock, local, duration } = window.Chargehand;
  const section = document.querySelector("[data-charts]");
  if (!section) return;
  const HIDDEN_KEY = "chargehand-hidden-statuses";
  const note = section.querySelector("[data-charts-note]");
  const atLabel = section.querySelector("[data-charts-at]");
  const nodeOf = (kind) => section.querySelector(`[data-plot="${kind}"]`);
  const legendOf = (kind) => section.querySelector(`[data-legend="${kind}"]`);

  const points = makePoints();
  const hidden = new Set(readHidden());
  const charts = {};
  let range = "5m";
  let loaded = false;
  let columns = null;
  let workers = [];
  let hover = null;

  function readHidden() {
    try {
      return JSON.parse(localStorage.getItem(HIDDEN_KEY)) || [];
    } catch {
      return [];
    }
  }

  const span = () => [now() - points.window(), now()];

  // --- The values under the cross-hair, or the latest ones --------------------------------------

  const pointShown = () =>
    (hover !== null && columns?.points[hover]) || points.latest() || null;

  const write = (node, text) => {
    if (node && node.textContent !== text) node.textContent = text;
  };

  const showValues = () => {
    const point = pointShown();
    const hovering = hover !== null && columns?.points[hover];
    const at = hovering && { time: local(new Date(hovering.at * 1000)) };
    write(atLabel, at ? interpolate(gettext("at %(time)s"), at, true) : "");
    for (const entry of plots.STACK) {
      const value = point?.by_status ? plots.inStatus(point, entry).toLocaleString("en") : "-";
      write(legendOf("status").querySelector(`[data-value="${entry.name}"]`), value);
    }
    for (const node of legendOf("active").querySelectorAll("[data-value]"))
      write(node, String(point?.active?.[node.dataset.value] ?? "-"));
    const rates = columns?.rate[1] || [];
    const rate = hovering ? rates[hover] : rates.findLast((each) => each !== null);
    write(
      legendOf("rate").querySelector("[data-value]"),
      typeof rate === "number" ? `${rate.toFixed(rate < 10 ? 1 : 0)} /s` : "-",
    );
    const newest = points.all()[points.all().length - 1];
    const age = newest ? plots.age(hovering || { ...newest, at: now() }) : null;
    write(legendOf("oldest").querySelector("[data-value]"), age === null ? "-" : duration(age));
  };

  // --- Legends ----------------------------------------------------------------------------------

  const entry = (value, ...before) => {
    const item = document.createElement("li");
    const figure = document.createElement("b");
    figure.dataset.value = value;
    item.append(...before, figure);
    return item;
  };

  const statusLegend = () => {
    const items = plots.STACK.map(({ name, label, colour, shape }) => {
      const item = entry(name);
      item.dataset.entry = name;
      const button = document.createElement("button");
      const mark = document.createElement("i");
      button.type = "button";
      button.className = `st ${colour === "closed" ? "dismissed" : colour}`;
      button.dataset.status = name;
      button.setAttribute("aria-pressed", String(!hidden.has(name)));
      button.title = gettext("Show or hide in the chart");
      mark.textContent = shape;
      mark.setAttribute("aria-hidden", "true");
      button.append(mark, label, ...item.childNodes);
      item.append(button);
      return item;
    });
    legendOf("status").replaceChildren(...items);
  };

  const line = (look) => {
    const SVG = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(SVG, "svg");
    const stroke = document.createElementNS(SVG, "line");
    for (const [name, value] of Object.entries({ x1: 0, x2: 22, y1: 4, y2: 4, "stroke-width": 2 }))
      stroke.setAttribute(name, value);
    stroke.setAttribute("stroke-dasharray", look.dash.join(" "));
    stroke.style.stroke = `var(--${look.colour})`;
    svg.setAttribute("aria-hidden", "true");
    svg.append(stroke);
    return svg;
  };

  const activeLegend = (of) => {
    legendOf("active").replaceChildren(
      ...workers.map((name) => entry(name, line(plots.look(name)), name)),
    );
    const some = gettext("the most and the least loaded %(shown)s of %(all)s");
    write(
      section.querySelector("[data-workers-note]"),
      of > workers.length ? interpolate(some, { shown: workers.length, all: of }, true) : "",
    );
  };

  // --- Charts -----------------------------------------------------------------------------------

  const seriesOf = {
    status: () => plots.statusSeries(),
    active: () => plots.activeSeries(workers),
    rate: () => plots.lineSeries(gettext("Completed a second")),
    oldest: () => plots.lineSeries(gettext("Age")),
  };

  const describe = (kind) => {
    const keys = gettext(
      "Left and right arrow move the cross-hair, values stand above, Enter lists the tasks of that moment.",
    );
    const names = {
      status: gettext("Tasks by status over time."),
      active: gettext("Active per worker over time."),
      rate: gettext("Completed a second over time."),
      oldest: gettext("Oldest age over time."),
    };
    const node = nodeOf(kind);
    node.tabIndex = 0;
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", `${names[kind]} ${keys}`);
  };

  const make = (kind) => {
    charts[kind]?.destroy();
    const options = plots.options(kind, nodeOf(kind), span, seriesOf[kind]());
    options.hooks = {
      setCursor: [
        (chart) => {
          const index = chart.cursor.idx;
          if (hover === index || (index == null && hover === null)) return;
          hover = index ?? null;
          showValues();
        },
      ],
    };
    charts[kind] = new window.uPlot(options, columns[kind], nodeOf(kind));
  };

  const draw = () => {
    const chosen = plots.chooseWorkers(points.all());
    const changed = chosen.names.join("\n") !== workers.join("\n");
    workers = chosen.names;
    if (changed) activeLegend(chosen.of);
    columns = plots.columns(points.all(), hidden, workers);
    for (const kind of Object.keys(seriesOf)) {
      if (!charts[kind] || (changed && kind === "active")) make(kind);
      else charts[kind].setData(columns[kind]);
    }
    showValues();
    legendOf("status").querySelector('[data-entry="Closed"]').hidden = !points
      .all()
      .some((point) => point.by_status && plots.inStatus(point, plots.CLOSED));
    const empty = !points.latest() && points.all().every((point) => !point.by_status);
    write(note, empty ? gettext("No samples in this range: no supervisor wrote any.") : "");
  };

  // --- The record -------------------------------------------------------------------------------

  // The one that was asked for last wins, however the answers come in.
  let asked = 0;
  const fetchSeries = async (after) => {
    const mine = ++asked;
    const query = new URLSearchParams({ range, ...(after ? { after: String(after) } : {}) });
    const response = await fetch(`${section.dataset.charts}?${query}`, {
      headers: { Accept: "application/json" },
    });
    if (!response.ok || response.redirected) throw new Error(`series: ${response.status}`);
    const answer = await response.json();
    return mine === asked ? answer : null;
  };

  const load = async () => {
    try {
      const answer = await fetchSeries();
      if (!answer) return;
      window.Chargehand.correct(answer.now);
      points.load(answer);
      loaded = true;
      draw();
    } catch {
      // The next catch-up tries again: it comes every few seconds until the server answers.
      write(note, gettext("The history could not be fetched; trying again."));
    }
  };

  const catchUp = async () => {
    if (!loaded) return load();
    try {
      const answer = await fetchSeries(points.newest());
      if (!answer) return;
      points.add(answer);
      draw();
    } catch {
      write(note, gettext("The record could not be fetched; trying again."));
    }
  };

  document.body.addEventListener("chargehand:catchup", catchUp);
  document.body.addEventListener("chargehand:sample", (event) => {
    if (!loaded) return;
    points.sample(event.detail);
    draw();
  });
  document.body.addEventListener("chargehand:quiet", (event) => {
    if (!loaded) return;
    points.quiet(event.detail.now, event.detail.oldest);
    draw();
  });

  // --- The reader -------------------------------------------------------------------------------

  section.addEventListener("click", (event) => {
    const button = event.target.closest("[data-range]");
    if (button) {
      range = button.dataset.range;
      for (const each of section.querySelectorAll("[data-range]"))
        each.setAttribute("aria-pressed", String(each === button));
      loaded = false;
      load();
    }
    const status = event.target.closest("[data-status]");
    if (status) {
      const name = status.dataset.status;
      if (!hidden.delete(name)) hidden.add(name);
      status.setAttribute("aria-pressed", String(!hidden.has(name)));
      try {
        localStorage.setItem(HIDDEN_KEY, JSON.stringify([...hidden]));
      } catch {
        // not kept: it holds for this page
      }
      if (loaded) draw();
    }
  });

  // The tasks that were unfinished at the moment under the cross-hair; on the lines of workers, those
  // that the nearest one held now or before.
  const openMoment = (kind) => {
    const point = hover !== null && columns?.points[hover];
    if (!point) return;
    const at = new Date(point.at * 1000).toISOString().slice(0, 19);
    const words = [`created:<=${at}`, `-ended:<${at}`];
    const { top } = charts[kind].cursor;
    if (kind === "active" && point.active && top >= 0) {
      const held = charts[kind].posToVal(top, "y");
      const away = (name) => Math.abs((point.active[name] ?? Infinity) - held);
      const nearest = [...workers].sort((a, b) => away(a) - away(b))[0];
      if (nearest) words.push(`worker:"${nearest.replace(/["\\]/g, "\\$&")}"`);
    }
    location.assign(`${section.dataset.tasks}?${new URLSearchParams({ q: words.join(" ") })}`);
  };
  for (const kind of Object.keys(seriesOf))
    nodeOf(kind).addEventListener("click", () => openMoment(kind));

  section.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && charts[event.target.dataset?.plot]) {
      openMoment(event.target.dataset.plot);
      return;
    }
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const chart = charts[event.target.dataset?.plot];
    if (!by || !chart) return;
    event.preventDefault();
    const end = chart.data[0].length - 1;
    const index = Math.min(Math.max((hover ?? end + 1) + by, 0), end);
    chart.setCursor({ left: chart.valToPos(chart.data[0][index], "x"), top: 10 }, true, true);
  });

  document.addEventListener("chargehand:theme", () => {
    if (loaded) Object.keys(charts).forEach(make);
  });
  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const chart = charts[target.dataset.plot];
      chart?.setSize({ width: target.clientWidth, height: target.clientHeight });
    }
  });

  // A reader that listens hears of an alert once, not each second as its figures move.
  const announced = document.querySelector("[data-announced]");
  const announce = () => {
    const words = [...document.querySelectorAll(".alert > strong")].map((node) => node.textContent);
    write(announced, words.join(" ") || gettext("No alerts."));
  };
  document.addEventListener("htmx:afterSwap", announce);
  announce();

  section.querySelector("[data-charts-head]").hidden = false;
  legendOf("rate").append(entry("rate"));
  legendOf("oldest").append(entry("age"));
  statusLegend();
  for (const kind of Object.keys(seriesOf)) {
    describe(kind);
    resized.observe(nodeOf(kind));
  }
  load();
})();
