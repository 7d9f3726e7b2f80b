"""Checkpoints of one model in one run: a file for each by the command, a run for each by page and API."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from analysis.scoring import scorer
from analysis.scoring.model_uri import with_revisions
from releases.scoring.forms import ModelRunsForm
from releases.scoring.runs import request_model_runs
from tests import cast

SENTENCES = ["a b", "b a"]


@pytest.fixture
def checkpoints(tmp_path):
    """Two checkpoints of a tiny model in one folder, and a folder that is none."""
    transformers = pytest.importorskip(
        "transformers", reason="neural models are an extra: make install-models"
    )
    tokenizers = pytest.importorskip("tokenizers")
    words = {word: number for number, word in enumerate(["<s>", "<unk>", "a", "b"])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    config = transformers.GPT2Config(
        vocab_size=8, n_embd=8, n_layer=1, n_head=1, n_positions=8, bos_token_id=0
    )
    for step in (1, 2):
        transformers.set_seed(step)
        folder = tmp_path / "tiny" / f"checkpoint-{step}"
        transformers.GPT2LMHeadModel(config).save_pretrained(folder)
        marks = {"bos_token": "<s>", "unk_token": "<unk>"}
        transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(folder)
    (tmp_path / "tiny" / "checkpoint-3").mkdir()
    (tmp_path / "sentences.csv").write_text("sentence_id,sentence\n1,a b\n2,b a\n")
    return tmp_path / "tiny"


def scored(checkpoints, *revisions):
    call_command(
        "score", f"hf-causal:{checkpoints}", "--revisions", *revisions, "--sentences",
        str(checkpoints.parent / "sentences.csv"), "--to", str(checkpoints.parent / "out.csv"),
        stdout=StringIO(), stderr=StringIO(),
    )  # fmt: skip


def test_command_writes_a_file_with_its_record_for_each_checkpoint(checkpoints):
    scored(checkpoints, "checkpoint-1", "checkpoint-2")
    values = []
    for step in (1, 2):
        path = checkpoints.parent / f"out.checkpoint-{step}.csv"
        frame = pd.read_csv(path)
        assert frame.columns[1] == f"tiny@checkpoint-{step}:lp"
        expected = scorer(f"hf-causal:{checkpoints}/checkpoint-{step}").score(SENTENCES).logprob
        np.testing.assert_allclose(frame.iloc[:, 1], expected, rtol=1e-6)
        record = json.loads(path.with_name(f"out.checkpoint-{step}.spec.json").read_text())
        assert record["spec"]["uri"].endswith(f"checkpoint-{step}")
        values.append(frame.iloc[0, 1])
    assert values[0] != values[1] and not (checkpoints.parent / "out.csv").exists()


def test_checkpoint_that_cannot_be_opened_is_named_and_the_others_are_written(checkpoints):
    with pytest.raises(CommandError, match="1 of 2 revisions are not scored: checkpoint-3"):
        scored(checkpoints, "checkpoint-1,checkpoint-3")
    assert (checkpoints.parent / "out.checkpoint-1.csv").exists()
    with pytest.raises(CommandError, match="no checkpoint 'checkpoint-9'"):
        scored(checkpoints, "checkpoint-1", "checkpoint-9")


@pytest.mark.parametrize(
    "uri, revisions, message",
    [
        ("arpa:model.arpa", ["a", "b"], "arpa: models have no revisions"),
        ("hf-causal:gpt2@main", ["a"], "names a revision already"),
        ("hf-causal:gpt2@a,a", [], "no different revisions"),
        ("hf-causal:gpt2@a,", [], "no different revisions"),
    ],
)
def test_revisions_that_cannot_be_meant_are_refused(uri, revisions, message):
    with pytest.raises(BadInput, match=message):
        with_revisions(uri, revisions)


@pytest.mark.django_db
def test_page_and_api_make_a_run_for_each_revision_and_name_it():
    study = cast.study("sweep")
    runs = request_model_runs(
        study, ["hf-causal:owner/tiny@step1,step2?bos=eos", "hf-causal:gpt2@main"], user=cast.ada()
    )
    assert [(run.name, run.model) for run in runs] == [
        ("tiny@step1", "hf-causal:owner/tiny@step1?bos=eos"),
        ("tiny@step2", "hf-causal:owner/tiny@step2?bos=eos"),
        ("gpt2", "hf-causal:gpt2@main"),
    ]
    form = ModelRunsForm(
        {"hub": "owner/tiny@step1,step2", "kind": "hf-causal", "methods": ["lp"], "device": "cpu"},
        experiment=study,
    )
    assert form.is_valid(), form.errors
    assert form.chosen() == ["hf-causal:owner/tiny@step1", "hf-causal:owner/tiny@step2"]
