#!/usr/bin/env bash
# A context before a sentence as two trials of jsPsych (html-button-response 2.1.0), left by a double click on its button: the second
# click answers the sentence, whose first button is in the same place, with the time since its onset, and no other mark in the data.
# A context shown for a set time (trial_duration) has null as its time; how long it was shown is only in time_elapsed.
# Guess beforehand: the sentence waits for a click of its own, and the timed context has about 400 ms as its rt.
# What follows: presses within 200 ms of an onset and second halves of double clicks do not count, and the context's time is stored.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder"; npm init -y >/dev/null
npm install --silent --no-audit --no-fund jspsych@8.3.0 @jspsych/plugin-html-button-response@2.1.0 playwright-core@1.56.1 >/dev/null 2>&1
CHROMIUM=${CHROMIUM:-$(command -v chromium)} node - <<'JS'
const assert = require("assert"), { chromium } = require("playwright-core");
const path = (name) => require("path").resolve(`node_modules/${name}/dist/index.browser.js`);
(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.setContent("<!doctype html><body></body>");
  for (const name of ["jspsych", "@jspsych/plugin-html-button-response"]) await page.addScriptTag({ path: path(name) });
  await page.evaluate(() => {
    const type = jsPsychHtmlButtonResponse, js = initJsPsych();
    window.done = js.run([
      { type, stimulus: "It rained.", choices: ["Continue"] },
      { type, stimulus: "She left.", choices: ["Continue"] },
      { type, stimulus: "It rained.", choices: ["Continue"], trial_duration: 400 },
    ]).then(() => js.data.get().values());
  });
  await page.locator("button").dblclick({ delay: 20 });
  const rows = await page.evaluate(() => window.done);
  await browser.close();
  const [context, sentence, timed] = rows.map(({ response, rt }) => ({ response, rt }));
  console.log("jsPsych 8.3.0: context, sentence, context for 400 ms:", context, sentence, timed);
  assert(context.response === 0 && sentence.response === 0 && sentence.rt < 200, "the second click is ignored now");
  assert.deepStrictEqual(timed, { response: null, rt: null });
})();
JS
