// Renew a running study's numbers every few seconds, only while somebody looks at them.
const SECONDS = 4, PATIENCE = 60;
const said = document.querySelector("[data-live-said]");
let pause = SECONDS;

async function renew() {
  const old = document.querySelector("[data-live]");
  const answer = await fetch(old.dataset.live, { headers: { "X-Requested-With": "fetch" }, credentials: "same-origin" });
  if (!answer.ok || answer.redirected) throw new Error(answer.status);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
  if (!old.contains(document.activeElement)) old.replaceWith(fresh);
  else for (const [place, cell] of old.querySelectorAll("dd, td, time").entries()) keep(cell, fresh.querySelectorAll("dd, td, time")[place]);
  if (fresh.dataset.liveWords !== old.dataset.liveWords) said.textContent = fresh.dataset.liveWords;
  if (old.isConnected) old.dataset.liveWords = fresh.dataset.liveWords;
}

// Where the reader's focus is inside, only the cells change, so that the focus stays where it is.
function keep(cell, fresh) {
  if (fresh && !cell.contains(document.activeElement) && cell.innerHTML !== fresh.innerHTML) cell.innerHTML = fresh.innerHTML;
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
