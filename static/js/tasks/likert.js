// Likert: a sentence over a row of points, nothing chosen beforehand. Number keys, click or touch.

export const info = {
  name: "likert",
  version: "1.0.0",
  parameters: { question: "text", points: "number", lowest: "number", low_label: "text", high_label: "text", labels: "list" },
  data: { response: "the chosen point" },
};

// One digit per point: 1 to 9 and, where a scale ends at 10 and has no 0, 0 for the 10.
function keyOf(value, values) {
  if (value >= 0 && value <= 9) return [String(value)];
  return value === 10 && !values.includes(0) ? ["0"] : [];
}

export async function run(element, trial, context) {
  const { make, sentence, words } = context;
  const { points, layout, low, high } = trial.parts;
  const buttons = points.map(({ value, label }) =>
    make("button", { type: "button", class: "option" },
      make("span", { class: "num" }, String(value)),
      label ? make("span", { class: "end" }, label) : null));
  element.append(
    make("fieldset", { tabindex: "-1" },
      make("legend", {}, make("h1", {}, trial.question)),
      make("p", { class: "shown" }, sentence(trial.sentence)),
      make("div", { class: `scale ${layout}` }, ...buttons),
      layout === "list" ? null : make("div", { class: "ends", "aria-hidden": "true" },
        make("span", {}, `${low.value} ${low.label}`), make("span", {}, `${high.value} ${high.label}`))),
  );
  const values = points.map(({ value }) => value);
  const hasKeys = layout !== "grid" && values.every((value) => keyOf(value, values).length || value === 10);
  const keys = values.map((value) => (hasKeys ? keyOf(value, values) : []));
  if (hasKeys) {
    const caps = keys.flat();
    element.append(make("p", { class: "hint keys", "aria-hidden": "true" },
      `${words.keys} `, make("kbd", {}, caps[0]), "–", make("kbd", {}, caps.at(-1))));
  }
  const choices = values.map((value, place) => ({ value: String(value), button: buttons[place], keys: keys[place] }));
  return context.choose(choices, { confirm: trial.parts.confirm });
}

export function simulate(trial, profile, random = Math.random) {
  const { points } = trial.parts;
  const place = profile === "left-biased" ? 0 : Math.floor(random() * points.length);
  return { response: String(points[place].value), rt_ms: Math.round(800 + 2500 * random()), input_type: "mouse" };
}
