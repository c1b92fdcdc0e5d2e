// The points that the charts draw: a window of samples, oldest first, with its gaps.
// A point is {at, by_status, active, oldest, gap}; by_status is null where the record was only asked
// for its oldest task, because no supervisor wrote a sample.
window.Chargehand.makePoints = () => {
  "use strict";
  // Samples come each second; three without one are a gap, as the server has it.
  const GAP_SECONDS = 3;
  let points = [];
  let step = 1;
  let seconds = 300;
  let lastSample = 0;

  const last = () => points[points.length - 1];

  const sameBucket = (a, b) => Math.floor(a / step) === Math.floor(b / step);

  const trim = () => {
    const from = window.Chargehand.now() - seconds;
    // One point before the window's edge, so that the line reaches it.
    const first = points.findIndex((point) => point.at >= from);
    if (first > 1) points.splice(0, first - 1);
    else if (first < 0) points.splice(0, points.length - 1);
  };

  // Within one step the newest sample stands for all; a quiet stretch needs only its end.
  const put = (point) => {
    const before = last();
    const sameStep = before && before.by_status && point.by_status && sameBucket(before.at, point.at);
    const sameQuiet =
      before && !before.by_status && !point.by_status && before.oldest === point.oldest;
    if (!sameStep && !sameQuiet) points.push(point);
    else points[points.length - 1] = { ...point, gap: before.gap || (sameStep && point.gap) };
  };

  const sample = (point) => {
    if (point.at <= lastSample) return;
    const gap = point.gap || (lastSample > 0 && point.at - lastSample > GAP_SECONDS);
    lastSample = point.at;
    put({ ...point, gap });
    trim();
  };

  // No sample, yet the record tells how old its oldest task is by now.
  const quiet = (now, oldest) => {
    if (now - lastSample <= GAP_SECONDS || (last() && now <= last().at)) return;
    put({ at: now, by_status: null, active: null, oldest, gap: !last() || last().by_status !== null });
    trim();
  };

  const add = (answer) => {
    // What was quiet when it was asked has its samples by now.
    while (last() && !last().by_status && answer.points[0]?.at <= last().at) points.pop();
    for (const point of answer.points) if (!last() || point.at > last().at) points.push(point);
    // A rolled-up minute stands for its last second; the latest sample goes on from there.
    const newest = answer.points.length ? answer.points[answer.points.length - 1].at : 0;
    lastSample = Math.max(lastSample, step < 60 ? newest : 0);
    if (answer.latest && answer.latest.at > answer.now - seconds) {
      if (step >= 60 && lastSample === 0) lastSample = answer.latest.at - 1;
      sample(answer.latest);
    }
    quiet(answer.now, answer.oldest);
    trim();
  };

  return {
    load(answer) {
      points = [];
      lastSample = 0;
      ({ step, seconds } = answer);
      add(answer);
    },
    add,
    sample,
    quiet,
    all: () => points,
    window: () => seconds,
    // Where a catch-up begins: what the record rolled up or sampled last.
    newest: () => points.reduce((at, point) => (point.by_status ? point.at : at), 0),
    latest: () => points.findLast((point) => point.by_status),
  };
};
