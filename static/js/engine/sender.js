// Sends waiting answers in the background, in batches, until the server has acknowledged each.

const [MOST, FIRST_MS, LONGEST_MS, PATIENCE_MS, KEEPALIVE_BYTES] = [50, 1000, 60_000, 20_000, 60_000];

export class Sender {
  complete = false;
  next = null;
  stopped = null; // "over" or "gone": the server takes nothing more
  failures = 0;
  feedback = new Map();
  #isSending = false;
  #isWoken = false;
  #timer = null;
  #batch = MOST;
  #listeners = new Set();

  constructor(url, queue) {
    Object.assign(this, { url, queue });
    addEventListener("online", () => this.wake());
    document.addEventListener("visibilitychange", () => this.wake());
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
    if (this.#isSending || this.stopped) return;
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

  async #send(rows) {
    const body = JSON.stringify({ judgments: rows, sent_at: new Date().toISOString() });
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), PATIENCE_MS);
    try {
      const answer = await fetch(this.url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        keepalive: body.length < KEEPALIVE_BYTES,
        signal: patience.signal,
        body,
      });
      return await this.#heard(answer, rows);
    } catch {
      this.#later();
      return false;
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
    if (answer.ok && said) {
      this.failures = 0;
      this.next = said.next;
      this.complete ||= said.complete;
      for (const [trial, word] of Object.entries(said.feedback)) this.feedback.set(trial, word);
      const refused = said.refused.map((one) => one.trial);
      const settled = [...said.acknowledged, ...refused];
      await this.queue.settle(said.acknowledged, refused);
      // A row the server does not speak of would come round for ever.
      return rows.some((row) => settled.includes(row.trial)) || this.#later();
    }
    if ((answer.status === 404 || answer.status === 409) && said?.code) {
      this.stopped = said.next ? "over" : "gone";
      this.next = said.next ?? null;
      return false;
    }
    const wait = Number(answer.headers.get("Retry-After"));
    return this.#later(wait > 0 ? wait * 1000 : 0);
  }

  // Try again after an exponentially growing while with jitter, so that browsers do not come back all at once.
  #later(atLeast = 0) {
    const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.failures);
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

  // Resolves when nothing waits any more, or the server takes nothing more.
  async drained() {
    for (;;) {
      if (this.stopped || (!this.#isSending && !(await this.queue.all()).length)) return;
      if (!this.#isSending && !this.failures) this.wake();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
