// Answers wait here until the server has them: in IndexedDB, else in local storage, else in this page only.
// Of an answer that the server has, its trial's id and the time are kept: so a page without a network knows.

const [NAME, STORE, OPEN_MS] = ["obelus", "answers", 1500];
const A_MONTH_MS = 30 * 24 * 3600 * 1000;

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function openDatabase() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: ["session", "trial"] });
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("slow")), OPEN_MS));
  return Promise.race([done(request), late]);
}

class InDatabase {
  kind = "indexeddb";

  constructor(database, session) {
    Object.assign(this, { database, session });
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

  #mine() {
    return done(this.#store("readonly").getAll(IDBKeyRange.bound([this.session], [this.session, []])));
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

// One queue per session. A row that its store refuses is kept in memory beside it.
class Queue {
  constructor(store) {
    this.store = store;
    this.spare = store.kind === "memory" ? store : new InMemory();
  }

  get kind() {
    return this.spare.rows.size ? "memory" : this.store.kind;
  }

  async put(row) {
    try {
      await this.store.put(row);
    } catch {
      await this.spare.put(row);
    }
  }

  async all() {
    const kept = await this.store.all().catch(() => []);
    const rows = this.store === this.spare ? kept : [...kept, ...(await this.spare.all())];
    return rows.sort((a, b) => a.timing.position - b.timing.position);
  }

  // Trials with an answer, here or at the server, and when.
  async answered() {
    const kept = await this.store.answered().catch(() => new Map());
    return new Map([...kept, ...(await this.spare.answered())]);
  }

  // The server has stored these, and will never take those.
  async settle(stored, refused) {
    await this.spare.settle(stored, refused);
    if (this.store !== this.spare) await this.store.settle(stored, refused).catch(() => {});
  }

  // The session is over and everything is stored: nothing of it stays.
  async forget() {
    await Promise.allSettled([this.spare.forget(), this.store.forget()]);
  }
}

export async function openQueue(session) {
  try {
    const store = new InDatabase(await openDatabase(), session);
    await store.tidy();
    return new Queue(store);
  } catch {
    try {
      return new Queue(new InStorage(session));
    } catch {
      return new Queue(new InMemory());
    }
  }
}
