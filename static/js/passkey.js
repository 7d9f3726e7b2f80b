// Passkeys: say in the page what the browser's dialogue could not do, and hide what this browser cannot offer.
const messages = {
  NotAllowedError: "The browser's dialogue was closed, or took too long. Nothing was changed; try again.",
  InvalidStateError: "This device or key is a passkey of your account already.",
  SecurityError: "The browser offers passkeys at an address with a name and HTTPS only, or at localhost.",
};

for (const part of document.querySelectorAll("[data-passkey]")) {
  if (window.PublicKeyCredential) part.hidden = false;
  else if (part.dataset.passkey === "required") part.replaceChildren("This browser offers no passkeys here: they need HTTPS, or localhost.");
}

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const status = document.querySelector("[data-passkey-status]");
  status.textContent = messages[event.detail.exception.name] ?? `That did not work: ${event.detail.exception.message}`;
  status.hidden = false;
});
