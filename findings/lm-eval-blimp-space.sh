#!/usr/bin/env bash
# A pair of sentences under the settings of lm-evaluation-harness 0.4.13's own BLiMP (empty doc_to_text, the two sentences
# as choices, which are read from the package here): each is requested as " Dogs sleep." after an empty context, with the
# space of the default target_delimiter. A byte-level tokenizer has other tokens for it than for "Dogs sleep.".
# Guess beforehand: a delimiter stands between two texts, so nothing is before a sentence without a context.
# What follows: the import of sample logs reads the space from the log and records it; `space=yes` scores the same text.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet lm-eval==0.4.13
cd "$folder"
HF_HOME="$folder/hub" "$folder/v/bin/python" -W ignore - <<'PYTHON' 2>/dev/null
import json
from pathlib import Path
import lm_eval, yaml
from lm_eval.api.task import ConfigurableTask
template = Path(lm_eval.__file__).with_name("tasks") / "blimp" / "_template_yaml"
own = yaml.safe_load(template.read_text())
names = ("output_type", "doc_to_text", "doc_to_target", "doc_to_choice", "num_fewshot", "target_delimiter")
settings = {name: own[name] for name in names if name in own}
Path("pairs.jsonl").write_text(json.dumps({"sentence_good": "Dogs sleep.", "sentence_bad": "Dogs sleeps."}) + "\n")
def requested(**further):
    data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"validation": "pairs.jsonl"}}, "validation_split": "validation"}
    task = ConfigurableTask(config={"task": "pairs", **data, **settings, **further})
    doc = task.validation_docs()[0]
    built = task.construct_requests(doc=doc, ctx=task.fewshot_context(doc, 0), metadata=("pairs", 0, 1))
    return [request.args for request in built]
seen, without = requested(), requested(target_delimiter="")
print("lm_eval 0.4.13:", settings, "\n  requests (context, continuation):", seen, '\n  with target_delimiter "":', without)
assert "target_delimiter" not in settings and settings["doc_to_text"] == "", settings
assert seen == [("", " Dogs sleep."), ("", " Dogs sleeps.")], seen
assert without == [("", "Dogs sleep."), ("", "Dogs sleeps.")], without
PYTHON
