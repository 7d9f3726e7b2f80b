// Refresh a running study's numbers every few seconds while the page is visible.
const SECONDS = 4, PATIENCE = 60, FIGURE_SECONDS = 60;
const CELLS = ".finding, dd, td, time";
const said = document.querySelector("[data-live-said]");
let pause = SECONDS, drawnAt = performance.now();

async function renew() {
  const old = document.querySelector("[data-live]");
  const answer = await fetch(old.dataset.live, { headers: { "X-Requested-With": "fetch" }, credentials: "same-origin" });
  if (!answer.ok || answer.redirected) throw new Error(answer.status);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
  const isNew = fresh.dataset.liveWords !== old.dataset.liveWords;
  const figures = old.querySelector("[data-live-figures]"), gap = fresh.querySelector("[data-live-figures]");
  if (!old.contains(document.activeElement)) {
    old.replaceWith(fresh);
    if (figures && gap) gap.replaceWith(figures); // loaded images stay, so that nothing flickers
  } else for (const [place, cell] of old.querySelectorAll(CELLS).entries()) keep(cell, fresh.querySelectorAll(CELLS)[place]);
  if (isNew) said.textContent = fresh.dataset.liveWords;
  if (figures) redraw(figures, isNew);
  if (old.isConnected) old.dataset.liveWords = fresh.dataset.liveWords;
}

// Drawing costs the server more than counting does, so that figures follow the numbers once a minute.
let isBehind = false;
function redraw(figures, isNew) {
  isBehind ||= isNew;
  if (!isBehind || performance.now() - drawnAt < FIGURE_SECONDS * 1000) return;
  [isBehind, drawnAt] = [false, performance.now()];
  for (const image of figures.querySelectorAll("source, img")) {
    const name = image.matches("img") ? "src" : "srcset";
    image.setAttribute(name, `${image.getAttribute(name).replace(/&at=\d+$/, "")}&at=${Date.now()}`);
  }
}

// Where the reader's focus is inside, only the cells change, so that the focus stays where it is.
// Both are of this page as the server rendered it, escaped.
function keep(cell, fresh) {
  if (fresh && !cell.contains(document.activeElement) && cell.innerHTML !== fresh.innerHTML) cell.innerHTML = fresh.innerHTML; // nosemgrep: html-from-script
}

async function follow() {
  if (!document.hidden) {
    try { await renew(); pause = SECONDS }
    catch { pause = Math.min(PATIENCE, 2 * pause); said.textContent = "The numbers could not be renewed; trying again." }
  }
  setTimeout(follow, pause * 1000);
}

document.querySelector("[data-live-renewal]").hidden = false;
setTimeout(follow, SECONDS * 1000);
