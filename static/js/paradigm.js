// Check the text of a paradigm while it is written, and show examples; without this script "Check" does so.
const PAUSE_MS = 700; // after the last key
const form = document.querySelector("form[data-paradigm]");
const place = document.querySelector("[data-paradigm-check]");
const text = form.elements.text, seed = form.elements.examples_seed;
const again = form.querySelector("[data-again]");
let timer, latest = 0;

async function check() {
  const turn = ++latest;
  const sent = new FormData(form);
  sent.delete("file");
  place.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(form.dataset.paradigm, { method: "POST", body: sent, credentials: "same-origin" });
    // A later check may have been answered first.
    // A fragment of ours, rendered by a template that escapes.
    if (turn === latest && answer.ok && !answer.redirected) place.innerHTML = await answer.text(); // nosemgrep: html-from-script
  } catch { /* offline: the next key tries again */ }
  if (turn === latest) place.removeAttribute("aria-busy");
}

function checkSoon() {
  clearTimeout(timer);
  timer = setTimeout(check, PAUSE_MS);
}

function showLine(number) {
  const lines = text.value.split("\n");
  const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(start, start + lines[number - 1].length);
  text.scrollTop = (number - 4) * (text.scrollHeight / lines.length);
}

text.addEventListener("input", checkSoon);
place.addEventListener("click", (event) => {
  const link = event.target.closest("[data-line]");
  if (!link) return;
  event.preventDefault();
  showLine(Number(link.dataset.line));
});
again.hidden = false;
again.addEventListener("click", () => { seed.value = 1 + Math.floor(Math.random() * 1e6); check(); });
form.elements.file.addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  text.value = await file.text();
  target.value = ""; // what is edited from here on is saved, not the file
  text.dispatchEvent(new Event("input", { bubbles: true }));
});
