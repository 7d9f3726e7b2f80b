// Slider: a line from 0 to 100 without ticks, and without a thumb until it is first touched.

export const info = {
  name: "slider",
  version: "1.2.0",
  parameters: { question: "text", low_label: "text", high_label: "text", high_first: "flag" },
  data: { response: "place on the line", first_touch_ms: "onset to the first touch", last_touch_ms: "onset to the last" },
};

const THUMB = 28; // px, as in participant.css
const WAIT_MS = 700; // for the second digit of a number, as on scales with points of two digits
const [UP, DOWN] = [["ArrowUp", "PageUp"], ["ArrowDown", "PageDown"]];

// The place under a finger: some phones only move a thumb that is dragged.
function placeAt(line, { clientX }) {
  const { left, width } = line.getBoundingClientRect();
  const share = Math.min(1, Math.max(0, (clientX - left - THUMB / 2) / (width - THUMB)));
  return Math.round(Number(line.max) * (getComputedStyle(line).direction === "rtl" ? 1 - share : share));
}

// Where keys lead that would have started from the middle, which was not chosen: the first arrow goes to the middle of the half
// that it points to; a digit to its tenth, two digits to their number. Null for keys that move a thumb already placed.
function keyJumps(line, { digitKey, timeOf }) {
  let [typed, typedAt] = ["", -WAIT_MS];
  const at = (share) => Math.round(Number(line.min) + share * (line.max - line.min));
  return (event, isPlaced) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return null;
    const digit = digitKey(event);
    if (digit !== null) {
      const number = timeOf(event) - typedAt < WAIT_MS ? typed + digit : digit;
      [typed, typedAt] = [Number(number) <= 100 ? number : digit, timeOf(event)];
      return at(Number(typed) / (typed.length === 1 ? 10 : 100));
    }
    if (isPlaced) return null;
    const isRtl = line.dir === "rtl";
    if ([...UP, isRtl ? "ArrowLeft" : "ArrowRight"].includes(event.key)) return at(0.75);
    if ([...DOWN, isRtl ? "ArrowRight" : "ArrowLeft"].includes(event.key)) return at(0.25);
    return null;
  };
}

function lineOf({ low, high, high_first }, make, attributes) {
  const reads = document.documentElement.dir === "rtl" ? ["rtl", "ltr"] : ["ltr", "rtl"];
  return make("input", { type: "range", min: low, max: high, step: 1, dir: reads[high_first ? 1 : 0], ...attributes });
}

function endsOf({ ends }, make) {
  return make("div", { class: "ends", id: "ends" }, ...ends.map(({ label }) => make("span", {}, label)));
}

// The position again after practice: participants see no number on a slider.
export function answered({ parts }, response, { make, words }) {
  const line = lineOf(parts, make, { class: "line", disabled: true, value: response, "aria-label": words.your_answer, "aria-describedby": "ends" });
  return make("div", { class: "slider" }, make("p", { class: "quiet", "aria-hidden": "true" }, words.your_answer), line, endsOf(parts, make));
}

export async function run(element, trial, context) {
  const { make, sentence, words, watch, signal } = context;
  const line = lineOf(trial.parts, make, {
    class: "line untouched", autofocus: true,
    "aria-labelledby": "question target", "aria-describedby": "ends problem", "aria-valuetext": words.slider_how,
  });
  const problem = make("p", { class: "problem", id: "problem", role: "alert", hidden: true });
  const next = make("button", { class: "button primary" }, words.next);
  const form = make("form", { class: "slider answers", novalidate: true },
    line,
    endsOf(trial.parts, make),
    make("p", { class: "hint" }, words.slider_how),
    make("div", { class: "ways" }, next));
  element.append(
    make("h1", { id: "question" }, trial.question),
    make("p", { class: "shown", id: "target" }, sentence(trial.sentence)), problem, form);

  let [first, last, press, before, refusals, early] = [null, null, null, null, 0, 0];
  const touch = (event, by) => {
    first ??= by;
    last = { event, by };
    line.classList.remove("untouched");
    line.removeAttribute("aria-valuetext");
    problem.hidden = true;
  };
  line.addEventListener("pointerdown", (event) => ([press, before] = [event, line.value]));
  const jump = keyJumps(line, context);
  line.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { // Firefox and WebKit send no form from a line
      if (!event.defaultPrevented) next.click(); // it is, where the key is held down
      return event.preventDefault();
    }
    press = event;
    const value = jump(event, Boolean(last));
    if (value === null) return;
    event.preventDefault();
    line.value = value;
    touch(event, event);
  });
  line.addEventListener("input", (event) => touch(event, press ?? event));
  line.addEventListener("click", (event) => {
    if (line.value === before && (!last || press?.pointerType === "touch")) line.value = placeAt(line, event);
    touch(event, press ?? event);
  });
  line.addEventListener("pointerup", (event) => {
    if (event.pointerType === "mouse") return; // its click follows; a finger's need not, where the thumb lies unseen
    if (line.value === before) line.value = placeAt(line, event);
    touch(event, press ?? event);
  });
  let click = null; // where Next was clicked, a moment before the form is sent
  next.addEventListener("click", (event) => (click = event));

  context.unconfirmed = () => (last ? line.value : "");
  const answer = new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const sent = context.answering(click ?? event);
      if (context.isEarly(sent, Boolean(last))) {
        early += 1;
        return;
      }
      problem.textContent = last ? "" : words.slider_missing;
      problem.hidden = Boolean(last);
      if (!last) {
        refusals += 1;
        line.focus();
      } else resolve(sent);
    });
  });
  answer.catch(() => {}); // it may end before it is waited for
  watch.begin(await context.onset());
  const sent = await answer;
  return {
    ...context.pressed(sent),
    response: line.value,
    rt_ms: watch.rt(sent),
    input_type: context.inputType(last.by),
    trusted: sent.isTrusted && last.event.isTrusted,
    first_touch_ms: watch.rt(first),
    last_touch_ms: watch.rt(last.event),
    ...(refusals ? { refused_answers: refusals } : {}),
    ...(early ? { early_answers: early } : {}),
  };
}

export function simulate(trial, profile, random = Math.random) {
  const { low, high } = trial.parts;
  const response = profile === "left-biased" ? low : Math.round(low + (high - low) * random());
  return { response: String(response), rt_ms: Math.round(1200 + 3000 * random()), input_type: "mouse" };
}
