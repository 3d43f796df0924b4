"use strict";
// Sortable tables: a click on a heading sorts by the cells' data-v, else by their text; again: the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const limit = Number(table.dataset.limit || 0);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    button.setAttribute("aria-label", "Sort by " + head.textContent.trim());
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => {
        const cell = row.cells[column];
        return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent.trim();
      };
      const empty = (k) => k === "" || k === "–";
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort(([a], [b]) => {
        if (empty(a) || empty(b)) return empty(a) - empty(b);
        const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
        return up ? order : -order;
      });
      rows.forEach(([, row], index) => {
        row.classList.toggle("more", limit > 0 && index >= limit);
        body.append(row);
      });
    });
  });
}
// A link into something folded unfolds it.
const unfold = () => {
  let place = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  const target = place;
  for (; place; place = place.parentElement) if (place.localName === "details") place.open = true;
  target?.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();
// Paper cannot be clicked: what is folded is printed whole, but for what is marked as long.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details:not([open]):not(.long)")) {
    fold.open = true;
    fold.classList.add("unfolded");
  }
});
addEventListener("afterprint", () => {
  for (const fold of document.querySelectorAll("details.unfolded")) {
    fold.open = false;
    fold.classList.remove("unfolded");
  }
});
