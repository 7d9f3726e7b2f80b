// Starts on every page of a session: sends what still waits; on a trial's page, takes the trials over.
// When anything here fails, the page's own form is still there and works.

import { make } from "./dom.js";
import { saveCopy, savedAt } from "./offline_copy.js";
import { Keys } from "./keys.js";
import { openQueue, within } from "./queue.js";
import { run } from "./run.js";
import { read } from "./screens.js";
import { Sender } from "./sender.js";
import { followSender } from "./status.js";
import { takeOver } from "./tabs.js";

// The plain form can be answered meanwhile, and stays where the plan takes longer.
const [PLAN_MS, LEAVING_MS] = [20_000, 1000];

async function findPlan(url, sender) {
  const here = document.getElementById("plan"); // the first trial's page brings it, and that after a form
  if (here) return { plan: JSON.parse(here.textContent), planKeptAt: null };
  const asked = fetch(url).catch(() => null);
  const answer = await within(asked, PLAN_MS);
  if (answer?.ok) return { plan: await within(answer.json(), PLAN_MS), planKeptAt: savedAt(answer) };
  if (!answer) {
    sender.isBarred = true; // if a page of ours would come, that is
    await sender.handOver({ atLeast: 0 });
  }
  throw new Error(`no plan: ${answer?.status}`);
}

// What the answer to a form says of the answers that it took along.
async function hear(receipt, { queue, sender }) {
  const { acknowledged, refused, is_complete } = JSON.parse(receipt.textContent);
  await queue.settle(acknowledged, refused);
  [sender.isBarred, sender.complete] = [true, is_complete];
}

async function takeTrialsOver(form, { session, queue, sender }) {
  const addresses = document.body.dataset;
  const [{ plan, planKeptAt }, task] = await Promise.all([findPlan(addresses.plan, sender), import(form.dataset.script)]);
  const [main, header] = [document.querySelector("main"), document.querySelector("header.where")];
  const stop = new AbortController();
  const keys = new Keys();
  const note = (what) => (error) => queue.isLeft || queue.note(what, error);
  takeOver(session, { onTaken: (reason) => stop.abort(reason), onProblem: note("lock") });
  const hasAnswers = plan.trials.some((trial) => trial.is_answered) || (await queue.answered()).size > 0;
  followSender(sender, queue, { element: document.querySelector("[data-status]"), words: plan.words, hasAnswers });
  const page = {
    current: form.dataset.trial,
    keptAt: planKeptAt,
    isContextRead: form.dataset.contextRead !== undefined,
    wasSeen: form.matches("form") && getComputedStyle(form).visibility === "visible",
    navigation: performance.getEntriesByType("navigation")[0]?.type ?? "navigate",
  };
  const kept = new AbortController();
  const keepNow = () => {
    kept.abort();
    saveCopy({ session, plan, addresses }).catch(note("copy"));
  };
  for (const name of planKeptAt ? [] : ["context-onset", "trial-onset"]) main.addEventListener(name, keepNow, { signal: kept.signal });
  try {
    await run({ plan, task, queue, sender, keys, main, header, signal: stop.signal, page });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    const { words } = plan;
    const context = { main, keys, signal: new AbortController().signal };
    await read(context, { title: words.other_tab, body: [make("p", {}, words.go_there)], button: words.use_this });
    await sender.handOver(); // what only this page has would go with it
    location.replace(plan.next);
  }
}

async function start(form) {
  const { session, answers, home, mistakes } = document.body.dataset;
  if (!session) return;
  const receipt = document.getElementById("receipt");
  if (receipt || mistakes !== undefined || !location.pathname.startsWith(home)) {
    history.replaceState(null, "", home); // a form was answered with this page: back and reload ask for what is due
  }
  const queue = await openQueue(session);
  const sender = new Sender(answers, queue);
  if (receipt) await hear(receipt, { queue, sender });
  if (sender.complete) return location.replace(home);
  sender.wake();
  if (form) await takeTrialsOver(form, { session, queue, sender });
}

// What the page's own form says to the server of why it is used. A failure is reported without an answer too, after a
// moment in which a page that is left, and whose requests fail for that, is gone.
const form = document.querySelector("[data-script]:not([data-script=''])");
const field = form?.elements?.no_engine;

if (field) field.value = "not_ready";
start(form).catch((error) => {
  if (field) {
    field.value = `${error.name}: ${error.message}`.slice(0, 200);
    const address = `${field.dataset.report}?reason=${encodeURIComponent(field.value)}`;
    setTimeout(() => (new Image().src = address), LEAVING_MS); // as plain_form.js does
  }
  throw error;
});
