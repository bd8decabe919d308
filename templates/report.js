// Makes the page easier to use; everything can be read without it. No request, no storage.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, attributes = {}, text = "") => {
    const element = Object.assign(document.createElement(tag), { textContent: text });
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const LONG = 12;

  // Filter of long tables: hides rows whose name doesn't contain the words.
  const filter = (table) => {
    const rows = all("tbody tr:not(.rowgroup)", table);
    if (rows.length <= LONG || table.classList.contains("matrix")) return;
    const name = table.caption.textContent.trim();
    const box = make("input", { type: "search", class: "filter", placeholder: "Filter", "aria-label": `Filter ${name}` });
    const hit = (row, words) => words.every((word) => row.textContent.toLowerCase().includes(word));
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const body of table.tBodies) {
        const head = body.querySelector(".rowgroup");
        const whole = head && words.length && hit(head, words);
        for (const row of body.rows) if (row !== head) row.hidden = !whole && !hit(row, words);
        if (head) head.hidden = [...body.rows].every((row) => row === head || row.hidden);
      }
    });
    table.caption.append(box);
  };

  // Sorting by a column, within each group of rows; a third click restores the original order.
  const value = (row, column) => {
    const text = (row.cells[column]?.textContent ?? "").trim();
    const number = parseFloat(text.replace(/[\s,\u00a0<>±]/g, "").replace("\u2212", "-"));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };
  const order = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  const sort = (table) => {
    const head = table.tHead?.rows[0];
    const long = [...table.tBodies].some((body) => body.rows.length > 3);
    if (!head || !long || table.matches(".matrix, .pairs") || all("td[rowspan], .reason-row", table).length) return;
    const first = new Map([...table.tBodies].map((body) => [body, [...body.rows]]));
    [...head.cells].forEach((cell, column) => {
      const button = make("button", { type: "button", class: "sort" });
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[cell.getAttribute("aria-sort") ?? "none"];
        for (const other of head.cells) other.removeAttribute("aria-sort");
        if (next !== "none") cell.setAttribute("aria-sort", next);
        for (const [body, rows] of first) {
          const fixed = rows.filter((row) => row.matches(".rowgroup"));
          const moved = rows.filter((row) => !row.matches(".rowgroup"));
          const sign = next === "descending" ? -1 : 1;
          if (next !== "none") moved.sort((a, b) => sign * order(value(a, column), value(b, column)));
          body.append(...fixed, ...moved);
        }
      });
    });
  };

  // A slider over the computed points of a frontier: it shows rows of the table and nothing in between.
  const explore = (place) => {
    const table = document.getElementById(place.dataset.table);
    const rows = table ? [...table.tBodies[0].rows] : [];
    if (rows.length < 2) return;
    const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
    const label = `${titles[0]}: computed points`;
    const slider = make("input", { type: "range", min: 0, max: rows.length - 1, step: 1, value: rows.length - 1, "aria-label": label });
    const output = make("output");
    const list = make("dl");
    const show = () => {
      const cells = [...rows[slider.value].cells].map((cell) => cell.textContent.trim());
      output.textContent = `${titles[0]} ${cells[0]}`;
      slider.setAttribute("aria-valuetext", `${output.textContent}, point ${+slider.value + 1} of ${rows.length}`);
      const pairs = cells.length < titles.length ? [["", cells[1]]] : cells.slice(1).map((text, i) => [titles[i + 1], text]);
      list.replaceChildren(...pairs.map(([title, text]) => {
        const pair = make("div");
        pair.append(make("dt", {}, title), make("dd", {}, text));
        return pair;
      }));
    };
    slider.addEventListener("input", show);
    place.append(slider, output, list);
    show();
  };

  // Glossary terms, at their first occurrence in a section: the meaning appears on hover, focus and touch.
  const terms = () => {
    const meanings = new Map();
    for (const entry of all("#glossary .terms > div")) {
      const names = entry.querySelector("dt").textContent.split(",").map((name) => name.trim().toLowerCase());
      for (const name of names) meanings.set(name, entry.querySelector("dd").textContent);
    }
    if (!meanings.size) return;
    const tip = make("div", { id: "meaning", role: "tooltip", hidden: "" });
    document.body.append(tip);
    const hide = () => { tip.hidden = true; };
    const show = (button) => {
      tip.textContent = meanings.get(button.dataset.term);
      tip.hidden = false;
      const box = button.getBoundingClientRect();
      tip.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8)) + scrollX}px`;
      tip.style.top = `${box.bottom + scrollY + 4}px`;
    };
    const escaped = [...meanings.keys()].sort((a, b) => b.length - a.length).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const pattern = new RegExp(`(?<![\\p{L}-])(${escaped.join("|")})(?:e?s)?(?![\\p{L}-])`, "iu");
    for (const section of all("main section:not(#glossary)")) {
      const seen = new Set();
      const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT, (node) =>
        node.parentElement.closest("a, button, svg, h2, h3, h4, td, th, caption, code, .findings, dl, label") || !node.parentElement.closest("p, li")
          ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
      const nodes = [];
      while (walker.nextNode()) nodes.push(walker.currentNode);
      for (let node of nodes) {
        for (let found; node && (found = pattern.exec(node.data)); ) {
          const term = found[1].toLowerCase();
          const rest = node.splitText(found.index);
          node = rest.splitText(found[0].length);
          if (seen.has(term)) continue;
          seen.add(term);
          const button = make("button", { type: "button", class: "term", "data-term": term, "aria-describedby": "meaning" }, rest.data);
          for (const event of ["mouseenter", "focus", "click"]) button.addEventListener(event, () => show(button));
          for (const event of ["mouseleave", "blur"]) button.addEventListener(event, hide);
          button.addEventListener("keydown", (pressed) => { if (pressed.key === "Escape") hide(); });
          rest.replaceWith(button);
        }
      }
    }
  };

  const start = () => {
    all("table").forEach((table) => { filter(table); sort(table); });
    all(".explore").forEach(explore);
    terms();
  };
  const idle = window.requestIdleCallback ?? ((call) => setTimeout(call, 1));
  idle(start);
})();
