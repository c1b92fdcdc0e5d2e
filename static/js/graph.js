// Graphs with data-graph: scroll or + and - zoom, drag or the arrow keys move, 0 shows all again.
// What is shown survives a swap. Without this script the graph is shown whole.
(() => {
  "use strict";
  const CLOSEST = 4;
  const STEP = 1.25;
  // A wheel that was scrolling the page goes on scrolling it when the graph comes under it.
  const SCROLLING_MS = 400;
  const views = new Map();
  let scrolledAt = 0;

  const graphOf = (node) => node.closest?.("[data-graph]");

  // Its size stands in the attributes; CSS has the drawing as wide as its place.
  const whole = (graph) => {
    const svg = graph.querySelector("svg");
    return { w: Number(svg.getAttribute("width")), h: Number(svg.getAttribute("height")) };
  };

  const viewOf = (graph) => views.get(graph.id) || { x: 0, y: 0, ...whole(graph) };

  const show = (graph) => {
    const { x, y, w, h } = viewOf(graph);
    graph.querySelector("svg").setAttribute("viewBox", `${x} ${y} ${w} ${h}`);
    graph.toggleAttribute("data-zoomed", views.has(graph.id));
  };

  const set = (graph, view) => {
    const all = whole(graph);
    if (view.w >= all.w * 0.999) {
      views.delete(graph.id);
    } else {
      const x = Math.min(Math.max(view.x, 0), all.w - view.w);
      const y = Math.min(Math.max(view.y, 0), Math.max(all.h - view.h, 0));
      views.set(graph.id, { ...view, x, y });
    }
    show(graph);
  };

  // A large graph in a small place begins with the step that is meant, and what is around it.
  const LEGIBLE = 0.65;
  const seen = new Set();
  const begin = (graph) => {
    const lit = graph.querySelector(".step.lit");
    const svg = graph.querySelector("svg");
    const all = whole(graph);
    if (!seen.has(graph.id) && lit && svg.clientWidth && svg.clientWidth / all.w < LEGIBLE) {
      const box = lit.querySelector(".box").getBBox();
      const { e, f } = lit.transform.baseVal.consolidate().matrix;
      const w = svg.clientWidth / 0.85;
      const h = (w * all.h) / all.w;
      set(graph, { x: e + box.width / 2 - w / 2, y: f + box.height / 2 - h / 2, w, h });
    }
    seen.add(graph.id);
  };

  // The point under the pointer stays where it is.
  const zoom = (graph, factor, at = { x: 0.5, y: 0.5 }) => {
    const all = whole(graph);
    const view = viewOf(graph);
    const w = Math.max(view.w / factor, all.w / CLOSEST);
    const scale = w / view.w;
    const h = view.h * scale;
    set(graph, { x: view.x + (view.w - w) * at.x, y: view.y + (view.h - h) * at.y, w, h });
  };

  const move = (graph, dx, dy) => {
    const view = viewOf(graph);
    set(graph, { ...view, x: view.x + dx * view.w, y: view.y + dy * view.h });
  };

  addEventListener("scroll", () => (scrolledAt = Date.now()), { passive: true });

  document.addEventListener(
    "wheel",
    (event) => {
      const graph = graphOf(event.target);
      if (!graph) return;
      const zoomed = views.has(graph.id);
      const closer = event.deltaY < 0;
      if (!zoomed && (!closer || Date.now() - scrolledAt < SCROLLING_MS)) return;
      event.preventDefault();
      const box = graph.querySelector("svg").getBoundingClientRect();
      const at = {
        x: (event.clientX - box.left) / box.width,
        y: (event.clientY - box.top) / box.height,
      };
      zoom(graph, closer ? STEP : 1 / STEP, at);
    },
    { passive: false },
  );

  let drag = null;
  document.addEventListener("pointerdown", (event) => {
    const graph = graphOf(event.target);
    if (!graph || !views.has(graph.id) || event.button !== 0) return;
    drag = { graph: graph.id, x: event.clientX, y: event.clientY, moved: false };
  });
  document.addEventListener("pointermove", (event) => {
    const graph = drag && document.getElementById(drag.graph);
    if (!graph) return;
    const box = graph.querySelector("svg").getBoundingClientRect();
    const dx = (drag.x - event.clientX) / box.width;
    const dy = (drag.y - event.clientY) / box.height;
    if (!drag.moved && Math.hypot(dx * box.width, dy * box.height) < 4) return;
    move(graph, dx, dy);
    Object.assign(drag, { x: event.clientX, y: event.clientY, moved: true });
  });
  document.addEventListener("pointerup", () => setTimeout(() => (drag = null)));
  // A drag that ends on a step does not open it.
  document.addEventListener(
    "click",
    (event) => {
      if (drag?.moved && graphOf(event.target)) event.preventDefault();
    },
    true,
  );
  document.addEventListener("dragstart", (event) => graphOf(event.target) && event.preventDefault());

  const KEYS = {
    "+": (graph) => zoom(graph, STEP),
    "=": (graph) => zoom(graph, STEP),
    "-": (graph) => zoom(graph, 1 / STEP),
    0: (graph) => set(graph, { x: 0, y: 0, ...whole(graph) }),
    ArrowLeft: (graph) => move(graph, -0.1, 0),
    ArrowRight: (graph) => move(graph, 0.1, 0),
    ArrowUp: (graph) => move(graph, 0, -0.1),
    ArrowDown: (graph) => move(graph, 0, 0.1),
  };
  document.addEventListener("keydown", (event) => {
    const graph = graphOf(event.target);
    const act = KEYS[event.key];
    if (!graph || !act || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow") && !views.has(graph.id)) return;
    event.preventDefault();
    act(graph);
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-print]")) print();
  });
  const graphs = () => document.querySelectorAll("[data-graph]");
  document.addEventListener("htmx:afterSwap", () => graphs().forEach(show));
  graphs().forEach(begin);
})();
