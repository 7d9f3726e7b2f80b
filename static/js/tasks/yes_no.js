// Yes or no: two buttons whose sides are the participant's own. Arrows, F and J, click or touch.

export const info = {
  name: "yes_no",
  version: "1.1.0",
  parameters: { question: "text", yes_label: "text", no_label: "text", confirm: "flag" },
  data: { response: "yes or no", place: "1 or 2, as shown" },
};

export async function run(element, trial, context) {
  const { make, sentence } = context;
  const { buttons: answers } = trial.parts;
  const buttons = answers.map(({ label }) => make("button", { type: "button", class: "option" }, make("span", {}, label), make("kbd", { "aria-hidden": "true" }, "↑")));
  element.append(
    make("fieldset", { tabindex: "-1", "aria-describedby": "target" },
      make("legend", {}, make("h1", {}, trial.question)),
      make("p", { class: "shown", id: "target" }, sentence(trial.sentence)),
      make("div", { class: "scale two answers" }, ...buttons)),
  );
  const { keys, caps } = context.twoWays(buttons);
  buttons.forEach((button, place) => {
    button.setAttribute("aria-keyshortcuts", keys[place].map((key) => key.replace("Key", "")).join(" "));
    button.querySelector("kbd").textContent = caps[place];
  });
  const choices = answers.map(({ value }, place) => ({ value, button: buttons[place], keys: keys[place] }));
  return context.choose(choices, { confirm: trial.parts.confirm });
}

export function simulate(trial, profile, random = Math.random) {
  const response = profile === "left-biased" || random() < 0.5 ? "yes" : "no";
  return { response, rt_ms: Math.round(500 + 1500 * random()), input_type: "mouse" };
}
