// Best–worst scaling: mark the best and the worst of a few sentences, then Next.

export const info = {
  name: "best_worst",
  version: "1.2.0",
  parameters: { question: "text", best_label: "text", worst_label: "text" },
  data: { response: "ids of the best and the worst", first_touch_ms: "onset to the first mark", changes: "marks moved" },
};

export async function run(element, trial, context) {
  const { make, sentence, words, watch, signal } = context;
  const { marks } = trial.parts;
  const radio = ({ value, label }, id, place) => make("td", {}, make("label", { class: "mark", "data-label": label },
    make("input", { type: "radio", name: value, value: id, "aria-labelledby": `${value} sentence-${place}` })));
  const rows = trial.options.map((option, place) => make("tr", {},
    make("th", { scope: "row", id: `sentence-${place}` }, sentence(option)),
    ...marks.map((mark) => radio(mark, option.id, place))));
  const problem = make("p", { class: "problem", id: "problem", role: "alert", hidden: true });
  const next = make("button", { class: "button primary" }, words.next);
  const form = make("form", { novalidate: true },
    make("fieldset", { tabindex: "-1" },
      make("legend", {}, make("h1", { id: "question" }, trial.question)), problem,
      make("table", { class: "set" },
        make("thead", {}, make("tr", {}, make("td"), ...marks.map(({ value, label }) => make("th", { scope: "col", id: value }, label)))),
        make("tbody", {}, ...rows))),
    make("div", { class: "ways" }, next));
  element.append(form);

  const chosen = { best: null, worst: null };
  let [first, press, click, changes, refusals, early] = [null, null, null, 0, 0, 0];
  const set = (name, value) => {
    chosen[name] = value;
    for (const input of form.querySelectorAll(`input[name=${name}]`)) input.checked = input.value === value;
  };
  // A sentence has one mark: a new one takes the place of the other. Arrow keys only pass over the sentences between,
  // so that a mark which they displaced comes back once they have gone on.
  let displaced = null;
  const moveAside = (name, isPassing) => {
    if (displaced && displaced.by === name && !chosen[displaced.name]) set(displaced.name, displaced.value);
    displaced = null;
    const other = name === "best" ? "worst" : "best";
    if (chosen[other] !== chosen[name]) return;
    if (isPassing) displaced = { name: other, value: chosen[other], by: name };
    else changes += 1;
    set(other, null);
  };
  form.addEventListener("pointerdown", (event) => (press = event));
  form.addEventListener("keydown", (event) => (press = event));
  form.addEventListener("change", (event) => {
    const { name, value } = event.target;
    first ??= press ?? event;
    if (chosen[name]) changes += 1;
    chosen[name] = value;
    moveAside(name, press instanceof KeyboardEvent && press.key.startsWith("Arrow"));
    problem.hidden = true;
  });
  next.addEventListener("click", (event) => (click = event));

  context.unconfirmed = () => (chosen.best && chosen.worst ? `${chosen.best} ${chosen.worst}` : "");
  const answer = new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const sent = context.answering(click ?? event);
      if (context.isEarly(sent, Boolean(first))) {
        early += 1;
        return;
      }
      const wrong = chosen.best && chosen.worst ? "" : words.best_worst_missing;
      problem.textContent = wrong;
      problem.hidden = !wrong;
      if (wrong) refusals += 1;
      else resolve(sent);
    });
  });
  answer.catch(() => {}); // it may end before it is waited for
  watch.begin(await context.onset());
  const sent = await answer;
  return {
    response: `${chosen.best} ${chosen.worst}`,
    rt_ms: watch.rt(sent),
    input_type: context.inputType(press ?? sent),
    trusted: sent.isTrusted,
    ...context.pressed(sent),
    first_touch_ms: watch.rt(first),
    ...(changes ? { changes } : {}),
    ...(refusals ? { refused_answers: refusals } : {}),
    ...(early ? { early_answers: early } : {}),
  };
}

export function simulate(trial, profile, random = Math.random) {
  const { options } = trial;
  const best = profile === "left-biased" ? 0 : Math.floor(random() * options.length);
  const worst = (best + options.length - 1) % options.length;
  return { response: `${options[best].id} ${options[worst].id}`, rt_ms: Math.round(2500 + 5000 * random()), input_type: "mouse" };
}
