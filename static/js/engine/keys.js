// Keys that count as answers: pressed freshly, alone, and not held over from the last trial.

const TYPING = "input:not([type=radio]):not([type=checkbox]), textarea, [contenteditable]";

export class Keys {
  #held = new Set();
  #handlers = new Set();
  repeats = 0;
  lastPress = null; // the keydown behind a button's click by keyboard

  constructor() {
    addEventListener("keydown", (event) => this.#down(event), { capture: true });
    addEventListener("keyup", (event) => this.#held.delete(event.code), { capture: true });
    addEventListener("blur", () => this.#held.clear());
  }

  #down(event) {
    const isTyping = event.target instanceof Element && event.target.matches(TYPING);
    const isHeld = event.repeat || this.#held.has(event.code);
    if (isHeld) {
      this.repeats += 1;
      // A key kept down would press the button that has the focus again and again.
      if (!isTyping || event.key === "Enter") event.preventDefault();
      return;
    }
    if (event.code) this.#held.add(event.code);
    this.lastPress = event;
    if (isTyping || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    for (const handler of [...this.#handlers]) handler(event);
  }

  // Calls the handler for every fresh key outside text fields, until the signal ends.
  listen(handler, signal) {
    this.#handlers.add(handler);
    signal.addEventListener("abort", () => this.#handlers.delete(handler), { once: true });
  }
}
