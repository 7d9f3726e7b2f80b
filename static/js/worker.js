// Service worker of the sessions: without a network, or with a server that does not answer, it gives what the
// engine kept of this one session. It stores nothing itself, sees no answers, and forgets a session that is over.

const [PREFIX, DATABASE, STORE, PATIENCE_MS] = ["obelus-session-", "obelus", "answers", 6000];
const AWAY = [502, 503, 504]; // what stands in for a server that restarts
const home = new URL(self.registration.scope);

self.addEventListener("install", () => self.skipWaiting());
// Without a network, Firefox ends a navigation whose preload fails; earlier releases asked for one.
self.addEventListener("activate", (event) => event.waitUntil(self.registration.navigationPreload?.disable()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname, search } = new URL(request.url);
  if (request.method !== "GET" || origin !== home.origin) return;
  if (request.mode !== "navigate" && search) return; // nothing kept has one; the engine looks for the server so
  if (request.mode !== "navigate") return event.respondWith(orKept(event, fetch(request), request));
  const token = pathname.startsWith(home.pathname) && pathname.slice(home.pathname.length).match(/^([-\w]+)\/$/)?.[1];
  if (token) event.respondWith(page(event, token));
});

// The session's page: the server's, which also says when the session is over; else the kept one.
async function page(event, token) {
  const asked = fetch(event.request);
  const heard = asked.then((answer) => (answer.headers.get("Session-State") === "over" ? forget(token) : null));
  event.waitUntil(heard.catch(() => {}));
  return orKept(event, asked, `${home.pathname}${token}/kept/`);
}

async function orKept(event, asked, address) {
  asked.catch(() => {}); // it may fail long after the kept copy was given
  const kept = await Promise.race([caches.match(address, { ignoreVary: true }), after(PATIENCE_MS)]).catch(() => null);
  if (!kept) return asked;
  const late = after(PATIENCE_MS, kept);
  const answer = await Promise.race([asked, late]).catch(() => kept);
  return AWAY.includes(answer.status) ? kept : answer;
}

function after(ms, value) {
  return new Promise((resolve) => setTimeout(resolve, ms, value));
}

async function forget(token) {
  await Promise.race([caches.delete(PREFIX + token), after(PATIENCE_MS)]);
  const request = indexedDB.open(DATABASE);
  request.onupgradeneeded = () => request.transaction.abort(); // there is none: make none
  const forgotten = new Promise((resolve) => {
    request.onerror = resolve;
    request.onsuccess = () => {
      const deletion = request.result.transaction(STORE, "readwrite");
      deletion.objectStore(STORE).delete(IDBKeyRange.bound([token], [token, []]));
      deletion.oncomplete = deletion.onabort = resolve;
      request.result.close(); // once the deletion has ended
    };
  });
  await Promise.race([forgotten, after(PATIENCE_MS)]);
}
