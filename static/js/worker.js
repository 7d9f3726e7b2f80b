// Service worker of the sessions: without a network, or with a server that does not answer, it gives what the
// engine kept of this one session. It stores nothing itself, sees no answers, and forgets a session that is over.
// It waits for caches and the database no longer than PATIENCE_MS; what failed becomes an event of the session.

const [PREFIX, DATABASE, STORE, PATIENCE_MS] = ["obelus-session-", "obelus", "answers", 6000];
const AWAY = [502, 503, 504]; // what stands in for a server that restarts
const home = new URL(self.registration.scope);
const PROBLEMS = ""; // in place of a trial: what could not be sent, stored because a worker may end at any time
let problems = []; // not yet sent; that of an activation belongs to the session whose page comes next

self.addEventListener("install", () => self.skipWaiting());
// Without a network, Firefox ends a navigation whose preload fails; earlier releases asked for one.
self.addEventListener("activate", (event) => {
  const disabled = within(self.registration.navigationPreload?.disable());
  event.waitUntil(disabled.catch((error) => note(null, "worker", error)));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname, search } = new URL(request.url);
  if (request.method !== "GET" || origin !== home.origin) return;
  if (request.mode !== "navigate" && search) return; // nothing kept has one; the engine looks for the server so
  if (request.mode !== "navigate") return event.respondWith(file(event));
  const [token, end, ...more] = inSession(pathname);
  if (token && end === "" && !more.length) event.respondWith(page(event, token));
});

// The parts of an address behind /s/: a session's token first.
function inSession(pathname) {
  return pathname.startsWith(home.pathname) ? pathname.slice(home.pathname.length).split("/") : [];
}

// The session's page: the server's, which also says when the session is over; else the kept one.
async function page(event, token) {
  const asked = fetch(event.request);
  const heard = asked.then(async (answer) => {
    await report(token);
    if (answer.headers.get("Session-State") === "over") await forget(token);
  });
  event.waitUntil(heard.catch(() => {}));
  return orKept(event, asked, { address: `${home.pathname}${token}/kept/`, token });
}

async function file(event) {
  const asked = fetch(event.request);
  const token = async () => inSession(new URL((await self.clients.get(event.clientId)).url).pathname)[0];
  return orKept(event, asked, { address: event.request, token });
}

async function orKept(event, asked, { address, token }) {
  asked.catch(() => {}); // it may fail long after the kept copy was given
  const kept = await within(caches.match(address, { ignoreVary: true })).catch((error) => {
    const noted = async () => note(typeof token === "string" ? token : await token(), "copy", error);
    event.waitUntil(noted().catch(() => {}));
  });
  if (!kept) return asked;
  const answer = await within(asked).catch(() => kept);
  return AWAY.includes(answer.status) ? kept : answer;
}

// Resolves as the promise does, or rejects with a TimeoutError.
function within(promise) {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new DOMException("too slow", "TimeoutError")), PATIENCE_MS);
    Promise.resolve(promise).then(resolve, reject);
  });
}

function has(list, { token, what, reason }) {
  return list.some((one) => one.token === token && one.what === what && one.reason === reason);
}

async function note(token, what, { name }) {
  const problem = { token, what, reason: name };
  if (!has(problems, problem)) problems.push(problem);
  if (token) await report(token);
}

// Sends the problems of a session. Without a network they wait in the database for its next page.
async function report(token) {
  const key = [token, PROBLEMS];
  const earlier = await within(inDatabase("readonly", (store) => store.get(key))).catch(() => null);
  const mine = problems.filter((one) => (one.token ??= token) === token);
  const stored = earlier?.problems ?? [];
  const all = [...stored, ...mine.filter((one) => !has(stored, one))];
  if (!all.length) return;
  const events = all.map(({ what, reason }) => ({ kind: "storage", details: { what, reason } }));
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ judgments: [], events });
  const address = new URL(`../api/v1/sessions/${token}/judgments/`, home);
  const answer = await fetch(address, { method: "POST", headers, body }).catch(() => null);
  const isSent = answer?.status < 500;
  if (!isSent && !mine.length) return;
  const row = { session: token, trial: PROBLEMS, at: Date.now(), problems: all };
  const change = inDatabase("readwrite", (store) => (isSent ? store.delete(key) : store.put(row)));
  const isStored = await within(change).then(() => true, () => false); // else they wait in this worker
  if (isSent || isStored) problems = problems.filter((one) => !mine.includes(one));
}

async function forget(token) {
  await within(caches.delete(PREFIX + token)).catch((error) => note(token, "copy", error));
  const deletion = inDatabase("readwrite", (store) => store.delete(IDBKeyRange.bound([token], [token, []])));
  await within(deletion).catch((error) => error.name === "NotFoundError" || note(token, "indexeddb", error));
}

// Resolves with what one request to the answers gives, once its transaction has ended. Rejects with a NotFoundError
// where the engine has made no database: none is made here.
function inDatabase(mode, ask) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE);
    let missing = null;
    request.onupgradeneeded = () => {
      missing = new DOMException("no answers", "NotFoundError");
      request.transaction.abort();
    };
    request.onerror = () => reject(missing ?? request.error);
    request.onsuccess = () => {
      const transaction = request.result.transaction(STORE, mode);
      const asked = ask(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onabort = () => reject(transaction.error);
      request.result.close(); // once the transaction has ended
    };
  });
}
