// One tab at a time: a second tab takes over, and the first one hears of it.

const TAKEN = "taken over";

export function takeOver(session, onTaken) {
  const me = Math.random().toString(36).slice(2);
  let isOver = false;
  const over = () => {
    if (isOver) return;
    isOver = true;
    channel?.close();
    onTaken(new DOMException(TAKEN, "AbortError"));
  };
  const channel = "BroadcastChannel" in self ? new BroadcastChannel(`obelus-${session}`) : null;
  channel?.addEventListener("message", ({ data }) => data !== me && over());
  channel?.postMessage(me);
  // A lock is stolen even from a tab whose channel sleeps.
  navigator.locks
    ?.request(`obelus-${session}`, { steal: true }, () => new Promise(() => {}))
    .catch((error) => error.name === "AbortError" && over());
}
