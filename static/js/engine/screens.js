// Screens between trials: what the server would show, without asking it.

import { answering, isSecondHalf, GUARD_MS } from "./choose.js";
import { context as contextOf, fill, inline, make, stimulus } from "./dom.js";
import { painted, timeOf, Watch } from "./timing.js";

// Shows a screen to read; resolves when its button is pressed, or Enter.
export function read(context, { title, body = [], button }) {
  const { main, keys, signal } = context;
  main.className = "reading";
  const heading = make("h1", { tabindex: "-1" }, title);
  const press = button ? make("button", { type: "button", class: "button primary" }, button) : null;
  main.replaceChildren(heading, ...body, ...(press ? [make("div", { class: "ways" }, press)] : []));
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
  const own = new AbortController();
  const shownAt = performance.now();
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    press?.addEventListener("click", (event) => isSecondHalf(event, timeOf(event) - shownAt) || resolve());
    keys.listen((event) => {
      const isFree = !(event.target instanceof Element) || !event.target.closest("a, button");
      if (press && event.key === "Enter" && isFree) resolve();
    }, own.signal);
  }).finally(() => own.abort());
}

// A context on a separate screen: for the study's time, else until its button, Enter or the space bar is pressed. Gives
// its onset, the time of the press and, if any, how long the window had no focus or the page was hidden.
export async function readContext({ main, keys, signal }, { plan, trial }) {
  const { words } = plan;
  const { ms } = plan.context;
  const press = ms ? null : make("button", { type: "button", class: "button primary" }, words.continue);
  const heading = make("h1", { class: "sr", tabindex: "-1", "aria-describedby": "context" }, words.context);
  const block = contextOf(trial.context);
  block.id = "context";
  main.className = "trial";
  const screen = make("div", { class: "before" }, heading, block, press ? make("div", { class: "ways" }, press) : null);
  main.replaceChildren(screen);
  scrollTo(0, 0);
  heading.focus({ preventScroll: true });
  const [own, watch] = [new AbortController(), new Watch()];
  const onset = await painted();
  watch.begin(onset);
  screen.dataset.onset = String(onset);
  main.dispatchEvent(new CustomEvent("context-onset", { detail: { trial: trial.id, onset } }));
  const until = await new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (!press) return setTimeout(() => resolve(performance.now()), ms);
    const take = (event) => {
      const passed = watch.rt(event);
      if (passed >= GUARD_MS && !isSecondHalf(event, passed)) resolve(timeOf(event));
    };
    press.addEventListener("click", (event) => take(answering(event, keys)));
    keys.listen((event) => {
      const isFree = !(event.target instanceof Element) || !event.target.closest("a, button, summary");
      if (!isFree || !["Enter", " "].includes(event.key)) return;
      if (event.key === " " && press.getBoundingClientRect().bottom > innerHeight) return; // it scrolls there
      event.preventDefault();
      take(event);
    }, own.signal);
  }).finally(() => own.abort());
  const { focus_lost_ms, page_hidden_ms } = watch.end();
  const away = Math.max(focus_lost_ms, page_hidden_ms);
  return { onset, until, ...(away ? { context_away_ms: away } : {}) };
}

export function paragraphs(parts) {
  return make("div", { class: "prose" }, ...parts.map((nodes) => make("p", {}, ...inline(nodes))));
}

export function pause(context, { plan, block }) {
  const { words } = plan;
  return read(context, {
    title: fill(words.block_done, { now: block, all: plan.n_blocks }),
    body: [make("p", {}, `${words.no_clock} ${plan.place_kept}`)],
    button: words.go_on,
  });
}

export function ready(context, { plan }) {
  const { words } = plan;
  return read(context, { title: words.practice_over, body: [make("p", {}, words.no_feedback)], button: words.begin });
}

export function welcomeBack(context, { plan }) {
  const { words, instructions_nodes: instructions } = plan;
  const body = [make("p", {}, words.kept_so_far)];
  if (instructions.length) body.push(make("h2", {}, words.instructions), paragraphs(instructions));
  return read(context, { title: words.welcome_back, body, button: words.go_on });
}

// The answer as the participant saw it: the words of a button or a point. A task's script may show it otherwise.
function answered({ parts }, response, { words }) {
  const point = parts.points?.find(({ value }) => String(value) === response);
  const label = parts.buttons?.find(({ value }) => value === response)?.label;
  const seen = label ?? [response, point?.label].filter(Boolean).join(" ");
  return make("p", { class: "quiet" }, words.your_answer, " ", make("strong", { class: "num" }, seen));
}

export function feedback(context, { plan, task, trial, response, said }) {
  const { words } = plan;
  const first = response.split(" ")[0]; // best–worst sends two ids, the best first
  const chosen = trial.options.find((option) => option.id === first);
  const both = trial.options.length === 2 ? trial.options : trial.options.slice(0, 1);
  const shown = chosen ? [chosen] : trial.sentence ? [trial.sentence] : both;
  const body = shown.map((one) => make("p", { class: "shown" }, stimulus(one)));
  if (trial.context) body.unshift(contextOf(trial.context));
  if (said.isTimedOut) body.push(make("p", { class: "quiet" }, words.timed_out));
  else if (chosen) body.push(make("p", { class: "quiet" }, words.you_chose));
  else body.push((task.answered ?? answered)(trial, response, { make, words }));
  const usual = said.is_correct === null ? [] : [[said.is_correct ? words.right : words.wrong]];
  const comment = said.nodes.length ? said.nodes : usual;
  if (comment.length) body.push(make("h2", {}, words.comment), paragraphs(comment));
  return read(context, { title: words.practice, body, button: words.continue });
}

// The page at the end, which came with the last acknowledgement, takes this one's place without another request.
export function lastPage(html, address) {
  const { title, body } = new DOMParser().parseFromString(html, "text/html");
  const here = document.body;
  history.replaceState(null, "", address);
  document.title = title;
  for (const name of here.getAttributeNames()) here.removeAttribute(name);
  for (const name of body.getAttributeNames()) here.setAttribute(name, body.getAttribute(name));
  here.replaceChildren(...body.childNodes);
  import("../copy.js").catch(() => {}); // the page's own script; without it the code can be selected
  const heading = here.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

// The block one is in, filled as far as one has come.
function within(plan, trial) {
  const block = plan.trials.filter((one) => one.block === trial.block && !one.is_practice);
  return make("progress", { class: "now", value: block.findIndex((one) => one.id === trial.id), max: block.length });
}

const LONGEST_S = 60; // a longer trial is a pause, which says nothing about the pace
const KNOWN_AFTER = 4; // trials, after which this participant's own pace counts

// Minutes for the trials that remain, by this participant's pace since the page was loaded.
function minutesLeft(plan, n) {
  const pace = (plan.pace ??= { trials: 0, seconds: 0, at: null });
  const now = performance.now();
  if (pace.at !== null && n !== pace.n) {
    pace.trials += 1;
    pace.seconds += Math.min(LONGEST_S, (now - pace.at) / 1000);
  }
  Object.assign(pace, { at: now, n });
  const seconds = pace.trials < KNOWN_AFTER ? plan.seconds_per_trial : pace.seconds / pace.trials;
  return Math.max(1, Math.round((n * seconds) / 60));
}

// Where one is, at the head of the page: blocks where there are several, else a bar of trials.
export function progress(header, { plan, trial, isBreak = false }) {
  const { words } = plan;
  const title = (header.dataset.title ??= header.firstElementChild?.textContent ?? "");
  const text = (...parts) => make("span", { class: "num" }, parts.join(" · "));
  if (trial.is_practice) return header.replaceChildren(make("span", {}, title), text(words.practice));
  const trials = plan.trials.filter((one) => !one.is_practice);
  const place = trials.findIndex((one) => one.id === trial.id);
  const left = fill(words.minutes_left, { minutes: minutesLeft(plan, trials.length - place) });
  if (plan.n_blocks > 1) {
    const now = trial.block - (isBreak ? 1 : 0);
    const marks = Array.from({ length: plan.n_blocks }, (_, index) => {
      const n = index + 1;
      if (n === now && !isBreak) return within(plan, trial);
      return make("i", { class: n <= now ? "done" : "ahead" });
    });
    const row = make("span", { class: "blocks", "aria-hidden": "true" }, ...marks);
    return header.replaceChildren(row, text(fill(words.block_of, { now, all: plan.n_blocks }), left));
  }
  const bar = make("progress", { class: "bar", value: place, max: trials.length, "aria-hidden": "true" });
  const count = text(fill(words.trial_of, { now: place + 1, all: trials.length }), left);
  return header.replaceChildren(make("span", {}, title), bar, count);
}
