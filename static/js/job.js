// Renew a job's state until it ends, or until there is more to see on the page (data-content); then reload the page.
const SECONDS = 1.5;

async function renew(element) {
  const answer = await fetch(element.dataset.url, { headers: { "X-Requested-With": "fetch" } });
  if (!answer.ok) return false;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-job]");
  if (fresh.outerHTML !== element.outerHTML) element.replaceWith(fresh);
  return ["done", "failed"].includes(fresh.dataset.state) || fresh.dataset.content !== element.dataset.content;
}

async function follow(id) {
  for (;;) {
    await new Promise((resume) => setTimeout(resume, SECONDS * 1000));
    const element = document.querySelector(`[data-job="${id}"]`);
    if (!element) return;
    if (await renew(element).catch(() => false)) return location.reload();
  }
}

for (const element of document.querySelectorAll('[data-job][data-state="queued"], [data-job][data-state="running"]')) {
  follow(element.dataset.job);
}
