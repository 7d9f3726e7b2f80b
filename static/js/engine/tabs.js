// One tab at a time: a second tab takes over, and the first one hears of it.

import { within } from "./queue.js";

const TAKEN = "taken over";

export function takeOver(session, { onTaken, onProblem }) {
  const [me, name] = [Math.random().toString(36).slice(2), `obelus-${session}`];
  let isOver = false;
  const over = () => {
    if (isOver) return;
    isOver = true;
    channel?.close();
    onTaken(new DOMException(TAKEN, "AbortError"));
  };
  const channel = "BroadcastChannel" in self ? new BroadcastChannel(name) : null;
  channel?.addEventListener("message", ({ data }) => data !== me && over());
  channel?.postMessage(me);
  // A lock is stolen even from a tab whose channel sleeps. Over http and in old browsers there are none.
  const { locks } = navigator;
  if (!locks) return;
  const granted = new Promise((resolve, reject) => {
    const hold = () => {
      resolve();
      return new Promise(() => {}); // until the page is left, or another tab steals it
    };
    locks.request(name, { steal: true }, hold).catch((error) => (error.name === "AbortError" ? over() : reject(error)));
  });
  within(granted).catch((error) => isOver || onProblem(error));
}
