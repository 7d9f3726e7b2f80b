// Forced choice: two sentences, one is better. Arrows, F and J, click or touch; Next where the study asks for it.

export const info = {
  name: "forced_choice",
  version: "1.0.0",
  parameters: { question: "text", confirm: "flag" },
  data: { response: "id of the chosen sentence", place: "1 or 2, as shown", layout: "row or stack" },
};

export async function run(element, trial, context) {
  const { make, sentence } = context;
  const buttons = trial.options.map((option) => make("button", { type: "button", class: "option" }, sentence(option), make("kbd", { "aria-hidden": "true" }, "↑")));
  element.append(
    make("fieldset", { tabindex: "-1" },
      make("legend", {}, make("h1", {}, trial.question)),
      make("div", { class: "options" }, ...buttons)),
  );
  const { keys, caps, layout } = context.twoWays(buttons);
  buttons.forEach((button, place) => {
    button.setAttribute("aria-keyshortcuts", keys[place].map((key) => key.replace("Key", "")).join(" "));
    button.querySelector("kbd").textContent = caps[place];
  });
  const choices = trial.options.map(({ id }, place) => ({ value: id, button: buttons[place], keys: keys[place] }));
  const answer = await context.choose(choices, { confirm: trial.parts.confirm });
  return { ...answer, layout };
}

export function simulate(trial, profile, random = Math.random) {
  const place = profile === "left-biased" ? 0 : Math.floor(random() * trial.options.length);
  return { response: trial.options[place].id, rt_ms: Math.round(600 + 2000 * random()), input_type: "mouse" };
}
