"""A model of the hub is pinned to its commit before any key is made: a tiny one in a cache on disk."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers", reason="neural models are an extra: make install-models")
tokenizers = pytest.importorskip("tokenizers")

ROOT = Path(__file__).resolve().parents[2]
OLD, NEW = "a" * 40, "b" * 40
PROGRAM = """
import json, os
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django; django.setup()
from releases.scoring import loaded_model
from releases.scoring.model_registry import pin_revision
from releases.models import ScoringRun
from releases.scoring.score_cache import key_spec
run = ScoringRun(model="hf-causal:owner/tiny@main", spec={"device": "cpu"})
model = loaded_model.load_model(run, afresh=True)
run.spec["address"] = pin_revision(run.model, model.spec.revision)
again = loaded_model.load_model(run)
print(json.dumps([run.spec["address"], key_spec(model.spec).uri, key_spec(again.spec).spec_id,
                  loaded_model.threads(), again.score(["a b", "b a"]).logprob.tolist()]))
"""


def hub(folder: Path, *, main: str) -> None:
    """The cache as a download leaves it: two commits, and what ``main`` means today."""
    place = folder / "hub" / "models--owner--tiny"
    for seed, commit in enumerate((OLD, NEW)):
        snapshot = place / "snapshots" / commit
        snapshot.mkdir(parents=True)
        transformers.set_seed(seed)
        config = transformers.GPT2Config(
            vocab_size=8, n_embd=8, n_layer=1, n_head=1, n_positions=8, bos_token_id=0, eos_token_id=0
        )
        transformers.GPT2LMHeadModel(config).save_pretrained(snapshot)
        words = {word: number for number, word in enumerate(["<s>", "<unk>", "a", "b"])}
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
        marks = {"bos_token": "<s>", "unk_token": "<unk>"}
        transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(snapshot)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(main)


def spec_and_scores(folder: Path) -> list:
    env = {
        **os.environ, "HF_HOME": str(folder), "HF_HUB_CACHE": str(folder / "hub"), "HF_HUB_OFFLINE": "1",
        "SCORING_THREADS": "1",
    }  # fmt: skip
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, cwd=ROOT, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.strip().splitlines()[-1])


def test_floating_name_becomes_its_commit_and_another_commit_another_key(tmp_path):
    hub(tmp_path / "then", main=OLD), hub(tmp_path / "now", main=NEW)
    then, now = spec_and_scores(tmp_path / "then"), spec_and_scores(tmp_path / "now")
    assert then[0] == f"hf-causal:owner/tiny@{OLD}" and now[0] == f"hf-causal:owner/tiny@{NEW}"
    assert then[1] == now[1] == "hf-causal:owner/tiny"
    assert then[2] != now[2] and then[4] != now[4] and then[3] == 1
