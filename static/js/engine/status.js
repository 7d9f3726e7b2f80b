// A polite word at the foot of the page: saved, saving, or how many answers wait on this device. Before the first
// answer it only says where answers could not be kept.

import { fill } from "./dom.js";

const SLOW_MS = 2000; // sending is not worth a word before

export function followSender(sender, queue, { element, words, hasAnswers }) {
  let [timer, said, isOnlyHere, isSilent] = [null, "", false, !hasAnswers];
  const say = (text, state) => {
    if (text === said) return; // screen readers speak only of changes
    said = text;
    element.textContent = text;
    element.className = state;
  };
  sender.onChange(({ waiting, failures }) => {
    clearTimeout(timer);
    const n = waiting;
    isSilent &&= !waiting;
    if (isSilent) return say(queue.kind === "memory" ? words.leave_open : "", queue.kind === "memory" ? "saved waiting" : "");
    isOnlyHere = queue.kind === "memory" && waiting > 0;
    if (!waiting) say(queue.kind === "memory" ? words.saved_memory : words.saved, "saved");
    else if (sender.isBarred) say(fill(words.barred, { n }), "saved waiting");
    else if (failures) {
      say(fill(queue.kind === "memory" ? words.memory_only : words.reconnecting, { n }), "saved waiting");
    } else timer = setTimeout(() => say(words.saving, "saved waiting"), SLOW_MS);
  });
  addEventListener("beforeunload", (event) => isOnlyHere && !sender.isLeaving && event.preventDefault());
}
