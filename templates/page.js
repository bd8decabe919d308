// The page's only script: dropped files, menus that take effect at once, progress that updates by itself.
// Everything works without it, just less comfortably.
"use strict";

const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

for (const form of all("[data-upload]")) {
  const input = form.querySelector("input[type=file]");
  const chosen = form.querySelector("[data-chosen]");
  const limit = Number(form.dataset.limit);
  const look = () => {
    const files = [...input.files];
    const bytes = files.reduce((sum, file) => sum + file.size, 0), large = bytes > limit;
    const names = files.map((file) => file.name).join(" and "), size = `${(bytes / 1e6).toFixed(1)} MB`;
    chosen.textContent = !files.length ? "" : large
      ? `${names}: ${size}, and up to ${limit / 1e6} MB can be uploaded. Start the page with the name instead: auditkit open FILE`
      : `${names}, ${size}`;
    input.setCustomValidity(large ? "The file is too large." : "");
  };
  input.addEventListener("change", look);
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    form.addEventListener(kind, (event) => {
      event.preventDefault();
      form.classList.toggle("over", kind === "dragenter" || kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files.length) {
        input.files = event.dataTransfer.files;
        look();
        form.querySelector("button").focus();
      }
    });
  }
  form.addEventListener("submit", () => { chosen.textContent = "Opening …"; });
}

for (const form of all("[data-live]")) {
  let last = null;
  const reread = async () => {
    if (last) last.abort();
    last = new AbortController();
    const answers = new URLSearchParams(new FormData(form));
    form.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.action, { method: "POST", body: answers, headers: { "X-Fragment": "1" }, signal: last.signal });
      const text = await answer.text();
      const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("[data-replace]");
      if (!fresh) { location.reload(); return; }
      const focused = document.activeElement && document.activeElement.id; // the user may have moved on meanwhile
      form.querySelector("[data-replace]").replaceWith(fresh);
      const same = focused && document.getElementById(focused);
      if (same) same.focus();
      form.removeAttribute("aria-busy");
    } catch (error) {
      if (error.name !== "AbortError") form.submit();
    }
  };
  form.addEventListener("change", reread);
  const moved = (menu) => !([...menu.options].find((one) => one.defaultSelected) || menu.options[0]).selected;
  if (all("select", form).some(moved)) reread(); // changed before this script ran, or restored by the browser
}

for (const part of all("[data-progress]")) {
  const bar = part.querySelector("[role=progressbar]");
  let leaving = false;  // Cancel leads on by itself: a second way there would swallow its answer
  addEventListener("submit", () => { leaving = true; });
  const ask = async () => {
    let found;
    try {
      found = await (await fetch(part.dataset.progress)).json();
    } catch {
      part.querySelector("[data-says]").textContent = "The program was ended.";
      return;
    }
    if (leaving) return;
    if (!found.running) { location.replace(part.dataset.then); return; }
    const percent = Math.round(100 * found.share);
    bar.setAttribute("aria-valuenow", percent);
    bar.querySelector("[data-bar]").setAttribute("width", `${percent}%`);
    part.querySelector("[data-says]").textContent = found.says;
    part.querySelector("[data-left]").textContent = [found.spent, found.left].filter(Boolean).map((text) => `, ${text}`).join("");
    part.querySelector("[data-stages]").replaceChildren(...found.stages.map((name, i) => {
      const item = document.createElement("li");
      item.textContent = name;
      if (i < found.at) item.className = "done";
      if (i === found.at) item.setAttribute("aria-current", "step");
      return item;
    }));
    setTimeout(ask, 500);
  };
  setTimeout(ask, 250);
}

for (const form of all("[data-sliders]")) {
  let busy = false, again = false;
  const show = () => {
    for (const output of all("output[for]", form)) {
      const input = form.elements[output.htmlFor[0]];
      const words = (input.dataset.words || "").split("|");
      const last = input.dataset.last && input.value === input.max, first = input.dataset.first && input.value === input.min;
      output.textContent = last ? input.dataset.last : first ? input.dataset.first : words.length > 1 ? words[input.value] : input.value;
    }
  };
  const ask = async () => {
    if (busy) { again = true; return; } // one question at a time, and always the last one
    busy = true;
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-Fragment": "1" } });
    document.querySelector("[data-explored]").innerHTML = await answer.text();
    busy = false;
    if (again) { again = false; ask(); }
  };
  form.addEventListener("input", () => { show(); ask(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  show();
}
