// Copy an address with one press; the button only appears where that works.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.parentElement.querySelector("[data-copied]").textContent = "Copied";
  });
}
