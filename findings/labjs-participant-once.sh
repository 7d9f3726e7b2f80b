#!/usr/bin/env bash
# The CSV of lab.js 2018.1.1 names the participant in the first row only: a value that is set once belongs to the next
# row that is written. Of joined files every row but the first of each participant has no participant.
# Guess beforehand: the participant in every row, since "participant" is one of its columns of metadata.
# What follows: rows without a participant are refused by row, and the reader's message says to fill the name down.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cd "$folder"; npm init -y >/dev/null; npm install --silent --no-audit --no-fund lab.js@2018.1.1 jsdom@26.1.0 >/dev/null 2>&1
node - <<'JS'
const fs = require("fs"), { JSDOM } = require("jsdom"), assert = require("assert");
const page = new JSDOM("<main></main>", { runScripts: "dangerously" });
page.window.eval(fs.readFileSync("node_modules/lab.js/dist/lab.dev.js", "utf8"));
const store = new page.window.lab.data.Store();
store.set("participant", "p1");
store.commit({ sender: "judgment", response: 6 });
store.commit({ sender: "judgment", response: 2 });
const csv = store.exportCsv();
console.log("lab.js 2018.1.1:\n" + csv + "\nparticipant in its state: " + store.get("participant"));
assert.deepStrictEqual(csv.trim().split(/\r?\n/), ["participant,sender,response", "p1,judgment,6", ",judgment,2"]);
JS
