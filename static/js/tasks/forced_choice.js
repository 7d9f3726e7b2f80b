// Forced choice: two sentences, one is better. Arrows, F and J, click or touch; Next where the study asks for it.
// Where a study offers them, "both" and "neither" stand below: B and N.

export const info = {
  name: "forced_choice",
  version: "1.2.0",
  parameters: { question: "text", offer_both: "flag", offer_neither: "flag", both_label: "text", neither_label: "text", confirm: "flag" },
  data: { response: "id of the chosen sentence, or both, or neither", place: "1 or 2, as shown; 3 and 4 are the answers below", layout: "row or stack" },
};

const BESIDE = { both: "KeyB", neither: "KeyN" };

export async function run(element, trial, context) {
  const { make, sentence } = context;
  const cap = (text) => make("kbd", { "aria-hidden": "true" }, text);
  const buttons = trial.options.map((option) => make("button", { type: "button", class: "option" }, sentence(option), cap("↑")));
  const beside = (trial.parts.buttons ?? []).map(({ value, label }) => {
    const key = BESIDE[value];
    const button = make("button", { type: "button", class: "option", "aria-keyshortcuts": key.slice(3) }, make("span", {}, label), cap(key.slice(3)));
    return { value, button, keys: [key] };
  });
  element.append(
    make("fieldset", { tabindex: "-1" },
      make("legend", {}, make("h1", {}, trial.question)),
      make("div", { class: "options" }, ...buttons),
      beside.length ? make("div", { class: "beside" }, ...beside.map(({ button }) => button)) : null),
  );
  const { keys, caps, layout } = context.twoWays(buttons);
  buttons.forEach((button, place) => {
    button.setAttribute("aria-keyshortcuts", keys[place].map((key) => key.replace("Key", "")).join(" "));
    button.querySelector("kbd").textContent = caps[place];
  });
  const choices = trial.options.map(({ id }, place) => ({ value: id, button: buttons[place], keys: keys[place] }));
  const answer = await context.choose([...choices, ...beside], { confirm: trial.parts.confirm });
  return { ...answer, layout };
}

export function simulate(trial, profile, random = Math.random) {
  const values = [...trial.options.map(({ id }) => id), ...(trial.parts.buttons ?? []).map(({ value }) => value)];
  const place = profile === "left-biased" ? 0 : Math.floor(random() * values.length);
  return { response: values[place], rt_ms: Math.round(600 + 2000 * random()), input_type: "mouse" };
}
