// One tab at a time: a second tab takes over, and the first one hears of it.

import { within } from "./queue.js";

const TAKEN = "taken over";

export function takeOver(session, { onTaken, onProblem }) {
  let [isOver, release] = [false, null];
  const over = () => {
    if (isOver) return;
    isOver = true;
    release();
    onTaken(new DOMException(TAKEN, "AbortError"));
  };
  const take = () => (release = claim(`obelus-${session}`, { over, onProblem }));
  // A page kept for Back holds nothing: WebKit takes its lock away, which looks like a second tab.
  addEventListener("pagehide", () => release());
  addEventListener("pageshow", ({ persisted }) => persisted && !isOver && take());
  take();
}

// A browser that blocks all data of sites may refuse it, as Firefox does.
function openChannel(name, onProblem) {
  try {
    return "BroadcastChannel" in self ? new BroadcastChannel(name) : null;
  } catch (error) {
    onProblem(error);
    return null;
  }
}

// Takes the session from any other tab; gives a function that lets it go.
function claim(name, { over, onProblem }) {
  const me = Math.random().toString(36).slice(2);
  let [isHeld, letGo] = [true, null];
  const channel = openChannel(name, onProblem);
  channel?.addEventListener("message", ({ data }) => data !== me && over());
  channel?.postMessage(me);
  // A lock is stolen even from a tab whose channel sleeps. Over http and in old browsers there are none.
  const released = new Promise((resolve) => (letGo = resolve));
  const granted = new Promise((resolve, reject) => {
    const hold = () => {
      resolve();
      return released;
    };
    if (!navigator.locks) return resolve();
    const lost = (error) => isHeld && (error.name === "AbortError" ? over() : reject(error));
    navigator.locks.request(name, { steal: true }, hold).catch(lost);
  });
  within(granted).catch((error) => isHeld && onProblem(error));
  return () => {
    isHeld = false;
    channel?.close();
    letGo();
  };
}
