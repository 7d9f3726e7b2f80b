// Clocks. A response time is the answering event's timeStamp minus the onset, both on the page's monotonic
// clock; the onset is the time stamp of the first animation frame that was due after the one that painted the trial.

const MOST_LATE = 4; // frames: a clock that never gets there must not keep a trial from beginning
const EPOCH_LIKE = 1e12; // some old browsers stamp events with the time of day

export function timeOf(event) {
  return event.timeStamp > EPOCH_LIKE ? event.timeStamp - performance.timeOrigin : event.timeStamp;
}

function nextFrame() {
  return new Promise((resolve) => requestAnimationFrame(resolve));
}

// Resolves with the onset of what is in the document now. Hidden pages have no frames: it waits. A frame's stamp
// is the time it was due. Where frames are late, the one after the painting frame may have been due before that
// one did its work: nothing can have been seen by then, so it is passed over.
export async function painted() {
  await nextFrame();
  const painting = performance.now();
  let stamp = await nextFrame();
  for (let late = 0; stamp < painting && late < MOST_LATE; late += 1) stamp = await nextFrame();
  return Math.max(stamp, painting);
}

// How long ago this trial was shown first in this tab: on a page that was left since, or before a long absence.
export function firstShown(trial) {
  try {
    const [id, at] = (sessionStorage.getItem("obelus-shown") ?? "").split(" ");
    if (id === trial) return { shown_again_ms: Math.max(1, Date.now() - Number(at)) };
    sessionStorage.setItem("obelus-shown", `${trial} ${Date.now()}`);
  } catch {
    // storage is blocked, which the queue says
  }
  return {};
}

// The smallest step of the clock, in ms: 0.1 usually, 1 or 100 where a browser coarsens it. On a busy device the page
// does not run for a while, which looks like one long step: a few are needed.
export function clockStep() {
  let [smallest, steps, before] = [Infinity, 0, performance.now()];
  const end = before + 20;
  while (smallest > 0.2 && (before < end || steps < 4)) {
    const now = performance.now();
    if (now > before) [smallest, steps] = [Math.min(smallest, now - before), steps + 1];
    before = now;
  }
  return Math.round(smallest * 1000) / 1000;
}

// Length of a frame in ms: the median of a few.
export async function frameLength(n = 9) {
  const stamps = [await nextFrame()];
  while (stamps.length <= n) stamps.push(await nextFrame());
  const steps = stamps.slice(1).map((stamp, place) => stamp - stamps[place]);
  return Math.round(steps.sort((a, b) => a - b)[n >> 1] * 10) / 10;
}

// Watches one trial: its onset, and how long the window had no focus, the page was hidden or the instructions were
// open meanwhile.
export class Watch {
  onset = null;
  #away = { focus_lost_ms: 0, page_hidden_ms: 0, instructions_ms: 0 };
  #since = { focus_lost_ms: null, page_hidden_ms: null, instructions_ms: null };
  #stop = new AbortController();

  begin(onset) {
    this.onset = onset;
    const { signal } = this.#stop;
    const look = () => {
      this.#set("focus_lost_ms", !document.hasFocus());
      this.#set("page_hidden_ms", document.visibilityState === "hidden");
      this.#set("instructions_ms", Boolean(document.querySelector("details.again[open]")));
    };
    document.addEventListener("toggle", look, { signal, capture: true }); // it does not bubble
    for (const name of ["blur", "focus"]) addEventListener(name, look, { signal });
    document.addEventListener("visibilitychange", look, { signal });
    look();
  }

  #set(name, isAway) {
    const now = performance.now();
    if (isAway && this.#since[name] === null) this.#since[name] = now;
    if (!isAway && this.#since[name] !== null) {
      this.#away[name] += now - this.#since[name];
      this.#since[name] = null;
    }
  }

  rt(event) {
    return Math.round(timeOf(event) - this.onset);
  }

  end() {
    for (const name of Object.keys(this.#away)) this.#set(name, false);
    this.#stop.abort();
    if (!this.#away.instructions_ms) delete this.#away.instructions_ms;
    return Object.fromEntries(Object.entries(this.#away).map(([name, ms]) => [name, Math.round(ms)]));
  }
}

// Says when the time of day went backwards while the monotonic clock went on.
export function wallClock() {
  let [day, page] = [Date.now(), performance.now()];
  return () => {
    const [newDay, newPage] = [Date.now(), performance.now()];
    const isBackwards = newDay - day < newPage - page - 1000;
    [day, page] = [newDay, newPage];
    return isBackwards;
  };
}
