#!/usr/bin/env bash
# Response times of jsPsych 8.3.0 with one time-out (null): select("rt").mean() leaves the time-out out, median() and
# min() take it for 0. Of answers of which one is text, as from a text box, mean() joins digits: 2, "3" and 4 have 78.
# Guess beforehand: mean, median and minimum leave the same trials out; text is no number.
# What follows: times and answers are computed from the rows, with missing ones counted, never from such summaries.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder"; npm init -y >/dev/null; npm install --silent --no-audit --no-fund jspsych@8.3.0 jsdom@26.1.0 >/dev/null 2>&1
node - <<'JS'
const fs = require("fs"), { JSDOM } = require("jsdom"), assert = require("assert");
const page = new JSDOM("<body></body>", { runScripts: "dangerously" });
page.window.eval(fs.readFileSync("node_modules/jspsych/dist/index.browser.js", "utf8"));
const { DataCollection } = page.window.eval("jsPsychModule");
const rt = new DataCollection([{ rt: null }, { rt: 500 }, { rt: 700 }, { rt: 900 }]).select("rt");
const answers = new DataCollection([{ answer: 2 }, { answer: "3" }, { answer: 4 }]).select("answer");
const seen = [rt.mean(), rt.median(), rt.min(), answers.mean()];
console.log("jsPsych 8.3.0: mean, median, minimum of null, 500, 700, 900; mean of 2, \"3\", 4:", seen);
assert.deepStrictEqual(seen, [700, 600, 0, 78]);
JS
