/* What a student does: choose picture, map, block, head and query; see the map, its sources and its numbers. */

const data = JSON.parse(document.getElementById("data").textContent);
const { model, pictures, presets, colors } = data;
const MANY = 6; // sources listed
const at = (id) => document.getElementById(id);
const state = { picture: 0, kind: "similarity", block: model.depth, head: 1, query: 1, source: null };
let tensors,
  images,
  walking = 0;

/* numbers and names ------------------------------------------------------------------------------------------- */
const minus = (text) => text.replace("-", "\u2212");
const rounded = (v, digits) => {
  const text = v.toFixed(digits);
  return minus(/^-[0.]*$/.test(text) ? text.slice(1) : text);
};
const percent = (v) => (v > 0 && v < 0.00005 ? "<0.01%" : `${rounded(100 * v, 2)}%`);
const cosine = (v) => rounded(v, 3);
const figure = (v, digits = 4) =>
  v !== 0 && Math.abs(v) < 0.001
    ? v
        .toExponential(2)
        .replace("-", "\u2212")
        .replace(/e[\u2212-](\d+)$/, (_, power) => ` · 10⁻${[...power].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}`)
    : minus(Math.abs(v) >= 1000 ? v.toFixed(0) : v.toPrecision(digits));
const name = (row) => (row === 0 ? "CLS" : `P${row}`);
const cell = (row) => [Math.floor((row - 1) / model.grid), (row - 1) % model.grid];
const placed = (row) => {
  const [r, c] = cell(row);
  return `row ${r + 1}, column ${c + 1}`;
};
const shown = (v) => (state.kind === "attention" ? percent(v) : cosine(v));

/* the map ----------------------------------------------------------------------------------------------------- */
const computed = (s = state) =>
  s.kind === "attention" ? tensors.attention(s.picture, s.block - 1, s.head - 1, s.query) : tensors.similarity(s.picture, s.block - 1, s.query);
const best = (values, skip) => {
  let found = 0;
  for (let i = 1; i < values.length; i++) if (i !== skip && (!found || values[i] > values[found])) found = i;
  return found;
};
const limit = (values, kind) => (kind === "attention" ? values.subarray(1).reduce((a, b) => Math.max(a, b), 0) : 1);

/** Colour and opacity of a value over the picture. */
function ink(value, kind, most) {
  const share = Math.max(-1, Math.min(1, value / (most || 1)));
  const color = kind === "attention" ? colors.teal : share >= 0 ? colors.gold : colors.blue;
  return [...color, (kind === "attention" ? 0.9 : 0.75) * Math.abs(share) ** 0.8];
}
const css = ([r, g, b, a]) => `rgba(${r},${g},${b},${a})`;
/** The same colour on white, as on a scale. */
const solid = (value, kind, most) => {
  const share = Math.max(-1, Math.min(1, value / (most || 1))),
    [r, g, b] = ink(value, kind, most);
  return css([r, g, b, Math.abs(share)]);
};

function paint(canvas, values, kind, picture = null) {
  const n = model.grid,
    size = picture ? 4 : 1,
    context = canvas.getContext("2d"),
    most = limit(values, kind);
  canvas.width = canvas.height = n * size; // clears it
  if (picture) context.drawImage(picture, 0, 0, n * size, n * size);
  context.fillStyle = "rgba(252,252,250,.5)";
  context.fillRect(0, 0, n * size, n * size);
  for (let row = 1; row < model.tokens; row++) {
    const [r, c] = cell(row);
    context.fillStyle = css(ink(values[row], kind, most));
    context.fillRect(c * size, r * size, size, size);
  }
}

function put(mark, row) {
  mark.hidden = row === 0;
  if (row === 0) return;
  const [r, c] = cell(row),
    step = 100 / model.grid;
  mark.style.left = `${c * step}%`;
  mark.style.top = `${r * step}%`;
}

/* drawing everything ------------------------------------------------------------------------------------------- */
function draw() {
  const attention = state.kind === "attention",
    found = computed(),
    { values } = found;
  const strongest = best(values, state.query),
    most = limit(values, state.kind);
  const source = state.source ?? strongest,
    picture = pictures[state.picture];
  document.documentElement.style.setProperty("--value", attention ? "var(--teal)" : "#8f6a0b");

  at("badge").textContent = `Query ${name(state.query)}`;
  at("badge").classList.toggle("cls", state.query === 0);
  at("place").textContent = state.query ? placed(state.query) : "a token, not a patch";
  at("cls").setAttribute("aria-pressed", state.query === 0);
  if (picture.image && at("image").getAttribute("src") !== picture.image) at("image").src = picture.image;
  at("image").alt = `The ${picture.kind} of the ${picture.name}`;
  paint(at("map"), values, state.kind);
  at("answer").textContent = `The model says ${picture.label}, ${percent(picture.probability)}.`;
  put(at("mark"), state.query);
  put(at("source"), source);
  label(values);

  at("low").textContent = attention ? "0" : "\u22121";
  at("high").textContent = attention ? `${percent(most)} (largest)` : "1";
  const stops = [-1, -0.5, 0, 0.5, 1].filter((v) => !attention || v >= 0).map((v) => solid(v, state.kind, 1));
  at("bar").style.background = `linear-gradient(90deg,${stops.join()}),#fff`;
  at("cls-cell").style.background = `linear-gradient(${solid(values[0], state.kind, most)} 0 0),#fff`;
  at("cls-value").textContent = `CLS ${shown(values[0])}`;

  check("pictures", state.picture);
  check("kinds", state.kind);
  check("blocks", state.block);
  check("heads", state.head);
  at("heads").classList.toggle("off", !attention);
  at("heads")
    .querySelectorAll("input")
    .forEach((i) => {
      i.disabled = !attention;
    });
  for (const [part, key] of [
    ["blocks", "block"],
    ["heads", "head"],
  ])
    at(part)
      .querySelectorAll("canvas")
      .forEach((canvas, i) => {
        const other = { ...state, [key]: i + 1 };
        if (key === "head") other.kind = "attention";
        paint(canvas, computed(other).values, other.kind, images[state.picture]);
      });

  say(values, strongest);
  list(values, source);
  work(found, source);
  total(values);
  const preset = presets.findIndex((p) => same(p));
  at("presets")
    .querySelectorAll("button")
    .forEach((b, i) => (i === preset ? b.setAttribute("aria-current", "true") : b.removeAttribute("aria-current")));
  at("lesson").textContent = preset < 0 ? "" : presets[preset].lesson;
  history.replaceState(null, "", `#${[picture.name, state.kind, state.block, state.head, name(state.query)].join("/")}`);
}

const same = (p) =>
  p.picture === state.picture &&
  p.kind === state.kind &&
  p.block === state.block &&
  rowOf(p.query) === state.query &&
  (p.kind === "similarity" || p.head === state.head);
const rowOf = (text) => (text === "CLS" ? 0 : Number(text.slice(1)));

function check(id, value) {
  for (const input of at(id).querySelectorAll("input")) input.checked = input.value === String(value);
}

/** Every patch's value for a screen reader; one cell, the query's, can be reached by Tab. */
function label(values) {
  at("grid").setAttribute("aria-label", `Query patch on the ${pictures[state.picture].name}; arrow keys move it`);
  at("grid")
    .querySelectorAll("[role=gridcell]")
    .forEach((square, i) => {
      square.setAttribute("aria-label", `P${i + 1}, ${placed(i + 1)}: ${shown(values[i + 1])}`);
      square.title = `P${i + 1} · ${shown(values[i + 1])}`;
      square.setAttribute("aria-selected", i + 1 === state.query);
      square.tabIndex = i + 1 === (state.query || 1) ? 0 : -1;
    });
}

function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function say(values, strongest) {
  const query = name(state.query),
    q = element("b", query, state.query ? "q" : "q cls"),
    v = element("b", shown(values[strongest]), "v"),
    s = element("b", name(strongest));
  const own = state.query && values[state.query] > values[strongest] ? [`besides itself (${shown(values[state.query])}), `] : [];
  at("said").replaceChildren(
    ...(state.kind === "attention"
      ? [`Block ${state.block}, head ${state.head}: `, ...own, q, " reads ", s, " most, ", v, " of its weight."]
      : [`After block ${state.block}, `, q, " is most like ", s, ": cosine ", v, "."]),
  );
}

function list(values, source) {
  at("sources-caption").textContent = state.kind === "attention" ? "Patches with the largest weights" : "Patches with the largest cosines";
  const order = [...values.keys()]
    .slice(1)
    .filter((i) => state.kind === "attention" || i !== state.query)
    .sort((a, b) => values[b] - values[a] || a - b)
    .slice(0, MANY);
  const longest = Math.max(...order.map((i) => Math.abs(values[i])), 1e-12);
  const focused = document.activeElement?.closest?.("#sources button")?.dataset.row;
  at("sources").tBodies[0].replaceChildren(
    ...order.map((i) => {
      const line = element("tr"),
        head = element("th"),
        button = element("button"),
        crop = element("canvas"),
        bar = element("span"),
        inner = element("div", "", values[i] < 0 ? "bar minus" : "bar");
      head.scope = "row";
      button.type = "button";
      button.dataset.row = i;
      button.setAttribute("aria-pressed", i === source);
      line.classList.toggle("on", i === source);
      crop.width = crop.height = 16;
      crop.setAttribute("aria-hidden", "true");
      const image = images[state.picture],
        [r, c] = cell(i),
        size = image ? image.naturalWidth / model.grid : 0;
      if (image) crop.getContext("2d").drawImage(image, c * size, r * size, size, size, 0, 0, 16, 16);
      const label = element("span", name(i));
      if (i === state.query) label.append(" ", element("small", "itself"));
      inner.style.width = `${(100 * Math.abs(values[i])) / longest}%`;
      bar.append(inner);
      button.append(crop, label, bar);
      button.addEventListener("click", () => set({ source: i }));
      head.append(button);
      line.append(head, element("td", shown(values[i]), "value"));
      return line;
    }),
  );
  if (focused) at("sources").querySelector(`[data-row="${focused}"]`)?.focus();
}

/** How the number of one source comes about, closing with the value in the list. */
function work(found, source) {
  const attention = state.kind === "attention",
    q = state.query,
    from = name(source),
    row = name(q);
  at("working-title").textContent = attention ? `How ${from} gets its weight` : `How alike ${row} and ${from} are`;
  const lines = attention
    ? [
        ["score q · k / √" + model.headWidth, figure(found.scores[source])],
        [`largest score of the ${model.tokens}`, figure(found.largest)],
        ["e to the difference", figure(found.powers[source], 5)],
        [`the same, summed over ${model.tokens}`, figure(found.total, 5)],
        ["weight", percent(found.values[source])],
      ]
    : [
        [`dot product of ${model.width} features`, figure(found.products[source], 5)],
        [`length of ${row}`, figure(found.lengths[q], 5)],
        [`length of ${from}`, figure(found.lengths[source], 5)],
        ["cosine", cosine(found.values[source])],
      ];
  at("working").replaceChildren(
    ...lines.flatMap(([term, value], i) => {
      const last = i === lines.length - 1 ? "total" : "";
      return [element("dt", term, last), element("dd", value, last)];
    }),
  );
}

/** The weights as one bar. What is printed adds up: the largest share takes what rounding left over. */
function total(values) {
  const bar = at("sum-bar"),
    attention = state.kind === "attention";
  bar.hidden = !attention;
  if (!attention) {
    bar.replaceChildren();
    at("sum-text").textContent =
      "Cosines are no shares: they lie between \u22121 and 1 and sum to nothing in particular. CLS is compared too, apart.";
    return;
  }
  const own = state.query ? values[state.query] : 0;
  const parts = [
    [state.query ? "CLS" : "CLS itself", values[0], "var(--amber)"],
    ...(state.query ? [["itself", own, "var(--violet)"]] : []),
    [
      `${model.tokens - 1 - (state.query ? 1 : 0)} ${state.query ? "other patches" : "patches"}`,
      values.subarray(1).reduce((a, b) => a + b, 0) - own,
      "var(--teal)",
    ],
  ];
  bar.replaceChildren(
    ...parts.map(([, share, color]) => {
      const piece = element("span");
      piece.style.cssText = `width:${100 * share}%;background:${color}`;
      return piece;
    }),
  );
  const hundredths = parts.map(([, share]) => Math.round(10000 * share)),
    large = parts.reduce((m, p, i) => (p[1] > parts[m][1] ? i : m), 0);
  hundredths[large] += 10000 - hundredths.reduce((a, b) => a + b, 0);
  const sorted = Float64Array.from(values).sort().reverse();
  let half = 0,
    few = 0;
  while (half < 0.5 && few < sorted.length) half += sorted[few++];
  const terms = parts.map(([what], i) => `${what} ${rounded(hundredths[i] / 100, 2)}%`).join(" + ");
  at("sum-text").textContent = `${terms} = 100%. Half of the weight lies on ${few === 1 ? "a single source" : `${few} sources`}.`;
}

/* choosing ----------------------------------------------------------------------------------------------------- */
function set(change) {
  if (!("source" in change)) change.source = null;
  Object.assign(state, change);
  draw();
}

function radios(id, group, options, key, canvas = false) {
  const box = element("div");
  for (const [value, text, spoken] of options) {
    const label = element("label"),
      input = element("input");
    Object.assign(input, { type: "radio", name: group, value });
    if (spoken) input.setAttribute("aria-label", spoken);
    input.addEventListener("change", () => {
      stop();
      set({ [key]: typeof state[key] === "number" ? Number(value) : value });
    });
    label.append(input);
    if (canvas) {
      const thumb = element("canvas");
      thumb.setAttribute("aria-hidden", "true");
      label.append(thumb);
    }
    label.append(element("span", text));
    box.append(label);
  }
  at(id).append(box);
}

function squares() {
  const { grid } = model;
  at("grid").style.setProperty("--n", grid);
  document.documentElement.style.setProperty("--cell", `${100 / grid}%`);
  for (let r = 0; r < grid; r++) {
    const line = element("div");
    line.setAttribute("role", "row");
    for (let c = 0; c < grid; c++) {
      const square = element("div");
      square.setAttribute("role", "gridcell");
      square.dataset.row = r * grid + c + 1;
      line.append(square);
    }
    at("grid").append(line);
  }
  at("grid").addEventListener("click", (event) => choose(event.target.closest("[data-row]")));
  at("grid").addEventListener("keydown", (event) => {
    const here = Number(event.target.dataset.row);
    if (!here || event.altKey || event.metaKey) return;
    const [r, c] = cell(here),
      last = grid - 1,
      far = event.ctrlKey;
    const moves = {
      ArrowLeft: [r, c - 1],
      ArrowRight: [r, c + 1],
      ArrowUp: [r - 1, c],
      ArrowDown: [r + 1, c],
      Home: [far ? 0 : r, 0],
      End: [far ? last : r, last],
      PageUp: [0, c],
      PageDown: [last, c],
      Enter: [r, c],
      " ": [r, c],
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const [row, column] = moves[event.key].map((v) => Math.max(0, Math.min(last, v)));
    choose(at("grid").querySelector(`[data-row="${row * grid + column + 1}"]`));
  });
}

function choose(square) {
  if (!square) return;
  set({ query: Number(square.dataset.row) });
  square.focus({ preventScroll: true });
}

function stop() {
  clearInterval(walking);
  walking = 0;
  at("walk").setAttribute("aria-pressed", "false");
}

function walk() {
  if (walking) {
    stop();
    return;
  }
  at("walk").setAttribute("aria-pressed", "true");
  set({ block: 1 });
  walking = setInterval(() => (state.block < model.depth ? set({ block: state.block + 1 }) : stop()), 1000);
}

/** The state that an address names after #, such as dog/attention/4/1/P74; what can't be read keeps its value. */
function fromAddress() {
  const [picture, kind, block, head, query] = location.hash.slice(1).split("/");
  const whole = (text, least, most) => (/^\d{1,5}$/.test(text ?? "") && text >= least && text <= most ? Number(text) : null);
  const number = pictures.findIndex((p) => p.name === picture);
  if (number >= 0) state.picture = number;
  if (kind === "attention" || kind === "similarity") state.kind = kind;
  state.block = whole(block, 1, model.depth) ?? state.block;
  state.head = whole(head, 1, model.heads) ?? state.head;
  state.query = query === "CLS" ? 0 : ((query?.startsWith("P") ? whole(query.slice(1), 1, model.tokens - 1) : null) ?? state.query);
}

const picture = (p) =>
  new Promise((done) => {
    if (!p.image) {
      done(null);
      return;
    }
    const image = new Image();
    image.onload = () => done(image);
    image.onerror = () => done(null);
    image.src = p.image;
  });

async function start() {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to unpack them");
  const bytes = await unpack(at("tensors").textContent);
  tensors = new Tensors(bytes, model, pictures.length, data.planes);
  at("tensors").remove();
  images = await Promise.all(pictures.map(picture));
  radios(
    "pictures",
    "picture",
    pictures.map((p, i) => [i, p.name[0].toUpperCase() + p.name.slice(1), `${p.name}, ${p.kind}`]),
    "picture",
  );
  radios(
    "kinds",
    "kind",
    [
      ["attention", "Attention"],
      ["similarity", "Similarity"],
    ],
    "kind",
  );
  radios(
    "blocks",
    "block",
    Array.from({ length: model.depth }, (_, i) => [i + 1, i + 1, `block ${i + 1}`]),
    "block",
    true,
  );
  radios(
    "heads",
    "head",
    Array.from({ length: model.heads }, (_, i) => [i + 1, i + 1, `head ${i + 1}`]),
    "head",
    true,
  );
  squares();
  at("presets").append(
    ...presets.map((p, i) => {
      const item = element("li"),
        button = element("button"),
        mark = element("i", i + 1);
      button.type = "button";
      button.style.setProperty("--kind", p.kind === "attention" ? "var(--teal)" : "#8f6a0b");
      button.append(mark, element("span", p.title));
      button.addEventListener("click", () => {
        stop();
        set({ picture: p.picture, kind: p.kind, block: p.block, head: p.head, query: rowOf(p.query) });
      });
      item.append(button);
      return item;
    }),
  );
  at("cls").addEventListener("click", () => set({ query: state.query ? 0 : 1 }));
  at("walk").addEventListener("click", walk);
  at("bare").addEventListener("click", () => at("bare").setAttribute("aria-pressed", document.querySelector(".picture").classList.toggle("bare")));
  at("about").textContent = `${data.run} · ${data.about}`;
  const [points, cosines] = [100 * data.errors.weight, data.errors.cosine].map((v) => Number(v.toPrecision(1)));
  at("exact").textContent = `Computed here from q, k and features; weights within ${points} points of the model’s, cosines within ${cosines}.`;
  state.query = rowOf(presets[0].query);
  if (location.hash.length > 1) fromAddress();
  addEventListener("hashchange", () => {
    fromAddress();
    set({});
  });
  draw();
}

/** For tests and the curious: the values of a row, CLS first. */
window.lab = {
  state,
  weights: (p, block, head, query) => [...tensors.attention(p, block - 1, head - 1, query).values],
  cosines: (p, block, query) => [...tensors.similarity(p, block - 1, query).values],
  ready: start().catch((error) => {
    document.body.append(element("p", `The maps can’t be computed: ${error.message}.`, "fault"));
    throw error;
  }),
};
