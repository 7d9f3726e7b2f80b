#!/usr/bin/env bash
# CSV and JSON-MIN of label-studio-sdk 2.1.2: a task that an annotator skipped has no row at all, while a task that was
# never opened has one, with empty cells. The exports therefore do not show that a sentence was shown and refused.
# Guess beforehand: a row without an answer for the skipped task, none for the one that was never opened.
# What follows: skipped sentences are counted from the full JSON only, which has was_cancelled.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet label-studio-sdk==2.1.2
cd "$folder"; HOME="$folder" "$folder/v/bin/python" -W ignore - <<'PYTHON' 2>/dev/null
import csv, json, os
from label_studio_sdk.converter import Converter
CONFIG = """<View><Text name="text" value="$text"/>
<Choices name="ok" toName="text"><Choice value="yes"/><Choice value="no"/></Choices></View>"""
answer = [{"from_name": "ok", "to_name": "text", "type": "choices", "value": {"choices": ["yes"]}}]
def task(number, *annotations):
    return {"id": number, "data": {"text": f"Sentence {number}."}, "annotations": list(annotations)}
def annotation(result, **fields):
    return {"id": 1, "completed_by": {"email": "a@example.org"}, "created_at": "2026-01-01T00:00:00Z", "result": result, **fields}
tasks = [task(1, annotation(answer)), task(2, annotation([], was_cancelled=True)), task(3)]
json.dump(tasks, open("tasks.json", "w"))
seen = {}
for format, name in (("CSV", "result.csv"), ("JSON_MIN", "result.json")):
    os.mkdir(format)
    Converter(CONFIG, ".").convert("tasks.json", format, format, is_dir=False)
    with open(f"{format}/{name}") as file:
        rows = list(csv.DictReader(file)) if format == "CSV" else json.load(file)
    seen[format] = [int(row["id"]) for row in rows]
print("label-studio-sdk 2.1.2, tasks in the export (2 was skipped, 3 never opened):", seen)
assert seen == {"CSV": [1, 3], "JSON_MIN": [1, 3]}, seen
PYTHON
