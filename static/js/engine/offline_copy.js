// Stores what this session needs to resume without a network: its page, its plan, its files. Only the service
// worker reads it, for this session's address alone, and deletes it when the session is over.

import { within } from "./queue.js";

const [PREFIX, SAVED_AT, MONTH_MS] = ["obelus-session-", "Kept-At", 30 * 24 * 3600 * 1000];
const [SAVE_MS, DELETE_MS] = [20_000, 5000];

let saving = Promise.resolve();

export function saveCopy(source) {
  saving = saveAll(source);
  return within(saving, SAVE_MS);
}

export async function deleteCopy(session) {
  if (!("caches" in self)) return;
  const remove = () => caches.delete(PREFIX + session);
  saving.then(remove, remove).catch(() => {}); // of a copy that is stored just now, once it is
  await within(remove(), DELETE_MS);
}

async function saveAll({ session, plan, addresses }) {
  if (!("serviceWorker" in navigator) || !("caches" in self)) throw new DOMException("no worker", "NotSupportedError");
  const page = await fetch(addresses.kept); // blocked here: the service worker's requests, which fetch all files, would be blocked too
  if (page.redirected) return; // the session has ended elsewhere
  if (!page.ok) throw new DOMException(`${page.status}`, "NetworkError");
  await navigator.serviceWorker.register(addresses.worker);
  const headers = { "Content-Type": "application/json", [SAVED_AT]: String(Date.now()) };
  const files = performance.getEntriesByType("resource").map((entry) => new URL(entry.name))
    .filter((url) => url.origin === location.origin && url.pathname.startsWith(addresses.files));
  await deleteOldCopies();
  const cache = await caches.open(PREFIX + session);
  const earlier = await cache.keys();
  await cache.addAll(new Set(files.map((url) => url.pathname)));
  await cache.put(addresses.plan, new Response(JSON.stringify(plan), { headers }));
  await cache.put(addresses.kept, page); // last: it is served only when everything else is there
  const needed = new Set([addresses.plan, addresses.kept, ...files.map((url) => url.pathname)]);
  for (const request of earlier) {
    if (!needed.has(new URL(request.url).pathname)) await cache.delete(request); // of an earlier release
  }
}

// Copies of sessions that were not resumed within a month.
async function deleteOldCopies() {
  for (const name of (await caches.keys()).filter((key) => key.startsWith(PREFIX))) {
    const cache = await caches.open(name);
    const responses = await Promise.all((await cache.keys()).map((request) => cache.match(request)));
    const at = Math.max(...responses.map((response) => Number(response.headers.get(SAVED_AT))), 0);
    if (Date.now() - at > MONTH_MS) await caches.delete(name);
  }
}

// When a plan was saved, or null where the server returned it just now.
export function savedAt(response) {
  return Number(response.headers.get(SAVED_AT)) || null;
}
