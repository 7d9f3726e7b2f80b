// The loop: every trial of the plan that has no answer yet, one after the other, without asking the server.

import { answering, choose, inputType, isSecondHalf, twoWays, GUARD_MS } from "./choose.js";
import { digitKey, digitOf } from "./digits.js";
import { context as contextOf, fill, make, stimulus } from "./dom.js";
import { Layout, layoutFacts } from "./layout.js";
import { deleteCopy } from "./offline_copy.js";
import { feedback, lastPage, pause, progress, read, readContext, ready, welcomeBack } from "./screens.js";
import { clockStep, firstShown, frameLength, painted, timeOf, wallClock, Watch } from "./timing.js";

const FEEDBACK_MS = 2500; // how long practice waits for the server's word before it goes on without
const [COARSE_STEP_MS, COARSE_PAINT_MS] = [2, 100]; // of the clock; of a trial's painting, with a healthy one within two frames
const WORTH_A_PAGE = 10; // answers for which a form leaves the page within a block, where nothing else gets through

export async function run({ plan, task, queue, sender, keys, main, header, signal, page }) {
  const common = { main, keys, signal };
  keepSelectionOut(main, signal);
  const machine = measureMachine(plan, task);
  const layout = new Layout(plan);
  // The plan does not know what still waits here, nor what was stored since its page was asked for or kept.
  const waiting = new Set((await queue.all()).map((row) => row.trial));
  const since = page.keptAt ? 0 : performance.timeOrigin;
  const known = new Map([...(await queue.answered())].filter(([trial, at]) => waiting.has(trial) || at >= since));
  const open = plan.trials.filter((trial) => !trial.is_answered && !known.has(trial.id));
  const absence = watchAbsence(plan.resume_gap_s, page.keptAt && Math.max(page.keptAt, ...known.values()));
  // Ended or completed elsewhere, or the place is gone: nothing more is asked, as nothing more would be stored.
  sender.onChange(() => sender.isOver && absence.cuts?.abort(new DOMException("over", "AbortError")));
  let isFirst = true;
  for (const planned of open) {
    if (sender.isOver) break;
    const trial = { ...planned, question: plan.task.question, parts: planned.parts ?? plan.task.parts };
    const before = plan.trials[plan.trials.indexOf(planned) - 1];
    if (!(isFirst && page.current === trial.id)) await between(common, { plan, before, trial, header });
    let row = null;
    while (!row && !sender.isOver) {
      const gone_ms = absence.over();
      if (gone_ms) await welcomeBack(common, { plan });
      progress(header, { plan, trial });
      const gapFrom = await gap(common, plan.between);
      row = await one(trial, { common, plan, task, machine, layout, absence, gapFrom, first: isFirst ? page : null });
      if (row && gone_ms) row.events.push({ kind: "away", details: { ms: gone_ms } });
    }
    if (!row) break;
    await queue.put(row);
    sender.wake();
    if (trial.is_practice) await word(common, { plan, task, trial, row, sender });
    const ahead = open[open.indexOf(planned) + 1];
    if (ahead) await sender.handOver({ atLeast: ahead.block === planned.block ? WORTH_A_PAGE : 1 });
    isFirst = false;
  }
  await end(common, { plan, sender, queue });
}

// A double click answers with its first half; the second would select the words of the next screen.
function keepSelectionOut(main, signal) {
  const isText = (element) => element.closest("input, textarea");
  main.addEventListener("mousedown", (event) => event.detail > 1 && !isText(event.target) && event.preventDefault(), { signal });
}

async function between(common, { plan, before, trial, header }) {
  if (!before || trial.is_practice) return;
  if (before.is_practice) await ready(common, { plan });
  else if (before.block !== trial.block) {
    progress(header, { plan, trial, isBreak: true });
    await pause(common, { plan, block: before.block });
  }
}

// A blank screen or a fixation cross before a trial, for as long as the study says; gives its onset, or null without one.
async function gap({ main, signal }, { show, ms }) {
  if (show === "none") return null;
  main.className = "trial";
  main.replaceChildren(make("div", { class: "between", "aria-hidden": "true" }, show === "fixation" ? "+" : ""));
  scrollTo(0, 0);
  const onset = await painted();
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (signal.aborted) throw signal.reason;
  return onset;
}

// One trial: shown, timed, answered; gives the row to send, or null when a long absence or the session's end cut it off.
async function one(trial, { common, plan, task, machine, layout, absence, gapFrom, first }) {
  const { main, keys, signal } = common;
  const cut = new AbortController();
  signal.addEventListener("abort", () => cut.abort(signal.reason), { signal: cut.signal });
  absence.cuts = cut;
  const stopped = (error) => {
    if (signal.aborted || !cut.signal.aborted) throw error;
    return null;
  };
  const repeats = keys.repeats;
  let reading = {}; // of the context on a screen before the sentence
  if (layout.isContextBefore && trial.context && !first?.isContextRead) {
    reading = await readContext({ ...common, signal: cut.signal }, { plan, trial }).catch(stopped);
    if (!reading) return null;
  }
  const watch = new Watch();
  const element = make("div", { class: "task", "data-trial": trial.id });
  main.className = "trial";
  main.replaceChildren(element);
  scrollTo(0, 0);
  const context = { ...common, watch, words: plan.words, signal: cut.signal };
  Object.assign(context, { make, sentence: stimulus, fill, twoWays, inputType, timeOf, digitKey, digitOf });
  let press = null; // the last one with a mouse, a finger or a pen
  element.addEventListener("pointerdown", (event) => (press = event), { capture: true });
  context.pressed = (event) => {
    const isIts = press && inputType(event) !== "keyboard" && press.target instanceof Element && targetOf(press) === targetOf(event);
    return isIts ? { press_ms: watch.rt(press) } : {};
  };
  context.answering = (event) => answering(event, keys);
  context.isEarly = (event, hasBegun = false) => {
    const ms = watch.onset === null ? -1 : watch.rt(event);
    return ms < GUARD_MS || (!hasBegun && isSecondHalf(event, ms));
  };
  let [shown, timesLaidOut, wasRestored] = [{}, () => 0, false];
  context.unconfirmed = () => ""; // what is chosen so far, set by tasks whose answers are confirmed
  const deadline = new Deadline(plan.deadline);
  addEventListener("pageshow", ({ persisted }) => (wasRestored ||= persisted), { signal: cut.signal });
  context.onset = async () => {
    showContext(element, trial, layout);
    deadline.show(element);
    layout.apply(element, trial);
    timesLaidOut = layout.follow(element, trial, cut.signal);
    element.querySelector("[autofocus], fieldset")?.focus({ preventScroll: true });
    const laidOutAt = performance.now();
    const onset = await painted();
    const paint_ms = Math.round(performance.now() - laidOutAt);
    shown = { ...layoutFacts(element), ...firstShown(trial.id), paint_ms };
    if (paint_ms > COARSE_PAINT_MS) shown.coarse_painting = true;
    element.dataset.onset = String(onset);
    deadline.begin(onset, cut);
    element.dispatchEvent(new CustomEvent("trial-onset", { bubbles: true, detail: { trial: trial.id, onset } }));
    return onset;
  };
  context.choose = (choices, options = {}) => choose(element, choices, { context, ...options });
  const answer = await task.run(element, trial, context).catch((error) => {
    if (!stopped(error) && deadline.isOver) return { response: context.unconfirmed(), rt_ms: null, input_type: "", timed_out: true };
    return null;
  });
  deadline.end();
  const away = watch.end();
  cut.abort(new DOMException("over", "AbortError"));
  if (!answer) return null;
  const { response, rt_ms, input_type, timed_out = deadline.isBefore(rt_ms), ...more } = answer;
  const held = keys.repeats - repeats;
  const isBackwards = machine.wentBackwards();
  const loaded = first ? { loaded_by: first.navigation } : {};
  if (first?.wasSeen) loaded.seen_before = true;
  if (first?.keptAt) loaded.from_kept = true;
  if (wasRestored) loaded.restored = true;
  return {
    trial: trial.id,
    response,
    rt_ms,
    input_type,
    ...(timed_out ? { timed_out } : {}),
    answered_at: new Date().toISOString(),
    timing: {
      position: trial.position,
      ...machine.facts,
      ...shown,
      ...(timesLaidOut() ? { width_changes: timesLaidOut() } : {}),
      ...(gapFrom === null ? {} : { between_ms: Math.round((reading.onset ?? watch.onset) - gapFrom) }),
      ...contextFacts(reading, { onset: watch.onset, ms: plan.context?.ms }),
      ...away,
      ...more,
      ...loaded,
      ...(held ? { held_keys: held } : {}),
      ...(isBackwards ? { clock_backwards: true } : {}),
    },
    events: happened({ ...shown, ...more, ...away, ...loaded }),
  };
}

// The time for an answer: it ends the trial when it has passed, and may be shown as a bar above it.
class Deadline {
  #timer = null;
  isOver = false;

  constructor({ ms, has_bar } = {}) { // plans kept by an earlier version have none
    Object.assign(this, { ms, has_bar });
  }

  show(element) {
    if (!this.ms || !this.has_bar) return;
    this.bar = make("div", { class: "deadline", "aria-hidden": "true" }, make("i"));
    element.prepend(this.bar);
  }

  begin(onset, cut) {
    if (!this.ms) return;
    this.bar?.style.setProperty("--deadline", `${this.ms}ms`);
    this.bar?.classList.add("runs");
    this.#timer = setTimeout(() => {
      this.isOver = !cut.signal.aborted;
      cut.abort(new DOMException("over", "AbortError"));
    }, onset + this.ms - performance.now());
  }

  // Whether a press came after it, because the timer was late on a busy device.
  isBefore(rt_ms) {
    return Boolean(this.ms) && rt_ms > this.ms;
  }

  end() {
    clearTimeout(this.#timer);
  }
}

// Above the sentences and below the question; on trials without a context its room is kept, so that answers do not move.
function showContext(element, trial, layout) {
  if (!layout.hasContexts) return;
  const block = trial.context ? contextOf(trial.context) : make("span", { class: "context", "aria-hidden": "true" });
  const heading = element.querySelector("legend") ?? element.querySelector("h1");
  if (heading) heading.after(block);
  else element.prepend(block);
  if (!trial.context) return;
  block.id = "context"; // read aloud with the question, when the group takes the focus
  const group = element.querySelector("fieldset");
  group?.setAttribute("aria-describedby", ["context", group.getAttribute("aria-describedby")].filter(Boolean).join(" "));
}

// How long a context before the sentence was shown: until the press, or for a set time until the onset of the sentence.
function contextFacts({ onset: from, until, ...more }, { onset, ms }) {
  return from === undefined ? {} : { context_ms: Math.round((ms ? onset : until) - from), ...(ms ? { context_planned_ms: ms } : {}), ...more };
}

// What a pointer pressed or released.
function targetOf({ target }) {
  return target.closest("button, label, input") ?? target;
}

// What is worth an event of its own beside the measurements.
function happened(found) {
  const events = [];
  if (found.early_answers) events.push({ kind: "early_answer", details: { n: found.early_answers } });
  if (found.pasted) events.push({ kind: "paste", details: { n: found.pasted } });
  if (found.focus_lost_ms) events.push({ kind: "blur", details: { ms: found.focus_lost_ms } });
  if (found.trusted === false) events.push({ kind: "untrusted", details: {} });
  if (found.loaded_by === "reload") events.push({ kind: "reload", details: {} });
  if (found.loaded_by === "back_forward" || found.restored) events.push({ kind: "back", details: {} });
  if (found.shown_again_ms) events.push({ kind: "shown_again", details: { ms: found.shown_again_ms } });
  if (found.missing_glyphs) events.push({ kind: "missing_glyphs", details: { n: found.missing_glyphs } });
  return events;
}

// What a device measures with, once per page.
function measureMachine(plan, task) {
  const step = clockStep();
  const facts = {
    engine: plan.engine,
    task_version: task.info.version,
    clock_step_ms: step,
    coarse_clock: step >= COARSE_STEP_MS,
  };
  frameLength().then((ms) => Object.assign(facts, { frame_ms: ms }));
  return { facts, wentBackwards: wallClock() };
}

// After an absence longer than the study's gap, the instructions are shown again.
function watchAbsence(gap_s, seenAt) {
  const before = seenAt ? Date.now() - seenAt : 0; // where the server could not say so
  let [hiddenAt, longest] = [null, before > gap_s * 1000 ? before : 0];
  const absence = {
    cuts: null,
    over() {
      const ms = longest;
      longest = 0;
      return ms;
    },
  };
  document.addEventListener("visibilitychange", () => {
    const isHidden = document.visibilityState === "hidden";
    const ms = hiddenAt === null ? 0 : Date.now() - hiddenAt;
    hiddenAt = isHidden ? Date.now() : null;
    if (isHidden || ms <= gap_s * 1000) return;
    longest = Math.max(longest, ms);
    absence.cuts?.abort(new DOMException("away", "AbortError"));
  });
  return absence;
}

async function word(common, { plan, task, trial, row, sender }) {
  if (row.timed_out) return feedback(common, { plan, task, trial, response: "", said: { isTimedOut: true, is_correct: null, nodes: [] } });
  const said = await sender.feedbackOn(trial.id, FEEDBACK_MS);
  if (said && (said.text || said.is_correct !== null)) {
    await feedback(common, { plan, task, trial, response: row.response, said });
  }
}

// The end belongs to the server: it has every row before it shows the code.
async function end(common, { plan, sender, queue }) {
  const { words } = plan;
  const body = [make("p", {}, words.please_wait)];
  if (common.signal.aborted) throw common.signal.reason;
  const cut = read(common, { title: words.last_answers, body, button: null }); // by another tab, if at all
  await Promise.race([cut, sender.drained(common.signal)]);
  if (common.signal.aborted) throw common.signal.reason;
  if (!sender.page) return location.replace(sender.next ?? plan.next);
  const { session } = document.body.dataset;
  lastPage(sender.page, sender.next);
  // As the service worker does when that page is asked for.
  await Promise.all([queue.forget(), deleteCopy(session).catch((error) => queue.note("copy", error))]);
  await sender.report();
}
