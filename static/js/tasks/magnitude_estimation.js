// Magnitude estimation: any positive number against a reference in view. Enter or Next sends it.

export const info = {
  name: "magnitude_estimation",
  version: "1.3.0",
  parameters: { question: "text", reference: "text", modulus: "number" },
  data: { response: "the number as typed", first_key_ms: "onset to the first sign typed", pasted: "times something was pasted" },
};

const LARGEST = 1e12;

// The number in Latin digits, as the server reads it; what was typed is sent unchanged.
function plain(typed, { signs }, digitOf) {
  const latin = [...typed.trim()].map((sign) => signs[sign] ?? sign).join("");
  return latin.replace(/\p{Nd}/gu, digitOf);
}

// What is wrong with a number, by the server's rules and in its words; nothing when it is one.
export function problemOf(typed, rules, { words, digitOf, fill }) {
  const text = plain(typed, rules, digitOf);
  const has = (form) => new RegExp(`^(?:${form})$`, "u").test(text);
  if (!typed.trim()) return words.number_missing;
  if (text.length > rules.longest || !has(rules.form)) return words.number_form;
  if (has(rules.two_ways)) {
    const small = text.endsWith("0") ? text.replace(/[.,]?0+$/, "") : `${text}0`; // four decimals are read in one way
    return fill(words.number_two_ways, { typed: typed.trim(), large: text.replace(/[+.,]/g, ""), small: small.replace("+", "") });
  }
  const value = Number(text.replace(/[,٫]/, "."));
  if (value <= 0) return words.number_positive;
  return value < LARGEST ? "" : words.number_large;
}

export async function run(element, trial, context) {
  const { make, sentence, fill, words, watch, signal } = context;
  const { reference, modulus, twice, half, number } = trial.parts;
  const { language, direction } = trial.sentence;
  const target = make("p", { class: "shown", id: "target" }, sentence(trial.sentence));
  const input = make("input", {
    id: "number", type: "text", inputmode: "decimal", autocomplete: "off", maxlength: number.longest,
    enterkeyhint: "next", autofocus: true, "aria-describedby": "target problem hint",
  });
  const problem = make("p", { class: "problem", id: "problem", role: "alert", hidden: true });
  const next = make("button", { class: "button primary" }, words.next);
  const form = make("form", { class: "estimate answers", novalidate: true, autocomplete: "off" },
    make("label", { for: "number" }, words.your_number),
    make("div", { class: "row" }, input, next),
    make("p", { class: "hint", id: "hint" }, fill(words.number_hint, { twice, half })));
  element.append(
    make("div", { class: "reference", role: "group", "aria-label": words.reference },
      make("p", {}, make("span", { class: "small quiet" }, words.reference), make("br"), sentence({ text: reference, language, direction })),
      make("span", { class: "modulus num" }, modulus)),
    make("h1", {}, trial.question), target, problem, form);

  let [firstKey, click, pasted, refusals, early] = [null, null, 0, 0, 0];
  next.addEventListener("click", (event) => (click = event)); // Enter in the field clicks it, too
  input.addEventListener("input", (event) => (firstKey ??= event));
  input.addEventListener("paste", () => (pasted += 1));
  context.unconfirmed = () => input.value;
  const answer = new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const press = context.answering(click ?? event);
      if (context.isEarly(press, Boolean(firstKey))) {
        early += 1;
        return;
      }
      const wrong = problemOf(input.value, number, context);
      problem.textContent = wrong;
      problem.hidden = !wrong;
      input.setAttribute("aria-invalid", String(Boolean(wrong)));
      if (wrong) {
        refusals += 1;
        input.focus();
      } else resolve(press);
    });
  });
  answer.catch(() => {}); // it may end before it is waited for
  watch.begin(await context.onset());
  const press = await answer;
  const pressed = context.pressed(press);
  return {
    response: input.value,
    rt_ms: watch.rt(press),
    input_type: context.inputType(press),
    trusted: press.isTrusted,
    ...pressed,
    first_key_ms: firstKey ? watch.rt(firstKey) : null,
    ...(pasted ? { pasted } : {}),
    ...(refusals ? { refused_answers: refusals } : {}),
    ...(early ? { early_answers: early } : {}),
  };
}

export function simulate(trial, profile, random = Math.random) {
  const modulus = Number(trial.parts.modulus);
  const response = profile === "left-biased" ? String(modulus) : String(Math.ceil(modulus * 2 ** (4 * random() - 2)));
  return { response, rt_ms: Math.round(1500 + 3000 * random()), input_type: "keyboard" };
}
