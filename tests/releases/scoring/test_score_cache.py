"""Scores are shared by whatever asks for them, under the bytes of the model, the method and the sentence."""

import pytest
from django.conf import settings as all_settings

from analysis.errors import BadInput
from analysis.scoring import scorer
from releases.models import CachedScore, ScorerSpec
from releases.scoring import score_cache
from releases.scoring.runs import request_model_runs
from releases.scoring.shards import claim, run_shards, score_shard
from tests import cast
from tests.releases.models_dir import URI, write_bigram
from tests.releases.scoring_runs import a_run, execute_run, stored, with_shards

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]


def test_sentence_is_never_scored_twice_for_whatever_study_or_measure(scored_texts):
    study, other = cast.study("agreement"), cast.study("second", materials=cast.material_set("second"))
    first, mean = request_model_runs(study, [URI], methods=["lp", "meanlp"], user=cast.ada())
    execute_run(first), execute_run(mean)
    second_run = execute_run(a_run(other))
    assert second_run.n_cached == second_run.n_distinct == 8 and mean.spec == mean.spec
    texts = [text for call in scored_texts for text in call]
    assert sorted(texts) == sorted(set(texts)) and len(texts) == 8
    assert set(stored(second_run).values()) == set(stored(first).values())


def test_key_holds_the_bytes_of_the_model_and_not_its_place(models_dir):
    study = cast.study("agreement")
    write_bigram(models_dir / "copy", name="other.arpa")
    first, copy = execute_run(a_run(study)), execute_run(a_run(study, model="arpa:./copy/other.arpa"))
    assert first.scorer == copy.scorer and copy.n_cached == 8
    write_bigram(models_dir, more="The keys 9 are here .")
    changed = execute_run(a_run(study))
    assert changed.scorer != first.scorer and changed.n_cached == 0


def test_key_distinguishes_single_bytes():
    assert score_cache.sentence_sha("café") != score_cache.sentence_sha("cafe\u0301")


def test_model_changed_in_the_middle_is_not_mixed(models_dir):
    run = with_shards(a_run(cast.study("agreement")))
    write_bigram(models_dir, more="The keys 9 are here .")
    score_shard(run, claim(run))
    assert all("no longer those" in error for error in run_shards(run).values_list("error", flat=True))
    assert claim(run) is None  # the other shards would fail alike
    assert not CachedScore.objects.exists()


def test_other_versions_are_tried_on_cached_sentences(monkeypatch, scored_texts):
    study = cast.study("agreement")
    run = execute_run(a_run(study))
    scored_texts.clear()
    monkeypatch.setattr(score_cache, "software", lambda spec: {"torch": "99.0"})
    second_run = execute_run(a_run(study))
    row = ScorerSpec.objects.get()
    assert len(scored_texts) == 1 and len(scored_texts[0]) == 8 and row.software == {"torch": "99.0"}
    assert "8 cached sentences within" in second_run.spec["cache"] and second_run.n_cached == 8
    CachedScore.objects.update(logprob=-1.0)
    monkeypatch.setattr(score_cache, "software", lambda spec: {"torch": "100.0"})
    moved = execute_run(a_run(study))
    assert "too much, 8 scores are computed again" in moved.spec["cache"] and moved.n_cached == 0
    assert stored(moved) == pytest.approx(stored(run))


def test_served_model_is_not_shared(monkeypatch):
    spec = scorer(f"arpa:{all_settings.MODELS_DIR / 'bigram.arpa'}").spec
    served = score_cache.replace(spec, uri="openai:http://host/v1#m", revision="as served")
    with pytest.raises(BadInput, match="not known"):
        score_cache.key_spec(served)
    keys = {score_cache.key_spec(served, served_for=f"run {n}").spec_id for n in (1, 2)}
    assert len(keys) == 2


def test_floating_revision_is_never_in_a_key():
    spec = scorer(f"arpa:{all_settings.MODELS_DIR / 'bigram.arpa'}").spec
    specs = [
        score_cache.replace(spec, uri=f"hf-causal:owner/name{at}", revision="commit:" + "a" * 40)
        for at in ("", "@main", "@" + "a" * 40)
    ]
    assert {score_cache.key_spec(spec).uri for spec in specs} == {"hf-causal:owner/name"}
    assert len({score_cache.key_spec(spec).spec_id for spec in specs}) == 1
