// Answers wait here until the server has them: in IndexedDB, else in local storage, else in this page only.
// Of an answer that the server has, its trial's id and the time are kept: so a page without a network knows.
// No store is waited for longer than PATIENCE_MS: a database that WebKit holds may never answer.

const [NAME, STORE, PATIENCE_MS] = ["obelus", "answers", 1500];
const A_MONTH_MS = 30 * 24 * 3600 * 1000;

// Resolves as the promise does, or rejects with a TimeoutError.
export function within(promise, ms = PATIENCE_MS) {
  let timer = null;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new DOMException("too slow", "TimeoutError")), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function openDatabase() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: ["session", "trial"] });
  const opened = done(request);
  return within(opened).catch((error) => {
    opened.then((database) => database.close(), () => {}); // late: nothing may stay open
    throw error;
  });
}

class InDatabase {
  kind = "indexeddb";

  constructor(database, session) {
    Object.assign(this, { database, session });
  }

  close() {
    this.database.close();
  }

  #store(mode) {
    const options = mode === "readwrite" ? { durability: "strict" } : {};
    return this.database.transaction(STORE, mode, options).objectStore(STORE);
  }

  async put(row) {
    const store = this.#store("readwrite");
    store.put({ session: this.session, trial: row.trial, at: Date.now(), row });
    await new Promise((resolve, reject) => {
      store.transaction.oncomplete = resolve;
      store.transaction.onabort = () => reject(store.transaction.error);
    });
  }

  async #mine() {
    const range = IDBKeyRange.bound([this.session], [this.session, []]);
    return (await done(this.#store("readonly").getAll(range))).filter(({ problems }) => !problems); // the worker's
  }

  async all() {
    return (await this.#mine()).filter((one) => one.row).map((one) => one.row);
  }

  async answered() {
    return new Map((await this.#mine()).map((one) => [one.trial, one.at]));
  }

  async settle(stored, refused) {
    const store = this.#store("readwrite");
    const notes = stored.map((trial) => store.put({ session: this.session, trial, at: Date.now() }));
    await Promise.all([...notes, ...refused.map((trial) => store.delete([this.session, trial]))].map(done));
  }

  forget() {
    return done(this.#store("readwrite").delete(IDBKeyRange.bound([this.session], [this.session, []])));
  }

  async tidy() {
    const store = this.#store("readwrite");
    for (const one of await done(store.getAll())) {
      if (Date.now() - one.at > A_MONTH_MS) store.delete([one.session, one.trial]);
    }
  }
}

class InStorage {
  kind = "local";

  constructor(session) {
    this.key = `${NAME}-${session}`;
    localStorage.setItem(`${this.key}-try`, "1");
    localStorage.removeItem(`${this.key}-try`);
  }

  async put(row) {
    this.#write([...(await this.all()).filter((one) => one.trial !== row.trial), row]);
  }

  async all() {
    return JSON.parse(localStorage.getItem(this.key) ?? "[]");
  }

  async answered() {
    const waiting = (await this.all()).map((one) => [one.trial, Date.parse(one.answered_at)]);
    return new Map([...this.#notes(), ...waiting]);
  }

  async settle(stored, refused) {
    const gone = new Set([...stored, ...refused]);
    const notes = [...this.#notes(), ...stored.map((trial) => [trial, Date.now()])];
    if (notes.length) localStorage.setItem(`${this.key}-answered`, JSON.stringify(notes));
    this.#write((await this.all()).filter((one) => !gone.has(one.trial)));
  }

  async forget() {
    localStorage.removeItem(this.key);
    localStorage.removeItem(`${this.key}-answered`);
  }

  #notes() {
    return JSON.parse(localStorage.getItem(`${this.key}-answered`) ?? "[]");
  }

  #write(rows) {
    if (rows.length) localStorage.setItem(this.key, JSON.stringify(rows));
    else localStorage.removeItem(this.key);
  }
}

class InMemory {
  kind = "memory";
  rows = new Map();

  async put(row) {
    this.rows.set(row.trial, row);
  }

  async all() {
    return [...this.rows.values()];
  }

  async answered() {
    return new Map([...this.rows.keys()].map((trial) => [trial, Date.now()]));
  }

  async settle(stored, refused) {
    for (const trial of [...stored, ...refused]) this.rows.delete(trial);
  }

  async forget() {
    this.rows.clear();
  }
}

// One queue per session. A row that one store refuses, or does not take in time, goes to the next.
class Queue {
  isLeft = false; // the page is being left, or kept for Back: its database is closed
  #stores = [];
  #ready = null;
  #problems = [];
  #sent = new Set();

  constructor(session) {
    this.session = session;
    this.memory = new InMemory();
    addEventListener("pagehide", () => this.#leave());
    addEventListener("pageshow", ({ persisted }) => persisted && (this.#ready = this.open()));
  }

  get kind() {
    return this.memory.rows.size ? "memory" : this.#stores[0].kind;
  }

  // Opens what this browser gives; its stores are tried in this order.
  async open() {
    this.isLeft = false;
    const stores = [];
    try {
      const database = new InDatabase(await openDatabase(), this.session);
      stores.push(database);
      await within(database.tidy());
      if (this.isLeft) database.close();
    } catch (error) {
      stores.pop()?.close();
      this.note("indexeddb", error);
    }
    try {
      stores.push(new InStorage(this.session));
    } catch (error) {
      this.note("local", error);
    }
    this.#stores = [...stores, this.memory];
    return this;
  }

  // WebKit keeps a page with an open database, and then never ends a transaction of the next page.
  #leave() {
    this.isLeft = true;
    this.#stores.find(({ kind }) => kind === "indexeddb")?.close();
  }

  // A problem goes to the server as an event of the next answer, once; else with what is sent next, or by itself.
  note(what, { name }) {
    const isKnown = this.#problems.some(({ details }) => details.what === what && details.reason === name);
    if (!isKnown) this.#problems.push({ kind: "storage", details: { what, reason: name } });
  }

  get problems() {
    return this.#problems.filter((event) => !this.#sent.has(event));
  }

  settleProblems(events) {
    for (const event of events) this.#sent.add(event);
  }

  async #usable() {
    await this.#ready;
    return this.#stores.filter(({ kind }) => !(this.isLeft && kind === "indexeddb"));
  }

  // What a store answers; null where it fails. One that does not answer in time is not asked again.
  async #ask(store, name, ...values) {
    try {
      return (await within(store[name](...values))) ?? true;
    } catch (error) {
      if (this.isLeft || !this.#stores.includes(store)) return null; // asked before the page was left and restored
      this.note(store.kind, error);
      if (error.name === "TimeoutError") this.#stores = this.#stores.filter((one) => one !== store);
      return null;
    }
  }

  async #askAll(name, ...values) {
    const answers = (await this.#usable()).map((store) => this.#ask(store, name, ...values));
    return (await Promise.all(answers)).filter(Boolean);
  }

  async put(row) {
    for (const store of await this.#usable()) {
      const events = this.problems;
      row.events.push(...events);
      this.settleProblems(events);
      if (await this.#ask(store, "put", row)) return;
    }
  }

  async all() {
    const rows = new Map((await this.#askAll("all")).flat().map((row) => [row.trial, row]));
    return [...rows.values()].sort((a, b) => a.timing.position - b.timing.position);
  }

  // Trials with an answer, here or at the server, and when.
  async answered() {
    return new Map((await this.#askAll("answered")).flatMap((times) => [...times]));
  }

  // The server has stored these, and will never take those.
  async settle(stored, refused) {
    const [first, ...others] = await this.#usable();
    const gone = [...stored, ...refused];
    await Promise.all([this.#ask(first, "settle", stored, refused), ...others.map((store) => this.#ask(store, "settle", [], gone))]);
  }

  // The session is over and everything is stored: nothing of it stays.
  forget() {
    return this.#askAll("forget");
  }
}

export function openQueue(session) {
  return new Queue(session).open();
}
