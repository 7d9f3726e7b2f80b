// Copy an address or a code with one press; the button only appears where that works.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue; // not offered without https
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = button.dataset.copy || button.parentElement.querySelector("output").textContent;
    await navigator.clipboard.writeText(text);
    button.parentElement.querySelector("[data-copied]").textContent = button.dataset.copiedText ?? "Copied";
  });
}
