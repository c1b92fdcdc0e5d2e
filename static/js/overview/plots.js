// The three charts as uPlot wants them: columns from points, looks from the page's own colours.
window.Chargehand.plots = (() => {
  "use strict";
  // From the ground up: what is done lies still, what waits is on top.
  const STACK = [
    { name: "Completed", label: gettext("Completed"), of: ["COMPLETED"], colour: "completed", shape: "●" },
    { name: "Running", label: gettext("Running"), of: ["RUNNING"], colour: "running", shape: "◑" },
    { name: "Assigned", label: gettext("Assigned"), of: ["ASSIGNED"], colour: "assigned", shape: "◔" },
    { name: "Failed", label: gettext("Failed"), of: ["FAILED"], colour: "failed", shape: "↻" },
    { name: "Dead", label: gettext("Dead"), of: ["DEAD"], colour: "dead", shape: "✕" },
    { name: "Pending", label: gettext("Pending"), of: ["PENDING"], colour: "pending", shape: "○" },
    {
      name: "Closed",
      label: gettext("Closed"),
      of: ["DISMISSED", "CANCELLED", "SKIPPED"],
      colour: "closed",
      shape: "⊘",
    },
  ];
  const CLOSED = STACK[STACK.length - 1]; // rare: named only where there is any
  const LINES = ["dead", "running", "completed", "failed-mark", "closed-mark", "accent", "soft"];
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 4]];
  // More lines than these cannot be told apart.
  const MOST_LINES = 12;

  // A custom property's value is its text; a colour is resolved by whoever wears it.
  const colour = (() => {
    const probe = document.createElement("i");
    probe.hidden = true;
    document.documentElement.append(probe);
    return (token) => {
      probe.style.color = `var(--${token})`;
      return getComputedStyle(probe).color;
    };
  })();

  const inStatus = (point, entry) => entry.of.reduce((n, s) => n + (point.by_status[s] || 0), 0);

  // Points with a break wherever samples are missing; the oldest task's age is known across a break
  // when the same task stands at both ends.
  const broken = (points) => {
    const all = [];
    points.forEach((point, i) => {
      const before = points[i - 1];
      if (before && point.gap) {
        const known = before.oldest !== null && before.oldest === point.oldest;
        const at = (before.at + point.at) / 2;
        all.push({ at, by_status: null, active: null, oldest: known ? point.oldest : undefined });
      }
      all.push(point);
    });
    return all;
  };

  const age = (point) => {
    if (point.oldest === undefined) return null;
    return point.oldest === null ? 0 : Math.max(0, point.at - point.oldest);
  };

  // Completed tasks a second, of the last ten seconds: of one second it would be a row of needles.
  const RATE_SECONDS = 10;
  const rates = (all) => {
    let first = 0;
    return all.map((point, i) => {
      if (!point.by_status) {
        first = i + 1;
        return null;
      }
      while (first < i - 1 && all[first].at < point.at - RATE_SECONDS) first += 1;
      const since = all[first];
      return first < i ? Math.max(0, point.done - since.done) / (point.at - since.at) : null;
    });
  };

  const columns = (points, hidden, workers) => {
    const all = broken(points);
    const at = all.map((point) => point.at);
    let below = at.map(() => 0);
    const stacked = STACK.map((entry) => {
      if (!hidden.has(entry.name))
        below = below.map((n, i) => n + (all[i].by_status ? inStatus(all[i], entry) : 0));
      return below.map((n, i) => (all[i].by_status ? n : null));
    });
    return {
      points: all,
      status: [at, ...stacked.reverse()], // the tallest first: each lower one is drawn over it
      active: [at, ...workers.map((name) => all.map((p) => p.active?.[name] ?? null))],
      rate: [at, rates(all)],
      oldest: [at, all.map(age)],
    };
  };

  // Every worker of the window while they are few, else the most and the least loaded by now.
  const chooseWorkers = (points) => {
    const seen = new Set();
    for (const point of points) for (const name in point.active || {}) seen.add(name);
    const names = [...seen].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    if (names.length <= MOST_LINES) return { names, of: names.length };
    const now = points.findLast((point) => point.active)?.active || {};
    const by = Object.keys(now).sort((a, b) => now[b] - now[a]);
    const half = MOST_LINES / 2;
    const chosen = by.length > MOST_LINES ? [...by.slice(0, half), ...by.slice(-half)] : by;
    return { names: chosen.sort(), of: names.length };
  };

  // A worker keeps its look for as long as the page is open.
  const places = new Map();
  const look = (name) => {
    if (!places.has(name)) places.set(name, places.size);
    const i = places.get(name);
    return { colour: LINES[i % LINES.length], dash: DASHES[i % DASHES.length] };
  };

  const { lang } = document.documentElement;
  const day = new Intl.DateTimeFormat(lang, { day: "numeric", month: "short" });
  const two = (n) => String(n).padStart(2, "0");
  const instants = (_, splits, __, ___, increment) =>
    splits.map((second) => {
      const d = new Date(second * 1000);
      if (increment >= DAY) return day.format(d);
      const minutes = `${two(d.getHours())}:${two(d.getMinutes())}`;
      return increment < 60 ? `${minutes}:${two(d.getSeconds())}` : minutes;
    });
  const compact = new Intl.NumberFormat(lang, { notation: "compact", maximumFractionDigits: 1 });
  const counts = (_, splits) => splits.map((n) => (n < 10000 ? String(n) : compact.format(n)));
  const ages = (_, splits) =>
    splits.map((n) => window.Chargehand.duration(n).replace(".0 ", " "));

  // Seconds between two lines of the grid, and for counts whole tasks.
  const MINUTE = 60;
  const HOUR = 3600;
  const DAY = 86400;
  const TIME_STEPS = [
    ...[1, 2, 5, 10, 15, 30],
    ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
    ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
    ...[1, 2, 5, 10].map((n) => n * DAY),
  ];
  const AGE_STEPS = [
    ...[1, 2, 5, 10, 20, 30],
    ...[1, 2, 5, 10, 20, 30].map((n) => n * MINUTE),
    ...[1, 2, 6, 12].map((n) => n * HOUR),
    ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * DAY),
  ];
  const COUNT_STEPS = [...Array(10).keys()].flatMap((e) => [1, 2, 5].map((n) => n * 10 ** e));

  const font = () => `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = (values, more) => ({
    values,
    font: font(),
    stroke: colour("soft"),
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
    ...more,
  });

  const options = (kind, node, span, series) => ({
    width: node.clientWidth,
    height: node.clientHeight,
    // Half of a time's label stands beyond the last tick: 12 pixels cut it off.
    padding: [8, 24, 0, 0],
    legend: { show: false },
    // The grid over the areas, under which it would tell nothing, but under the lines.
    drawOrder: kind === "status" ? ["series", "axes"] : ["axes", "series"],
    cursor: {
      sync: { key: "chargehand", scales: ["x", null] },
      drag: { x: false, y: false },
      y: false,
      points: { show: kind !== "status" },
    },
    scales: {
      x: { time: true, range: () => span() },
      y: { range: (_, __, top) => [0, Math.max(top || 0, kind === "oldest" ? 10 : 4) * 1.06] },
    },
    axes: [
      axis(instants, { space: 58, gap: 4, size: 24, incrs: TIME_STEPS }),
      kind === "oldest"
        ? axis(ages, { size: 58, incrs: AGE_STEPS })
        : axis(counts, { size: 48, incrs: COUNT_STEPS }),
    ],
    series: [{}, ...series],
  });

  const statusSeries = () =>
    [...STACK].reverse().map((entry) => ({
      label: entry.label,
      fill: colour(entry.colour),
      stroke: colour(entry.colour),
      width: 1,
      points: { show: false },
    }));

  const activeSeries = (workers) =>
    workers.map((name) => ({
      label: name,
      stroke: colour(look(name).colour),
      dash: look(name).dash,
      width: 2,
      points: { show: false },
    }));

  const lineSeries = (label) => [
    { label, stroke: colour("accent"), width: 2, points: { show: false } },
  ];

  return {
    STACK, CLOSED, columns, chooseWorkers, look, colour, age, inStatus, options,
    statusSeries, activeSeries, lineSeries,
  };
})();
