// Keeps what this session needs to come back without a network: its page, its plan, its files. Only the service
// worker reads it, for this session's address alone, and deletes it when the session is over.

const [PREFIX, KEPT_AT, A_MONTH_MS] = ["obelus-session-", "Kept-At", 30 * 24 * 3600 * 1000];

let keeping = Promise.resolve();

export function keep(kept) {
  keeping = keepAll(kept);
  return keeping;
}

export async function forget(session) {
  await keeping.catch(() => {});
  await self.caches?.delete(PREFIX + session);
}

async function keepAll({ session, plan, addresses }) {
  if (!("serviceWorker" in navigator) || !("caches" in self)) return;
  const page = await fetch(addresses.kept); // where this is blocked, a worker's requests are, which fetch all files
  if (!page.ok || page.redirected) return;
  await navigator.serviceWorker.register(addresses.worker);
  const headers = { "Content-Type": "application/json", [KEPT_AT]: String(Date.now()) };
  const files = performance.getEntriesByType("resource").map((one) => new URL(one.name))
    .filter((one) => one.origin === location.origin && one.pathname.startsWith(addresses.files));
  await forgetOld();
  const cache = await caches.open(PREFIX + session);
  const earlier = await cache.keys();
  await cache.addAll(new Set(files.map((one) => one.pathname)));
  await cache.put(addresses.plan, new Response(JSON.stringify(plan), { headers }));
  await cache.put(addresses.kept, page); // last: it is given only when all the rest is there
  const needed = new Set([addresses.plan, addresses.kept, ...files.map((one) => one.pathname)]);
  for (const request of earlier) {
    if (!needed.has(new URL(request.url).pathname)) await cache.delete(request); // of an earlier release
  }
}

// Sessions that nobody came back to.
async function forgetOld() {
  for (const name of (await caches.keys()).filter((one) => one.startsWith(PREFIX))) {
    const cache = await caches.open(name);
    const kept = await Promise.all((await cache.keys()).map((request) => cache.match(request)));
    const at = Math.max(...kept.map((one) => Number(one.headers.get(KEPT_AT))), 0);
    if (Date.now() - at > A_MONTH_MS) await caches.delete(name);
  }
}

// When a plan that came was kept, or null where the server gave it just now.
export function keptAt(answer) {
  return Number(answer.headers.get(KEPT_AT)) || null;
}
