"use strict";

const session = JSON.parse(document.getElementById("data").textContent);
const steps = [];
let query = "";

const find = (id) => document.getElementById(id);

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function makeShape(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const writeCount = (count) => count.toLocaleString("en-US");
const writeCost = (cost) => (cost === null ? "" : cost ? `$${cost.toFixed(cost < 0.01 ? 5 : 3)}` : "$0");

function writeSeconds(seconds) {
  if (seconds === null) return "";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

const lengthOf = (each) =>
  each.begin === null || each.end === null ? null : Math.max(0, each.end - each.begin);
const shareCached = (usage) =>
  usage.input_tokens ? Math.round((100 * (usage.cache_read_tokens || 0)) / usage.input_tokens) : 0;

function writeTokens(usage) {
  if (!usage.input_tokens && !usage.output_tokens) return "";
  const cached = usage.cache_read_tokens ? ` (${shareCached(usage)}% cached)` : "";
  return `${writeCount(usage.input_tokens)} in${cached} · ${writeCount(usage.output_tokens)} out`;
}

function sum(values) {
  const known = values.filter((each) => each !== null && each !== undefined);
  return known.length ? known.reduce((total, each) => total + each, 0) : null;
}

function showHead() {
  find("title").textContent = session.title || session.id;
  const begun = session.turns.length ? session.turns[0].begin : null;
  const at = begun === null ? "" : ` · ${new Date(begun * 1000).toLocaleString()}`;
  find("about").textContent = `${session.id}${session.folder ? ` · ${session.folder}` : ""}${at}`;
  const usage = {};
  for (const name of ["input_tokens", "output_tokens", "cache_read_tokens"])
    usage[name] = sum(session.turns.map((each) => each.usage[name])) || 0;
  const kinds = (kind) => writeCount(steps.filter((each) => each.data.kind === kind).length);
  const totals = [
    [session.turns.length === 1 ? "turn" : "turns", writeCount(session.turns.length)],
    ["model calls", kinds("model")],
    ["tool calls", kinds("tool")],
    ["tokens in", writeCount(usage.input_tokens)],
    ["of them cached", `${shareCached(usage)}%`],
    ["tokens out", writeCount(usage.output_tokens)],
    ["time in turns", writeSeconds(sum(session.turns.map(lengthOf)))],
    ["cost", writeCost(sum(session.turns.map((each) => each.cost))) || "not known"],
  ];
  for (const [name, value] of totals) {
    const pair = make("div");
    pair.append(make("dt", "", name), make("dd", "", value));
    find("totals").append(pair);
  }
}

function splitTokens(usage) {
  const cached = usage.cache_read_tokens, written = usage.cache_write_tokens;
  const fresh = Math.max(0, usage.input_tokens - cached - written);
  return [["cached", cached], ["written", written], ["fresh", fresh], ["output", usage.output_tokens]];
}

function showPlot() {
  const turns = session.turns, height = 150, left = 64, top = 26;
  const width = Math.max(14, Math.min(60, 900 / Math.max(1, turns.length)));
  const tokens = turns.map((each) => sum(splitTokens(each.usage).map(([, count]) => count)) || 0);
  const most = Math.max(1, ...tokens), dearest = Math.max(0, ...turns.map((each) => each.cost || 0));
  const whole = Math.max(560, left + width * turns.length + 80);
  const plot = makeShape("svg", { width: whole, height: height + top + 24, role: "img" });
  plot.setAttribute("aria-label", `tokens and cost of ${turns.length} turns; most: ${writeCount(most)} tokens`);
  const write = (x, y, text, more = {}) => {
    const label = makeShape("text", { x, y, ...more });
    label.textContent = text;
    plot.append(label);
  };
  let place = left;
  for (const [kind, name] of [["cached", "cached"], ["written", "written to the cache"], ["fresh", "other input"], ["output", "output"], ["dot", "cost"]]) {
    plot.append(makeShape("rect", { class: kind, x: place, y: 7, width: 9, height: 9 }));
    write(place + 13, 15, name);
    place += 32 + name.length * 6;
  }
  for (const part of [0, 0.5, 1]) {
    const y = top + height * (1 - part);
    plot.append(makeShape("line", { class: "axis", x1: left, x2: whole - 70, y1: y, y2: y }));
    write(left - 6, y + 4, writeCount(Math.round(most * part)), { "text-anchor": "end" });
    if (dearest) write(whole - 64, y + 4, writeCost(dearest * part));
  }
  const points = [];
  turns.forEach((turn, number) => {
    const x = left + width * number;
    let y = top + height;
    for (const [kind, count] of splitTokens(turn.usage)) {
      const tall = (height * count) / most;
      y -= tall;
      plot.append(makeShape("rect", { class: kind, x: x + 2, y, width: width - 4, height: tall }));
    }
    if (dearest && turn.cost !== null) points.push([x + width / 2, top + height * (1 - turn.cost / dearest)]);
    if (turns.length <= 40 || number % 10 === 9)
      write(x + width / 2, top + height + 16, number + 1, { "text-anchor": "middle" });
    const link = makeShape("a", { href: `#turn-${number + 1}` });
    const hit = makeShape("rect", { class: "hit", x, y: top, width, height });
    const title = makeShape("title", {});
    title.textContent = `turn ${number + 1}: ${writeTokens(turn.usage)} ${writeCost(turn.cost)}`;
    hit.append(title);
    link.append(hit);
    plot.append(link);
  });
  plot.append(makeShape("polyline", { class: "cost", points: points.map((each) => each.join(",")).join(" ") }));
  for (const [cx, cy] of points) plot.append(makeShape("circle", { class: "dot", cx, cy, r: 3 }));
  find("plot").append(plot);
}

function appendMarked(element, text) {
  const lower = text.toLowerCase();
  let end = 0;
  for (let at = query ? lower.indexOf(query) : -1; at >= 0; at = lower.indexOf(query, end)) {
    element.append(text.slice(end, at), make("mark", "", text.slice(at, at + query.length)));
    end = at + query.length;
  }
  element.append(text.slice(end));
}

function showBody(step) {
  step.body.replaceChildren();
  for (const [kind, text] of step.data.blocks) {
    const shown = make("pre");
    appendMarked(shown, text);
    step.body.append(make("h3", "", kind), shown);
  }
  if (!step.data.blocks.length) step.body.append(make("h3", "", "nothing is recorded of it"));
}

function readBeginning(data) {
  const shown = data.blocks.find((each) => each[0] !== "thinking") || data.blocks[0];
  if (!shown) return "";
  const [kind, text] = shown;
  const said = kind === "arguments" ? text.replace(/^\{\s*|"|\s*\}$/g, "") : text;
  return said.slice(0, 200).replace(/\s+/g, " ");
}

function addStep(list, data, depth, turn) {
  const details = make("details", `step ${data.kind}`);
  const summary = make("summary");
  const name = make("span", "name", data.name || data.kind);
  name.style.paddingLeft = `${depth * 1.2}rem`;
  name.title = `${data.kind}: ${data.name}`;
  if (data.status) name.append(" ", make("span", "status", data.status));
  name.append(" ", make("span", "beginning", readBeginning(data)));
  const track = make("span", "track"), bar = make("span", "bar");
  const long = lengthOf(turn);
  if (data.begin !== null && turn.begin !== null && long) {
    const from = Math.min(1, Math.max(0, (data.begin - turn.begin) / long));
    bar.style.left = `${from * 100}%`;
    bar.style.width = `${Math.min(1 - from, (lengthOf(data) || 0) / long) * 100}%`;
    track.append(bar);
  }
  const tokens = make("span", "number tokens", writeTokens(data.usage));
  const cost = make("span", "number cost", writeCost(data.cost));
  summary.append(name, track, make("span", "number", writeSeconds(lengthOf(data))), tokens, cost);
  const body = make("div", "body");
  details.append(summary, body);
  list.append(details);
  const text = [data.kind, data.name, data.status, ...data.blocks.map((each) => each[1])];
  const step = { data, details, summary, body, text: text.join("\n").toLowerCase() };
  details.addEventListener("toggle", () => details.open && showBody(step));
  steps.push(step);
  for (const inner of data.turns) for (const each of inner.steps) addStep(list, each, depth + 1, turn);
}

function showTurns() {
  session.turns.forEach((turn, number) => {
    const article = make("article", "turn");
    article.id = `turn-${number + 1}`;
    article.tabIndex = -1;
    article.append(make("h2", "", `${number + 1}. ${turn.prompt}`));
    const about = [writeSeconds(lengthOf(turn)), writeTokens(turn.usage), writeCost(turn.cost), turn.status];
    article.append(make("p", "", about.filter(Boolean).join(" · ")));
    for (const each of turn.steps) addStep(article, each, 0, turn);
    find("turns").append(article);
  });
}

function setOpen(step, isOpen) {
  step.details.open = isOpen;
  if (isOpen) showBody(step);
  else step.body.replaceChildren();
}

function search() {
  query = find("search").value.trim().toLowerCase();
  let count = 0;
  for (const step of steps) {
    const isFound = !query || step.text.includes(query);
    step.details.hidden = !isFound;
    setOpen(step, Boolean(query) && isFound && count++ < 50);
  }
  find("found").textContent = query ? `${count} of ${steps.length} steps` : "";
}

function openAll() {
  const isOpen = find("open-all").getAttribute("aria-pressed") === "true";
  find("open-all").setAttribute("aria-pressed", String(!isOpen));
  find("open-all").textContent = isOpen ? "Open all" : "Close all";
  for (const step of steps) setOpen(step, !isOpen);
}

function changeTheme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
}

function move(places, by) {
  const at = places.findIndex((each) => each.contains(document.activeElement));
  const next = places[at < 0 ? (by > 0 ? 0 : places.length - 1) : Math.min(places.length - 1, Math.max(0, at + by))];
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

const shownSteps = () => steps.filter((each) => !each.details.hidden).map((each) => each.summary);
const shownTurns = () => [...document.querySelectorAll(".turn")];
const keys = {
  "/": () => find("search").focus(),
  j: () => move(shownSteps(), 1),
  k: () => move(shownSteps(), -1),
  n: () => move(shownTurns(), 1),
  p: () => move(shownTurns(), -1),
  o: openAll,
  t: changeTheme,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") {
    find("search").value = "";
    search();
    find("search").blur();
  } else if (event.target !== find("search") && keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});
find("search").addEventListener("input", search);
find("open-all").addEventListener("click", openAll);
find("theme").addEventListener("click", changeTheme);
find("keys").addEventListener("click", () => {
  find("key-list").hidden = !find("key-list").hidden;
  find("keys").setAttribute("aria-expanded", String(!find("key-list").hidden));
});

if (matchMedia("(prefers-color-scheme: dark)").matches) changeTheme();
showTurns();
showHead();
showPlot();
