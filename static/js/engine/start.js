// Starts on every page of a session: sends what still waits; on a trial's page, takes the trials over.
// When anything here fails, the page's own form is still there and works.

import { make } from "./dom.js";
import { keep, keptAt } from "./kept.js";
import { Keys } from "./keys.js";
import { openQueue } from "./queue.js";
import { run } from "./run.js";
import { read } from "./screens.js";
import { Sender } from "./sender.js";
import { followSender } from "./status.js";
import { takeOver } from "./tabs.js";

async function findPlan(url) {
  const here = document.getElementById("plan"); // the first trial's page brings it
  if (here) return { plan: JSON.parse(here.textContent), planKeptAt: null };
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`no plan: ${answer.status}`);
  return { plan: await answer.json(), planKeptAt: keptAt(answer) };
}

async function takeTrialsOver(form, { session, queue, sender }) {
  const addresses = document.body.dataset;
  const [{ plan, planKeptAt }, task] = await Promise.all([findPlan(addresses.plan), import(form.dataset.script)]);
  const [main, header] = [document.querySelector("main"), document.querySelector("header.where")];
  const stop = new AbortController();
  const keys = new Keys();
  takeOver(session, (reason) => stop.abort(reason));
  followSender(sender, queue, { element: document.querySelector("[data-status]"), words: plan.words });
  const page = {
    current: form.dataset.trial,
    keptAt: planKeptAt,
    wasSeen: form.matches("form") && getComputedStyle(form).visibility === "visible",
    navigation: performance.getEntriesByType("navigation")[0]?.type ?? "navigate",
  };
  const keepNow = () => keep({ session, plan, addresses }).catch(() => {}); // blocked: then a reload needs the network
  if (!planKeptAt) main.addEventListener("trial-onset", keepNow, { once: true });
  try {
    await run({ plan, task, queue, sender, keys, main, header, signal: stop.signal, page });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    const { words } = plan;
    const context = { main, keys, signal: new AbortController().signal };
    await read(context, { title: words.other_tab, body: [make("p", {}, words.go_there)], button: words.use_this });
    location.replace(plan.next);
  }
}

async function start() {
  const { session, answers, home } = document.body.dataset;
  if (!session) return;
  if (!location.pathname.startsWith(home)) history.replaceState(null, "", home); // the consent was answered with this page
  const queue = await openQueue(session);
  const sender = new Sender(answers, queue);
  sender.wake();
  const form = document.querySelector("[data-script]");
  if (form?.dataset.script) await takeTrialsOver(form, { session, queue, sender });
}

start();
