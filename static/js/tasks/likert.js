// Likert: a sentence over a row or a column of points, nothing chosen beforehand. Number keys, click or touch.

export const info = {
  name: "likert",
  version: "1.2.0",
  parameters: { question: "text", points: "number", lowest: "number", low_label: "text", high_label: "text", labels: "list", orientation: "text", high_first: "flag", confirm: "flag" },
  data: { response: "the chosen point" },
};

// One digit per point where that is enough: 0 to 9 and, on a scale that ends at 10 and has no 0, 0 for the 10.
function digitOf(value, values) {
  if (value >= 0 && value <= 9) return [String(value)];
  return value === 10 && !values.includes(0) ? ["0"] : null;
}

export async function run(element, trial, context) {
  const { make, sentence, words } = context;
  const { points, layout, ends, confirm } = trial.parts;
  const buttons = points.map(({ value, label }) =>
    make("button", { type: "button", class: "option" },
      make("span", { class: "num" }, String(value)),
      label ? make("span", { class: "end" }, label) : null));
  element.append(
    make("fieldset", { tabindex: "-1", "aria-describedby": "target" },
      make("legend", {}, make("h1", {}, trial.question)),
      make("p", { class: "shown", id: "target" }, sentence(trial.sentence)),
      make("div", { class: ["row", "grid"].includes(layout) ? "answers" : null },
        make("div", { class: `scale ${layout}` }, ...buttons),
        ["row", "grid"].includes(layout) ? make("div", { class: "ends", "aria-hidden": "true" },
          ...ends.map(({ value, label }) => make("span", {}, `${value} ${label}`))) : null)),
  );
  const values = points.map(({ value }) => value);
  const digits = values.map((value) => digitOf(value, values));
  const isTyped = digits.includes(null) && values.every((value) => value >= 0); // two digits, one after the other
  const hasKeys = isTyped || !digits.includes(null);
  if (hasKeys) {
    const caps = [...values].sort((a, b) => a - b).map((value) => (isTyped ? value : digitOf(value, values)[0]));
    element.append(make("p", { class: "hint keys", "aria-hidden": "true" },
      `${words.keys} `, make("kbd", {}, String(caps[0])), "–", make("kbd", {}, String(caps[caps.length - 1]))));
  }
  const choices = values.map((value, place) => ({
    value: String(value), button: buttons[place], keys: hasKeys && !isTyped ? digits[place] : [],
  }));
  return context.choose(choices, { confirm, typed: isTyped });
}

export function simulate(trial, profile, random = Math.random) {
  const { points } = trial.parts;
  const place = profile === "left-biased" ? 0 : Math.floor(random() * points.length);
  return { response: String(points[place].value), rt_ms: Math.round(800 + 2500 * random()), input_type: "mouse" };
}
