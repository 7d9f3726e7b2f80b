// Count the rows that are selected, and select all of a page; without this script the bar works alike.
const bar = document.querySelector("#bulk");
const all = bar?.querySelector("[data-select-all]");
const boxes = [...document.querySelectorAll("input.pick")];

function count() {
  const n = boxes.filter((box) => box.checked).length;
  bar.querySelector("[data-n-selected]").textContent = n ? `${n} selected` : "";
  const master = all.querySelector("input");
  master.checked = n === boxes.length;
  master.indeterminate = n > 0 && n < boxes.length;
  if (n && bar.elements.scope) bar.elements.scope.value = "ticked";
}

if (bar && boxes.length) {
  all.hidden = false;
  all.addEventListener("change", ({ target }) => {
    for (const box of boxes) box.checked = target.checked;
    count();
  });
  for (const box of boxes) box.addEventListener("change", count);
  addEventListener("pageshow", count); // a browser that goes back restores the boxes
}
