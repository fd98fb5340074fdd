"use strict";
// Sorting, filtering, hints and the theme. The page says all it has to say without any of this; whatever comes from a
// file is only ever put in as text.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  };
  document.documentElement.classList.add("scripted");

  // --- theme: the system's, until a button says otherwise -----------------------------------------------------------
  const theme = document.getElementById("theme");
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  const remember = (value) => { try { localStorage.setItem("flashpad-theme", value); } catch { /* no storage here */ } };
  const remembered = () => { try { return localStorage.getItem("flashpad-theme"); } catch { return null; } };
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    nameTheme();
  });
  system.addEventListener("change", nameTheme);
  nameTheme();

  // --- tables that sort: numbers by value, text by language, what is missing last -----------------------------------
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  const keyOf = (cell) => (cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent === "\u2013" ? null : cell.textContent);
  const sort = (table, column, direction) => {
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row, index) => ({ row, index, key: keyOf(row.cells[column]) }));
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.index - b.index;
      const order = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key : compare(String(a.key), String(b.key));
      return order * direction || a.index - b.index;
    });
    body.append(...keyed.map((entry) => entry.row));
  };
  for (const table of all("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sort(table, column, descending ? -1 : 1);
    }));
    table.tBodies[0].addEventListener("click", (event) => event.target.closest("tr").classList.toggle("open"));
  }

  // --- filters: rows of the table, their marks, and drawings without a mark left -----------------------------------
  const rows = document.getElementById("rows");
  const filters = document.getElementById("filters");
  const names = rows ? [...rows.tHead.rows[0].cells].map((cell) => cell.textContent) : [];
  const marks = new Map();
  for (const mark of all("svg.plot [data-row]")) {
    if (!marks.has(mark.dataset.row)) marks.set(mark.dataset.row, []);
    marks.get(mark.dataset.row).push(mark);
  }
  const idOf = (row) => row.id.slice(3);
  const filter = () => {
    if (!rows) return;
    const wanted = all("select", filters).filter((menu) => menu.value !== "").map((menu) => [names.indexOf(menu.dataset.column), menu.value]);
    const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      const keep = wanted.every(([column, value]) => row.cells[column].textContent === value) && words.every((word) => text.includes(word));
      row.classList.toggle("hidden", !keep);
      for (const mark of marks.get(idOf(row)) || []) mark.classList.toggle("hidden", !keep);
      shown += keep;
    }
    const restricted = wanted.length > 0 || words.length > 0;
    const total = rows.tBodies[0].rows.length;
    document.getElementById("count").textContent = restricted ? `${shown} of ${total} rows` : `${total} rows`;
    const hasMarks = (element) => all("[data-row]", element).some((mark) => !mark.classList.contains("hidden"));
    for (const series of all("svg.plot .series")) series.classList.toggle("hidden", !hasMarks(series));
    for (const panel of all(".panel")) panel.classList.toggle("hidden", restricted && panel.closest("#figure-tiles") === null && !hasMarks(panel));
    if (restricted) all("details.more").forEach((more) => { more.open = true; });
  };
  if (rows) {
    filters.addEventListener("input", filter);
    filters.addEventListener("change", filter);
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.addEventListener("reset", () => setTimeout(filter));
    filter();
  } else {
    filters.classList.add("hidden");
  }

  // --- a contender stands out where its name is pressed --------------------------------------------------------------
  const contenders = all("button.contender");
  const highlight = (name) => {
    for (const button of contenders) button.setAttribute("aria-pressed", String(button.dataset.contender === name));
    document.body.classList.toggle("dimmed", name !== null);
    for (const series of all("svg.plot .series")) series.classList.toggle("chosen", series.dataset.contender === name);
  };
  for (const button of contenders) {
    button.addEventListener("click", () => highlight(button.getAttribute("aria-pressed") === "true" ? null : button.dataset.contender));
  }

  // --- hints: what the row of a mark says -------------------------------------------------------------------------------
  const hint = document.getElementById("hint");
  const rowOf = (mark) => document.getElementById(`row${mark.dataset.row}`);
  const describe = (row) => {
    const heads = [...row.closest("table").tHead.rows[0].cells];
    const list = document.createElement("dl");
    heads.forEach((head, column) => {
      const text = row.cells[column].textContent;
      if (column === 0 || text === "\u2013" || head.textContent === "case" || head.textContent === "note") return;
      list.append(make("dt", head.textContent), make("dd", text));
    });
    hint.replaceChildren(make("b", row.cells[0].textContent), list);
  };
  const place = (event) => {
    const box = hint.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const y = event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 12 : event.clientY + 16;
    hint.style.left = `${Math.max(8, x)}px`;
    hint.style.top = `${Math.max(8, y)}px`;
  };
  let lit = null;
  const light = (mark) => {
    if (lit) lit.classList.remove("lit");
    lit = mark;
    if (lit) lit.classList.add("lit");
    hint.classList.toggle("hidden", !lit);
  };
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest?.("svg.plot [data-row]");
    if (!mark || !rowOf(mark)) { if (lit) light(null); return; }
    if (mark !== lit) { light(mark); describe(rowOf(mark)); }
    place(event);
  });
  document.addEventListener("click", (event) => {
    const mark = event.target.closest?.("svg.plot [data-row]");
    if (!mark || !rowOf(mark)) return;
    all("tr.target").forEach((row) => row.classList.remove("target"));
    rowOf(mark).classList.add("target");
    rowOf(mark).scrollIntoView({ block: "center", inline: "nearest" });
  });

  // --- the shown rows as a file ------------------------------------------------------------------------------------------
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const valueOf = (cell) => (cell.textContent === "\u2013" ? "" : cell.dataset.value !== undefined ? cell.dataset.value : cell.textContent);
  document.getElementById("save")?.addEventListener("click", () => {
    if (!rows) return;
    const lines = [names, ...[...rows.tBodies[0].rows].filter((row) => !row.classList.contains("hidden")).map((row) => [...row.cells].map(valueOf))];
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n"], { type: "text/csv" }));
    link.download = "rows.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  });

  addEventListener("beforeprint", () => all("details").forEach((more) => { more.open = true; }));
})();
