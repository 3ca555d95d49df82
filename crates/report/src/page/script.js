// Tooltips at the mouse and by arrow keys, the choice of a group, sorting of tables, light and dark
// colours.
(() => {
  "use strict";
  const root = document.documentElement;
  const SVG = "http://www.w3.org/2000/svg";
  root.classList.add("js");

  // Appends a new element to its parent.
  const make = (parent, kind, text, classes) => {
    const element = document.createElement(kind);
    if (text) element.textContent = text;
    if (classes) element.className = classes;
    parent.append(element);
    return element;
  };

  // Light and dark. Storage may be forbidden for files on disk.
  const button = document.querySelector("button.theme");
  const loadTheme = () => { try { return localStorage.getItem("rankwright-theme"); } catch { return null; } };
  const saveTheme = (theme) => { try { localStorage.setItem("rankwright-theme", theme); } catch { /* not saved */ } };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
  const savedTheme = loadTheme();
  if (savedTheme === "light" || savedTheme === "dark") root.dataset.theme = savedTheme;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    saveTheme(root.dataset.theme);
    label();
  });
  system.addEventListener("change", label);
  label();
  button.hidden = false;

  // Tooltips of a chart. Its JSON comes from chart/tooltips.rs. A stop is a position of the tooltip:
  // [title, items]; an item is [series, text, x, y, x in the narrow form, y in the narrow form].
  const chart = (figure) => {
    const chartBox = figure.querySelector(".chart");
    const tip = figure.querySelector(".tip");
    let data = null;
    let current = -1; // index of the stop that is shown, -1 for none
    const load = () => (data ??= JSON.parse(figure.querySelector("script").textContent));
    // The wide or the narrow form of the chart, whichever the style sheet shows.
    const visibleSvg = () => [...chartBox.querySelectorAll("svg")].find((svg) => svg.getClientRects().length);
    const position = (svg, item) => (svg.classList.contains("wide") ? [item[2], item[3]] : [item[4], item[5]]);

    const hide = () => {
      current = -1;
      tip.replaceChildren();
      chartBox.querySelectorAll(".cursor").forEach((old) => old.remove());
    };

    // Draws a circle at each item, and a line through all of them if stops differ in x or y only.
    const drawCursor = (svg, items) => {
      const group = document.createElementNS(SVG, "g");
      group.setAttribute("class", "cursor");
      const add = (kind, attributes, classes) => {
        const element = document.createElementNS(SVG, kind);
        for (const name in attributes) element.setAttribute(name, attributes[name]);
        if (classes) element.setAttribute("class", classes);
        group.append(element);
      };
      const box = svg.viewBox.baseVal;
      const [x, y] = position(svg, items[0]);
      if (data.by === "x") add("line", { x1: x, x2: x, y1: 0, y2: box.height });
      if (data.by === "y") add("line", { x1: 0, x2: box.width, y1: y, y2: y });
      for (const item of items) {
        const [cx, cy] = position(svg, item);
        add("circle", { cx, cy, r: 5 }, data.series[item[0]][1]);
      }
      svg.append(group);
    };

    const show = (index) => {
      const svg = visibleSvg();
      if (!svg || !load().stops.length) return;
      index = Math.max(0, Math.min(data.stops.length - 1, index));
      if (index === current) return;
      hide();
      current = index;
      const [title, items] = data.stops[index];
      drawCursor(svg, items);
      const fullTitle = `${data.of} ${title}`.trim();
      if (fullTitle) make(tip, "b", fullTitle);
      for (const item of items) {
        const [name, classes] = data.series[item[0]];
        const line = make(tip, "span");
        if (name) make(line, "i", "", classes).setAttribute("aria-hidden", "true");
        // bdi elements keep the directions of writing of the name and of the text apart.
        if (name) make(line, "bdi", name);
        if (name) line.append(": ");
        make(line, "bdi", item[1]);
      }
      const box = svg.getBoundingClientRect();
      const frame = chartBox.getBoundingClientRect();
      const scale = box.width / svg.viewBox.baseVal.width;
      const positions = items.map((item) => position(svg, item));
      const x = positions[0][0] * scale;
      const y = Math.min(...positions.map((position) => position[1])) * scale;
      const left = x + 16 + tip.offsetWidth > frame.width ? x - tip.offsetWidth - 16 : x + 16;
      tip.style.left = `${Math.max(0, Math.min(left, frame.width - tip.offsetWidth))}px`;
      tip.style.top = `${Math.max(0, y - tip.offsetHeight / 2)}px`;
    };

    // The index of the stop nearest to the mouse; -1 if there is none.
    const nearest = (event) => {
      const svg = visibleSvg();
      if (!svg) return -1;
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale;
      const y = (event.clientY - box.top) * scale;
      let best = -1;
      let least = Infinity;
      load().stops.forEach(([, items], index) => {
        for (const item of items) {
          const [ix, iy] = position(svg, item);
          const dx = data.by === "y" ? 0 : ix - x;
          const dy = data.by === "x" ? 0 : iy - y;
          const distance = dx * dx + dy * dy;
          if (distance < least) { least = distance; best = index; }
        }
      });
      return best;
    };

    const showNearest = (event) => { const index = nearest(event); if (index >= 0) show(index); };
    chartBox.addEventListener("pointermove", showNearest);
    chartBox.addEventListener("pointerdown", showNearest);
    chartBox.addEventListener("pointerleave", hide);
    chartBox.addEventListener("blur", hide);
    chartBox.addEventListener("keydown", (event) => {
      const down = load().stride;
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: down, ArrowUp: -down };
      if (event.key in steps) show(current < 0 ? 0 : current + steps[event.key]);
      else if (event.key === "Home") show(0);
      else if (event.key === "End") show(data.stops.length - 1);
      else if (event.key === "Escape") hide();
      else return;
      event.preventDefault();
    });
    addEventListener("resize", hide);
  };
  document.querySelectorAll("figure[data-chart]").forEach(chart);

  // Shows one group of a choice at a time. Returns a function that shows the group of an element.
  const choice = (box) => {
    const select = box.querySelector("select");
    const groups = [...box.children].filter((child) => child.classList.contains("group"));
    const slider = box.querySelector("input[type=range]");
    const show = () => {
      groups.forEach((group, index) => { group.hidden = index !== select.selectedIndex; });
      if (!slider) return;
      const name = select.options[select.selectedIndex].textContent;
      slider.value = select.selectedIndex;
      slider.setAttribute("aria-valuetext", name);
      box.querySelector("output").textContent = name;
    };
    select.addEventListener("change", show);
    if (slider) stages(box, select, slider, show);
    box.querySelector(".chooser").hidden = false;
    show();
    return (target) => {
      const index = groups.findIndex((group) => group.contains(target));
      if (index >= 0) { select.selectedIndex = index; show(); }
    };
  };
  // A slider over the stages of a training, and a button that plays them one after the other.
  const stages = (box, select, slider, show) => {
    const button = box.querySelector(".play");
    const last = select.options.length - 1;
    let timer = 0;
    const label = (playing) => {
      button.setAttribute("aria-pressed", playing);
      button.replaceChildren();
      make(button, "span", playing ? "\u275a\u275a" : "\u25b6").setAttribute("aria-hidden", "true");
      button.append(playing ? " Pause" : " Play");
    };
    const pause = () => { clearInterval(timer); timer = 0; label(false); };
    const go = (index) => { select.selectedIndex = index; show(); };
    slider.addEventListener("input", () => { pause(); go(Number(slider.value)); });
    button.addEventListener("click", () => {
      if (timer) { pause(); return; }
      if (select.selectedIndex === last) go(0);
      label(true);
      timer = setInterval(() => {
        go(Math.min(last, select.selectedIndex + 1));
        if (select.selectedIndex === last) pause();
      }, 900);
    });
  };
  const choices = [...document.querySelectorAll(".choice")].map(choice);
  // A link to an element of a hidden group shows that group.
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) { choices.forEach((showGroupOf) => showGroupOf(target)); target.scrollIntoView(); }
  };
  addEventListener("hashchange", follow);
  if (location.hash) follow();

  // Buttons in the header sort the rows by a column: numbers before texts.
  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const text = head.textContent;
      head.textContent = "";
      make(head, "button", text).type = "button";
      head.firstChild.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const key = (row) => {
          const text = row.cells[column]?.textContent.trim() ?? "";
          // Cells such as "<0.001", "[0.1, 0.2]" and "(3)" are sorted by their first number.
          const number = parseFloat(text.replace(/^[<[(]/, ""));
          return Number.isNaN(number) ? text : number;
        };
        const compare = (a, b) => {
          if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
          return typeof a === "number" ? -1 : 1;
        };
        const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
        rows.sort((a, b) => (up ? 1 : -1) * compare(a[0], b[0]));
        table.tBodies[0].append(...rows.map(([, row]) => row));
      });
    });
  };
  document.querySelectorAll("table[data-sortable]").forEach(sortable);

  // A note above each table or drawing that is wider than its box.
  const boxes = [...document.querySelectorAll(".block > .scroll, .drawing .scroll")];
  const hints = boxes.map((box) => {
    const hint = document.createElement("p");
    hint.className = "more";
    hint.textContent = "Scroll sideways to see all of it.";
    hint.hidden = true;
    box.before(hint);
    return hint;
  });
  const measure = () => boxes.forEach((box, index) => {
    // Boxes in a hidden group have no size; they are measured when the group is shown.
    if (box.clientWidth) hints[index].hidden = box.scrollWidth <= box.clientWidth + 1;
  });
  addEventListener("resize", measure);
  document.querySelectorAll(".choice").forEach((box) => {
    new MutationObserver(measure).observe(box, { attributes: true, attributeFilter: ["hidden"], subtree: true });
  });
  measure();

  // A wide tree has its root in the middle, so that is where a drawing is scrolled to.
  document.querySelectorAll(".drawing .scroll").forEach((box) => {
    box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
  });
})();
