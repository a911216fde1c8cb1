"use strict";
/* Redraws the chart for other figures, shows details, filters and sorts. Everything the
   page says is there without it, too. */
(() => {
  const record = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const chart = byId("chart");
  if (!chart) return;
  const box = { left: 70, right: 696, top: 16, bottom: 384 };
  const points = new Map([...chart.querySelectorAll(".point")].map(
    (point) => [Number(point.id.slice(1)), point]));
  const rows = [...document.querySelectorAll("#candidates tbody tr")];
  const shownFigures = Object.keys(record.figures);
  const away = new Set();
  let chosen = null;

  const figureText = (name, value) => {
    if (value === null || value === undefined) return "–";
    if (record.figures[name].share) {
      if (value > 0 && value < 0.0001) return "< 0.01%";
      return (100 * value).toFixed(Math.abs(value) < 0.1 ? 2 : 1) + "%";
    }
    return Number.isInteger(value) ? value.toLocaleString("en-US") : String(Number(value.toPrecision(4)));
  };
  const tickText = (name, value) =>
    record.figures[name].share ? Number((100 * value).toPrecision(4)) + "%" : String(Number(value.toPrecision(6)));
  const cost = (name, value) => record.figures[name].more_is_better ? -value : value;
  const made = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const ticksOf = (low, high, logarithmic) => {
    if (logarithmic) {
      const found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
        for (const factor of [1, 2, 5]) {
          const tick = factor * 10 ** power;
          if (tick >= low && tick <= high) found.push(tick);
        }
      return found;
    }
    const base = 10 ** Math.floor(Math.log10((high - low) / 2));
    const step = [1, 2, 5, 10].map((f) => f * base).find((s) => (high - low) / s < 7);
    const found = [];
    for (let place = Math.ceil(low / step - 1e-9); place <= Math.floor(high / step + 1e-9); place += 1)
      found.push(Number((place * step).toPrecision(12)));
    return found;
  };

  const scaleOf = (values, start, end, logarithmic) => {
    let low = Math.min(...values), high = Math.max(...values);
    const log = logarithmic && low > 0;
    if (log) {
      const room = 1.15;
      low /= room; high *= room;
    } else {
      if (low >= 0 && low <= 0.5 * high) low = 0;
      const span = high - low || Math.abs(high) || 1;
      low -= low ? 0.06 * span : 0;
      high += 0.06 * span;
    }
    const turn = log ? Math.log : (value) => value;
    const at = (value) => start + (turn(value) - turn(low)) / (turn(high) - turn(low)) * (end - start);
    return { at, ticks: ticksOf(low, high, log) };
  };

  const onFront = (known, risk, utility) => known.filter((one) => !known.some((other) => {
    const better = [risk, utility].map((name) =>
      cost(name, other.figures[name]) - cost(name, one.figures[name]));
    return better.every((b) => b <= 0) && better.some((b) => b < 0);
  }));

  const shades = (risk, utility, x, y) => {
    const group = byId("shades");
    group.replaceChildren();
    const add = (x1, y1, x2, y2) => group.append(made("rect", {
      class: "shade", x: x1, y: y1, width: Math.max(x2 - x1, 0), height: Math.max(y2 - y1, 0) }));
    if (utility in record.accept) {
      const at = x.at(record.accept[utility]), more = record.figures[utility].more_is_better;
      add(more ? box.left : at, box.top, more ? at : box.right, box.bottom);
    }
    if (risk in record.accept) {
      const at = y.at(record.accept[risk]), more = record.figures[risk].more_is_better;
      add(box.left, more ? at : box.top, box.right, more ? box.bottom : at);
    }
  };

  const grid = (risk, utility, x, y) => {
    const group = byId("grid");
    group.replaceChildren();
    for (const tick of x.ticks) {
      const at = x.at(tick).toFixed(1);
      group.append(made("line", { class: "grid", x1: at, x2: at, y1: box.top, y2: box.bottom }),
        made("text", { x: at, y: box.bottom + 18, "text-anchor": "middle" }, tickText(utility, tick)));
    }
    for (const tick of y.ticks) {
      const at = y.at(tick);
      group.append(made("line", { class: "grid", x1: box.left, x2: box.right, y1: at.toFixed(1), y2: at.toFixed(1) }),
        made("text", { x: box.left - 8, y: (at + 4).toFixed(1), "text-anchor": "end" }, tickText(risk, tick)));
    }
  };

  const draw = () => {
    const risk = byId("risk").value, utility = byId("utility").value;
    const log = byId("log").checked, only = byId("only-front").checked;
    const known = record.candidates.filter((each) => each.figures &&
      typeof each.figures[risk] === "number" && typeof each.figures[utility] === "number");
    const values = (name) => [...known.map((each) => each.figures[name]),
      ...(name in record.accept ? [record.accept[name]] : [])];
    const x = scaleOf(values(utility), box.left, box.right, log);
    const y = scaleOf(values(risk), box.bottom, box.top, log);
    const strict = known.filter((each) => !each.below_text);
    const front = new Set(onFront(strict, risk, utility).map((each) => each.number));
    grid(risk, utility, x, y);
    shades(risk, utility, x, y);
    byId("x-title").textContent = record.figures[utility].title + " →";
    byId("y-title").textContent = record.figures[risk].title + " →";
    for (const point of points.values()) point.classList.add("away");
    const line = [];
    for (const each of known) {
      const point = points.get(each.number);
      if (!point) continue;
      const at = [x.at(each.figures[utility]), y.at(each.figures[risk])];
      const label = `Candidate ${each.number}, ${each.name}: ${record.figures[risk].title} ` +
        `${figureText(risk, each.figures[risk])}; ${record.figures[utility].title} ` +
        `${figureText(utility, each.figures[utility])}${front.has(each.number) ? ", on the front" : ""}` +
        (each.below_text ? `, ${each.below_text}` : "");
      point.setAttribute("transform", `translate(${at[0].toFixed(1)} ${at[1].toFixed(1)})`);
      point.setAttribute("aria-label", label);
      point.querySelector("title").textContent = label;
      point.classList.toggle("on-front", front.has(each.number));
      point.classList.toggle("away", away.has(each.algorithm) || (only && !front.has(each.number)));
      if (front.has(each.number)) line.push(at);
    }
    line.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    byId("front").setAttribute("d", line.length ? "M" + line.map((at) => at.map((v) => v.toFixed(1)).join(" ")).join("L") : "");
    for (const row of rows)
      row.classList.toggle("away", away.has(row.dataset.algorithm) ||
        (only && !front.has(Number(row.dataset.number))));
  };

  const line = (name, text) => {
    const paragraph = document.createElement("p");
    const strong = document.createElement("span");
    strong.className = "quiet";
    strong.textContent = name + ": ";
    paragraph.append(strong, text);
    return paragraph;
  };
  const show = (number) => {
    const each = record.candidates.find((one) => one.number === number);
    if (!each || chosen === number) return;
    chosen = number;
    for (const [key, point] of points) point.classList.toggle("chosen", key === number);
    for (const row of rows) row.classList.toggle("chosen", Number(row.dataset.number) === number);
    const panel = byId("details");
    const head = document.createElement("h3");
    head.textContent = `${each.number}, ${each.name}`;
    const command = document.createElement("code");
    command.textContent = `sfumato anonymize POLICY ${each.set}`;
    const making = line("makes it", "");
    making.append(command);
    const axes = [byId("risk").value, byId("utility").value];
    panel.replaceChildren(head,
      ...axes.map((name) => line(record.figures[name].title, figureText(name, each.figures[name]))),
      ...(each.measured ? [line("proven", each.measured)] : []),
      ...("rows_out" in each ? [line("published", `${each.rows_out.toLocaleString("en-US")} rows in ${each.groups.toLocaleString("en-US")} groups`)] : []),
      ...(each.below_text ? [line("below the policy", each.below_text.replace("below the policy: ", ""))] : []),
      ...(each.dominated_by ? [line("beaten by", `candidate ${each.dominated_by}`)] : []),
      making);
    panel.hidden = false;
  };

  for (const [number, point] of points) {
    point.addEventListener("focus", () => show(number));
    point.addEventListener("mouseenter", () => show(number));
    point.addEventListener("click", (event) => {
      event.preventDefault();
      show(number);
      point.focus();
    });
  }
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    const here = document.activeElement;
    if (!step || !here.classList.contains("point")) return;
    event.preventDefault();
    const visible = [...points.values()].filter((point) => !point.classList.contains("away"));
    const place = (point) => Number(/\((-?[\d.]+)/.exec(point.getAttribute("transform"))[1]);
    visible.sort((a, b) => place(a) - place(b));
    const next = visible[(visible.indexOf(here) + step + visible.length) % visible.length];
    next.focus();
  });

  for (const item of document.querySelectorAll("#legend li")) {
    const name = item.dataset.algorithm;
    const label = document.createElement("label");
    const tick = document.createElement("input");
    tick.type = "checkbox";
    tick.checked = true;
    label.append(tick, ...item.childNodes);
    item.append(label);
    tick.addEventListener("change", () => {
      if (tick.checked) away.delete(name); else away.add(name);
      draw();
    });
  }

  const body = document.querySelector("#candidates tbody");
  const valueOf = (row, place) => {
    const each = record.candidates.find((one) => one.number === Number(row.dataset.number));
    if (place === 0) return each.number;
    if (place < 3) return row.cells[place].textContent;
    const value = (each.figures || {})[shownFigures[place - 3]];
    return value === undefined || value === null ? Infinity : value;
  };
  document.querySelectorAll("#candidates thead th").forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = rows.slice().sort((a, b) => {
        const [one, two] = [valueOf(a, place), valueOf(b, place)];
        const order = typeof one === "string" ? one.localeCompare(two) : one - two || 0;
        return down ? -order : order;
      });
      body.append(...sorted);
    });
  });

  for (const id of ["risk", "utility", "log", "only-front"]) byId(id).addEventListener("change", draw);
  byId("controls").hidden = false;
})();
