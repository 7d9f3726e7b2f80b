// Sends waiting answers in the background, in batches, until the server has acknowledged each. Where something in
// between (an extension, a firewall) stops just that, a form hands them over, which goes as pages go.

import { make } from "./dom.js";
import { within } from "./queue.js";

const [MOST, FIRST_MS, LONGEST_MS, PATIENCE_MS, KEEPALIVE_BYTES] = [50, 1000, 60_000, 20_000, 60_000];
const [MOST_HANDED, BARRED_FAILURES, BARRED_MS, LOOK_MS] = [200, 3, 20_000, 5000];

export class Sender {
  complete = false;
  next = null;
  page = null; // the last one, which came with the last acknowledgement
  stopped = null; // "over" or "gone": the server takes nothing more
  failures = 0;
  isBarred = false; // the site can be reached, but nothing sent in the background gets there
  isLeaving = false; // a form takes the answers along just now
  #couldReach = false; // a page would have come after the last attempt
  feedback = new Map();
  #isSending = false;
  #isWoken = false;
  #timer = null;
  #unheardSince = null;
  #batch = MOST;
  #listeners = new Set();

  constructor(url, queue) {
    Object.assign(this, { url, queue });
    addEventListener("online", () => this.wake());
    addEventListener("pageshow", ({ persisted }) => persisted && this.wake());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.wake());
  }

  // Whether no further answer is wanted.
  get isOver() {
    return this.complete || this.stopped !== null;
  }

  // A listener hears of every change, and first of how things stand.
  onChange(listener) {
    this.#listeners.add(listener);
    this.#tell();
  }

  async #tell() {
    const waiting = (await this.queue.all()).length;
    for (const listener of this.#listeners) listener({ waiting, failures: this.failures, sender: this });
  }

  // Send what waits, now.
  async wake() {
    this.#isWoken = true;
    if (this.#isSending || this.stopped || this.queue.isLeft) return; // nothing begins while a page is left
    clearTimeout(this.#timer);
    this.#isSending = true;
    try {
      while (this.#isWoken && !this.stopped) {
        this.#isWoken = false;
        await this.#sendAll();
      }
    } finally {
      this.#isSending = false;
    }
    await this.#tell();
  }

  async #sendAll() {
    for (;;) {
      const rows = (await this.queue.all()).slice(0, this.#batch);
      if (!rows.length || this.stopped) return;
      await this.#tell();
      if (!(await this.#send(rows))) return;
    }
  }

  // Problems of the storage that were met after the last answer.
  async report() {
    if (this.queue.problems.length) await within(this.#post([])).catch(() => {}); // it goes on where the page is left
  }

  #delivery(rows, events) {
    return JSON.stringify({ judgments: rows, events, sent_at: new Date().toISOString() });
  }

  async #post(rows, signal) {
    const events = this.queue.problems;
    const body = this.#delivery(rows, events);
    const headers = { "Content-Type": "application/json" };
    const keepalive = body.length < KEEPALIVE_BYTES;
    const answer = await fetch(this.url, { method: "POST", headers, keepalive, signal, body });
    if (answer.ok) this.queue.settleProblems(events);
    return answer;
  }

  async #send(rows) {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), PATIENCE_MS);
    try {
      return await this.#heard(await this.#post(rows, patience.signal), rows);
    } catch {
      return this.#unheard();
    } finally {
      clearTimeout(timer);
    }
  }

  async #heard(answer, rows) {
    if (answer.status === 413 && rows.length > 1) {
      this.#batch = Math.ceil(rows.length / 2);
      return true;
    }
    const said = await answer.json().catch(() => null);
    if (!said) return this.#unheard();
    [this.#unheardSince, this.isBarred, this.#couldReach] = [null, false, false];
    if (answer.ok) {
      this.failures = 0;
      this.next = said.next;
      this.complete ||= said.complete;
      this.page = said.page ?? null;
      for (const [trial, word] of Object.entries(said.feedback)) this.feedback.set(trial, word);
      const refused = said.refused.map((one) => one.trial);
      const settled = [...said.acknowledged, ...refused];
      await this.queue.settle(said.acknowledged, refused);
      // A row the server does not speak of would come round for ever.
      return rows.some((row) => settled.includes(row.trial)) || this.#later();
    }
    if ((answer.status === 404 || answer.status === 409) && said.code) {
      this.stopped = said.next ? "over" : "gone";
      this.next = said.next ?? null;
      return false;
    }
    const wait = Number(answer.headers.get("Retry-After"));
    return this.#later(wait > 0 ? wait * 1000 : 0);
  }

  // No word of ours came back: no network, no server, or something that stops just this.
  async #unheard() {
    this.#unheardSince ??= performance.now();
    const missing = BARRED_MS - (performance.now() - this.#unheardSince);
    if (missing > 0) return this.#later(0, missing + FIRST_MS);
    if (this.isBarred || this.failures < BARRED_FAILURES) return this.#later();
    const couldReach = this.#couldReach; // a server that has just come back is heard next time
    this.#couldReach = await isReachable();
    this.isBarred = couldReach && this.#couldReach;
    return this.#later(0, this.#couldReach ? FIRST_MS : LONGEST_MS);
  }

  // Try again after an exponentially growing while with jitter, so that browsers do not come back all at once.
  #later(atLeast = 0, atMost = LONGEST_MS) {
    const longest = Math.min(LONGEST_MS, atMost, FIRST_MS * 2 ** this.failures);
    this.failures += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.wake(), Math.max(atLeast, longest * (0.5 + Math.random() / 2)));
    return false;
  }

  // What is said about a practice answer, or null when the server does not answer in time.
  async feedbackOn(trial, patienceMs) {
    const end = performance.now() + patienceMs;
    while (!this.feedback.has(trial) && !this.failures && !this.stopped && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    return this.feedback.get(trial) ?? null;
  }

  // Resolves when nothing waits any more, or the server takes nothing more, or another tab goes on.
  async drained(signal) {
    for (;;) {
      if (signal.aborted || this.stopped || (!this.#isSending && !(await this.queue.all()).length)) return;
      if (!this.#isSending && !this.failures) this.wake();
      await this.handOver();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  // Leaves the page with the answers, when so many wait; the page that comes says which are stored, and goes on.
  async handOver({ atLeast = 1 } = {}) {
    if (!this.isBarred) return;
    const rows = (await this.queue.all()).slice(0, MOST_HANDED);
    if (rows.length < atLeast || !(await isReachable())) return;
    await dismissWorker((error) => this.queue.note("worker", error));
    const value = this.#delivery(rows, this.queue.problems);
    const form = make("form", { method: "post", action: document.body.dataset.handed, hidden: true });
    form.append(make("input", { type: "hidden", name: "sent", value }));
    document.body.append(form);
    this.isLeaving = true;
    form.submit();
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS)); // the page is gone by then, or nothing came
    this.isLeaving = false;
    form.remove();
  }
}

// The service worker asks for pages as scripts do: where these are stopped, it would only give the kept page.
async function dismissWorker(onProblem) {
  const dismiss = async () => (await navigator.serviceWorker?.getRegistration())?.unregister();
  await within(dismiss()).catch(onProblem);
}

// Whether a page of ours would come. Where no script may ask at all, a picture tells.
async function isReachable() {
  try {
    const { kept } = document.body.dataset;
    return (await within(fetch(kept, { method: "HEAD" }), LOOK_MS)).ok;
  } catch (error) {
    if (error.name === "TimeoutError") return false;
  }
  return new Promise((resolve) => {
    const picture = new Image();
    [picture.onload, picture.onerror] = [() => resolve(true), () => resolve(false)];
    setTimeout(resolve, LOOK_MS, false);
    picture.src = `${document.querySelector("link[rel=icon]").href}?${Date.now()}`;
  });
}
