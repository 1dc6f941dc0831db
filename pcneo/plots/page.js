// The interactive picture: hover to see a vertex's connections, drag, click a member to open its cohesion.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const said = document.getElementById("said"), back = document.getElementById("back");
const way = [];
let shown = null;

const colours = data.colours;
const style = [
  { selector: "node", style: { label: "data(label)", "font-size": 11, width: 12, height: 12, "background-color": colours.member,
    "text-outline-color": "#fff", "text-outline-width": 2, "min-zoomed-font-size": 7 } },
  { selector: "node.other", style: { "background-color": "#fff", "border-width": 1.5, "border-color": colours.other, color: "#666" } },
  { selector: "node.vertex", style: { shape: "star", "background-color": "#000", width: 26, height: 26, "font-weight": "bold" } },
  { selector: "node.opens", style: { "border-width": 2, "border-color": "#000" } },
  { selector: "edge", style: { width: 2, "line-color": colours.critical, "curve-style": "haystack", opacity: 0.85 } },
  { selector: "edge.other", style: { width: 1.2, "line-color": colours.other, "curve-style": "straight", "line-style": "dashed" } },
  { selector: "edge.critical.fine", style: { width: 1.2, opacity: 0.6 } },
  { selector: "edge.critical.thin", style: { width: 0.7, opacity: 0.4 } },
  { selector: "edge.near", style: { width: 2, opacity: 1 } },
  { selector: "node.faded", style: { opacity: 0.25 } },
  { selector: "edge.faded", style: { opacity: 0.07 } },
];

const STAR = "M13 0L14.5 4.3H19L15.4 6.9L16.8 11.3L13 8.6L9.2 11.3L10.6 6.9L7 4.3H11.5Z";   // as the vertex is drawn

function legend(entries) {
  const list = document.getElementById("legend");
  list.replaceChildren(...entries.map(([text, mark, colour]) => {
    const item = document.createElement("li"), space = "http://www.w3.org/2000/svg";
    const drawing = document.createElementNS(space, "svg");
    const shape = document.createElementNS(space, mark === "member" ? "circle" : "path");
    const looks = mark.includes("line")
      ? { d: "M0 6H26", stroke: colour, "stroke-width": 2.5, "stroke-dasharray": mark === "dashed line" ? "5 3" : "none" }
      : mark === "vertex" ? { d: STAR, fill: colour } : { cx: 13, cy: 6, r: 4.5, fill: colour };
    Object.entries(looks).forEach(([name, value]) => shape.setAttribute(name, value));
    drawing.append(shape);
    item.append(drawing, text);
    return item;
  }));
}

function open(number) {
  const one = data.cohesions[number];
  shown?.destroy();
  document.getElementById("title").textContent = one.title[0];
  document.getElementById("counts").textContent = one.title[1];
  document.title = one.title[0];
  legend(one.legend);
  said.textContent = data.hint;
  const many = one.connections.length, thickness = many > 600 ? "thin" : many > 60 ? "fine" : "";
  shown = cytoscape({ container: document.getElementById("picture"), style, layout: { name: "preset" },
    minZoom: 0.05, maxZoom: 8, elements: {
      nodes: one.vertices.map(([label, x, y, kind, opens, words], i) => (
        { data: { id: `v${i}`, label, opens, words }, position: { x: 110 * x, y: -110 * y }, classes: [kind, opens === null || i === 0 ? "" : "opens"] })),
      edges: one.connections.map(([a, b, kind]) => ({ data: { source: `v${a}`, target: `v${b}` }, classes: [kind, thickness] })),
    } });
  fit();
  shown.on("mouseover", "node", ({ target }) => {
    said.textContent = target.data("words");
    shown.elements().difference(target.closedNeighborhood()).addClass("faded");
    target.connectedEdges().addClass("near");
  });
  shown.on("mouseout", "node", () => { shown.elements().removeClass("faded near"); said.textContent = data.hint; });
  shown.on("tap", "node", ({ target }) => {
    const next = target.data("opens");
    if (next === null || next === number) return;
    way.push(number);
    back.disabled = false;
    open(next);
  });
}

function fit() {
  shown.fit(undefined, 30);
  if (shown.zoom() > 1.6) { shown.zoom(1.6); shown.center(); }   // keeps the letters of a small cohesion small
}

back.addEventListener("click", () => { const last = way.pop(); back.disabled = way.length === 0; open(last); });
open(0);
new ResizeObserver(() => { shown.resize(); fit(); }).observe(document.getElementById("picture"));
