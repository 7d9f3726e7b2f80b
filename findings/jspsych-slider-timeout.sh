#!/usr/bin/env bash
# A slider of jsPsych (html-slider-response 2.1.0) that was moved to 80 before trial_duration ended stores null as its response:
# what a participant had set is lost. The CSV has the word null, so that a column of times with one time-out is text for read.csv of
# R; of questions without an answer, survey-likert stores "" and survey-multi-choice the index -1.
# Guess beforehand: response 80 and rt null, an empty cell in the CSV, and null for questions without an answer.
# What follows: a trial that times out keeps what was chosen without confirmation, beside a status of its own and without a value.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder"; npm init -y >/dev/null
npm install --silent --no-audit --no-fund jspsych@8.3.0 @jspsych/plugin-html-slider-response@2.1.0 @jspsych/plugin-survey-likert@2.2.0 \
  @jspsych/plugin-survey-multi-choice@2.2.1 jsdom@26.1.0 >/dev/null 2>&1
node - <<'JS'
const fs = require("fs"), { JSDOM } = require("jsdom"), assert = require("assert");
const page = new JSDOM("<!doctype html><body></body>", { runScripts: "dangerously", pretendToBeVisual: true, url: "https://example.org" });
const { window } = page, { document } = window;
window.scrollTo = () => {};
for (const name of ["jspsych", "@jspsych/plugin-html-slider-response", "@jspsych/plugin-survey-likert", "@jspsych/plugin-survey-multi-choice"])
  window.eval(fs.readFileSync(`node_modules/${name}/dist/index.browser.js`, "utf8"));
const submit = () => setTimeout(() => document.querySelector("form").dispatchEvent(new window.Event("submit", { cancelable: true })), 50);
const question = { prompt: "How sure?", name: "q", required: false };
const js = window.eval("initJsPsych")();
js.run([
  { type: window.eval("jsPsychHtmlSliderResponse"), stimulus: "a", slider_start: 50, trial_duration: 300, on_load: () => {
    const line = document.querySelector("input[type=range]");
    line.value = 80;
    for (const kind of ["input", "change"]) line.dispatchEvent(new window.Event(kind, { bubbles: true }));
  } },
  { type: window.eval("jsPsychSurveyLikert"), questions: [{ ...question, labels: ["no", "yes"] }], on_load: submit },
  { type: window.eval("jsPsychSurveyMultiChoice"), questions: [{ ...question, options: ["Mary", "John"] }], on_load: submit },
]).then(() => {
  const [slider, likert, choice] = js.data.get().values();
  const lines = js.data.get().csv().split("\n"), cell = lines[1].split(",")[lines[0].split(",").indexOf('"rt"')];
  const seen = JSON.parse(JSON.stringify([slider.response, slider.rt, cell, likert.response.q, choice.response.q, choice.response_index]));
  console.log("jsPsych 8.3.0: slider's response and time, its cell, unanswered questions:", seen);
  assert.deepStrictEqual(seen, [null, null, '"null"', "", "", [-1]]);
  process.exit();
});
JS
