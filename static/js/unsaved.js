// Say beside Save that a form has changes, and ask before the page is left without them.
const ask = (event) => event.preventDefault();

for (const form of document.querySelectorAll("form[data-unsaved]")) {
  const mark = () => {
    form.querySelector("[data-unsaved-note]")?.replaceChildren("Not saved yet");
    addEventListener("beforeunload", ask);
  };
  if (form.dataset.unsaved) mark();
  form.addEventListener("input", mark);
  form.addEventListener("submit", () => removeEventListener("beforeunload", ask));
}
