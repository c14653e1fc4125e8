"use strict";
(() => {
  // ---- light or dark: as the system says until the button is used
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const stored = () => { try { return localStorage.getItem("krysol-theme"); } catch (e) { return null; } };
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  if (stored() === "light" || stored() === "dark") root.dataset.theme = stored();
  theme.hidden = false;
  const label = () => { theme.textContent = dark() ? "Light colours" : "Dark colours"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("krysol-theme", root.dataset.theme); } catch (e) { /* a page from disk may have no storage */ }
    label();
  });
  label();

  // ---- commands to copy
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent).then(() => {
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    }, () => { button.textContent = "Not allowed"; });
  });
  const offerCopies = (within) => {
    if (!navigator.clipboard) return;
    for (const button of within.querySelectorAll("button.copy")) button.hidden = false;
  };
  offerCopies(document);

  // ---- details of a row: made from a <template> when they are opened
  const close = (button) => {
    button.setAttribute("aria-expanded", "false");
    const next = button.closest("tr").nextElementSibling;
    if (next && next.classList.contains("detail")) next.remove();
  };
  const open = (button) => {
    const row = button.closest("tr");
    const detail = document.createElement("tr");
    detail.className = "detail";
    const cell = detail.insertCell();
    cell.colSpan = row.cells.length;
    cell.append(document.getElementById(button.dataset.detail).content.cloneNode(true));
    row.after(detail);
    button.setAttribute("aria-expanded", "true");
    offerCopies(detail);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.open");
    if (!button) return;
    if (button.getAttribute("aria-expanded") === "true") close(button); else open(button);
  });

  // ---- tables that sort and filter
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const closeAll = () => { for (const b of body.querySelectorAll('button[aria-expanded="true"]')) close(b); };
    const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const ascending = head.getAttribute("aria-sort") !== "ascending";
        const numbers = head.classList.contains("number");
        const sign = ascending ? 1 : -1;
        rows.sort((a, b) => {
          const p = key(a, column), q = key(b, column);
          if (!numbers) return sign * p.localeCompare(q);
          if (p === "" || q === "") return (p === "") - (q === "");  // unknown ones last
          return sign * (Number(p) - Number(q));
        });
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        closeAll();
        body.append(...rows);
      });
    });
    const filters = document.querySelector(`.filters[data-table="${table.id}"]`);
    if (!filters) continue;
    filters.hidden = false;
    const count = filters.querySelector("output");
    const apply = () => {
      closeAll();
      let shown = 0;
      for (const row of rows) {
        const keep = [...filters.querySelectorAll("[data-column]")].every((input) => {
          if (input.value === "") return true;
          const text = key(row, Number(input.dataset.column));
          return input.tagName === "SELECT" ? text === input.value : text.toLowerCase().includes(input.value.toLowerCase());
        });
        row.hidden = !keep;
        shown += keep;
      }
      count.textContent = `${shown} of ${rows.length} shown`;
    };
    filters.addEventListener("input", apply);
    apply();
  }
})();
