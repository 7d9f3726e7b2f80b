// What tasks with buttons share: press, click or touch one; early answers do not count; optional Next.

import { digitKey, digitReader } from "./digits.js";
import { make } from "./dom.js";
import { timeOf } from "./timing.js";

export const GUARD_MS = 200; // faster than reading a sentence: such answers are logged and ignored
const HIGHLIGHT_MS = 150;
const DOUBLE_MS = 500; // between the halves of a double click, as systems count them

// Whether a click, so long after what it met appeared, is the second half of a double click on what stood there before.
export function isSecondHalf(event, ms) {
  return event.detail > 1 && ms < DOUBLE_MS;
}

export function inputType(event) {
  if (event instanceof KeyboardEvent || (event.detail === 0 && !event.pointerType)) return "keyboard";
  return ["mouse", "touch", "pen"].includes(event.pointerType) ? event.pointerType : "mouse";
}

// A button pressed with Enter or the space bar was answered when the key went down, a moment before its click.
export function answering(event, keys) {
  const press = keys.lastPress;
  const byKey = inputType(event) === "keyboard" && !(event instanceof KeyboardEvent);
  const isItsPress = press && ["Enter", " "].includes(press.key) && timeOf(event) - timeOf(press) < 2000;
  return byKey && isItsPress ? press : event;
}

// choices: [{ value, button, keys }]; keys are values of event.key or event.code, or digits of number keys. With
// typed, values are numbers that are typed digit by digit.
export async function choose(element, choices, { context, confirm = false, typed = false }) {
  const { watch, words, signal } = context;
  const own = new AbortController();
  const until = { signal: AbortSignal.any ? AbortSignal.any([own.signal, signal]) : own.signal };
  const early = [];
  const note = make("p", { class: "hint early", role: "status" });
  const next = confirm ? make("button", { type: "button", class: "button primary" }, words.next) : null;
  element.append(note, ...(next ? [make("div", { class: "ways" }, next)] : []));

  let chosen = null;
  let changes = 0;
  context.unconfirmed = () => chosen?.choice.value ?? "";
  const answer = new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });

    const mark = (choice) => {
      for (const one of choices) {
        one.button.classList.toggle("chosen", one === choice);
        if (confirm) one.button.setAttribute("aria-pressed", String(one === choice));
      }
    };

    const take = (event, choice) => {
      const press = answering(event, context.keys);
      const rt_ms = watch.onset === null ? -1 : watch.rt(press);
      if (rt_ms < GUARD_MS || isSecondHalf(press, rt_ms)) {
        mark(chosen?.choice);
        early.push(rt_ms);
        if (early.length > 1) note.textContent = words.too_early;
        return;
      }
      note.textContent = "";
      if (chosen && chosen.choice !== choice) changes += 1;
      chosen = { choice, rt_ms, event: press, pressed: context.pressed(press) };
      mark(choice);
      if (!confirm) resolve(press);
    };
    const named = (value) => choices.find((one) => one.value === value);
    const digits = typed ? digitReader(choices.map(({ value }) => value), {
      mark: (value) => mark(named(value)),
      take: (event, value) => take(event, named(value)),
      signal: until.signal,
    }) : null;

    for (const choice of choices) {
      if (confirm) choice.button.setAttribute("aria-pressed", "false");
      choice.button.addEventListener("click", (event) => {
        digits?.stop();
        take(event, choice);
      }, until);
    }
    const confirmed = (event) => {
      digits?.flush();
      if (chosen) resolve(event);
      else if (!context.isEarly(event)) note.textContent = words.choose;
    };
    next?.addEventListener("click", (event) => confirmed(answering(event, context.keys)), until);
    context.keys.listen((event) => {
      if (digits?.read(event)) return event.preventDefault();
      const isFree = !(event.target instanceof Element) || !event.target.closest("a, button");
      if (next && event.key === "Enter" && isFree) return confirmed(event); // as in a form: no way to Next by Tab
      const names = [event.key, event.code, digitKey(event)];
      const choice = choices.find(({ keys }) => keys.some((key) => names.includes(key)));
      if (!choice) return;
      event.preventDefault();
      take(event, choice);
    }, own.signal);
  });

  answer.catch(() => {}); // it may end before it is waited for
  watch.begin(await context.onset());
  const last = await answer.finally(() => own.abort());
  for (const { button } of choices) button.setAttribute("aria-disabled", "true");
  if (!confirm) await new Promise((resolve) => setTimeout(resolve, HIGHLIGHT_MS));
  const { choice, rt_ms, event, pressed } = chosen;
  return {
    response: choice.value,
    rt_ms,
    input_type: inputType(event),
    trusted: event.isTrusted && last.isTrusted,
    ...pressed,
    place: choices.indexOf(choice) + 1,
    ...(event instanceof KeyboardEvent ? { key: event.code || event.key } : {}),
    ...(early.length ? { early_ms: early.slice(0, 20), early_answers: early.length } : {}),
    ...(confirm ? { confirm_ms: watch.rt(last), changes } : {}),
  };
}

// Buttons as they stand on the screen, with the keys of the first and the second: arrows and F, J.
export function twoWays(buttons) {
  const [a, b] = buttons.map((button) => button.getBoundingClientRect());
  const inRow = Math.abs(a.top - b.top) < Math.min(a.height, b.height) / 2;
  const order = inRow && a.left > b.left ? [1, 0] : [0, 1];
  const keys = [["ArrowLeft", "ArrowUp", "KeyF"], ["ArrowRight", "ArrowDown", "KeyJ"]];
  return {
    layout: inRow ? "row" : "stack",
    keys: order.map((place) => keys[place]),
    caps: order.map((place) => (inRow ? "←→" : "↑↓")[place]),
  };
}
