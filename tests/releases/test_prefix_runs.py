"""Runs of prefix methods: by shards and through the cache as whole sentences are, never mixed with them."""

import signal

import pytest
from django.core.management import call_command

from analysis.scoring import scorer
from analysis.scoring.scorers.arpa import ArpaScorer
from analysis.scoring.words.regions import score_words
from experiments.models import MinimalPair
from releases.models import CachedScore, ScorerSpec, ScoringRun, SentenceScore
from releases.scoring import loaded_model
from releases.scoring.cost import compute_cost
from releases.scoring.execution import run_progress
from releases.scoring.runs import request_model_runs
from releases.scoring.shards import claim, run_shards, score_shard
from tests import cast
from tests.releases.models_dir import URI
from tests.releases.scoring_runs import execute_run, with_shards, worker

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
TWO = ("The keys {n} are here.", "The key {n} are here.")


def a_study(slug: str = "agreement"):
    """A study whose pairs are made for the two-prefix method: the same verb after either subject."""
    materials = cast.material_set(slug, texts=TWO)
    for pair in MinimalPair.objects.filter(material_set=materials).select_related("good", "bad"):
        pair.fields = {"two_prefix_word": "are"} | {
            f"two_prefix_prefix_{name}": sentence.text.partition(" are")[0]
            for name, sentence in (("good", pair.good), ("bad", pair.bad))
        }
        pair.save(update_fields=["fields"])
    return cast.study(slug, materials=materials)


def a_run(study, method: str = "two_prefix") -> ScoringRun:
    return request_model_runs(study, [URI], methods=[method], user=cast.ada())[0]


def stored(run: ScoringRun) -> dict[str, float]:
    return dict(SentenceScore.objects.filter(run=run).values_list("sentence__text", "score"))


def expected(folder, n: int = 4) -> dict[str, float]:
    """Each sentence's verb, straight from the model."""
    prefixes = [text.format(n=k).partition(" are")[0] for text in TWO for k in range(1, n + 1)]
    scores = score_words(scorer(f"arpa:{folder / 'bigram.arpa'}"), prefixes, ["are"] * len(prefixes))
    return {f"{prefix} are here.": value for prefix, value in zip(prefixes, scores.logprob, strict=True)}


def test_critical_words_are_scored_by_shards_and_come_from_the_cache_again(models_dir, scored_texts):
    run = execute_run(a_run(a_study()))
    assert (run.state, run.n_distinct, run.n_cached, run.n_missing) == ("done", 8, 0, 0)
    assert [shard.state for shard in run_shards(run)] == ["done"] * 4 and len(scored_texts) == 4
    assert stored(run) == pytest.approx(expected(models_dir))
    scored_texts.clear()
    second_run = execute_run(a_run(a_study("second")))
    assert second_run.n_cached == 8 and not scored_texts and stored(second_run) == stored(run)


def test_words_and_whole_sentences_have_keys_of_their_own():
    study = a_study()
    words, sentences_run = execute_run(a_run(study)), execute_run(a_run(study, "lp"))
    assert words.scorer != sentences_run.scorer and sentences_run.n_cached == 0
    assert (
        words.scorer.spec["method"] == "ngram two_prefix" and sentences_run.scorer.spec["method"] == "ngram"
    )
    assert words.revision == sentences_run.revision and CachedScore.objects.count() == 16


def test_one_sentence_has_two_words_by_the_two_methods(models_dir):
    study = a_study()
    other = {"one_prefix_prefix": "The", "one_prefix_word_good": "keys", "one_prefix_word_bad": "key"}
    for pair in MinimalPair.objects.filter(material_set=study.materials):
        MinimalPair.objects.filter(pk=pair.pk).update(fields=pair.fields | other)
    two, one_prefix_run = execute_run(a_run(study)), execute_run(a_run(study, "one_prefix"))
    assert one_prefix_run.scorer != two.scorer and one_prefix_run.n_distinct == 2
    logprobs = score_words(scorer(f"arpa:{models_dir / 'bigram.arpa'}"), ["The"] * 2, ["keys", "key"]).logprob
    assert sorted(set(stored(one_prefix_run).values())) == pytest.approx(sorted(logprobs))
    assert stored(two) == pytest.approx(expected(models_dir))


def test_sentences_of_other_pairs_are_counted_apart_and_lack_nothing():
    study = a_study()
    [first, *_] = MinimalPair.objects.filter(material_set=study.materials)
    MinimalPair.objects.filter(pk=first.pk).update(fields={})
    run = execute_run(a_run(study))
    assert (run.n_sentences, run.n_missing, run.spec["not_asked"]) == (6, 0, 2)


def test_progress_of_a_prefix_run_is_counted():
    run = with_shards(a_run(a_study()))
    score_shard(run, claim(run))
    now = run_progress(run)
    assert (now.sentences, now.done, now.percent, now.shards) == (8, 2, 25, 4)


@pytest.mark.django_db(transaction=True)
def test_killed_worker_costs_one_shard_of_words(settings, models_dir):
    settings.JOB_STALE_SECONDS = 2
    run = with_shards(a_run(a_study()))
    with worker(run, halt_at=2, settings=settings) as process:
        assert process.stdout.readline() == "shard 1\n" and process.stdout.readline() == "shard 2\n"
        process.send_signal(signal.SIGKILL)
    assert execute_run(run).state == "done"
    assert sorted(run_shards(run).values_list("attempts", flat=True)) == [1, 1, 1, 2]
    assert stored(run) == pytest.approx(expected(models_dir))


def test_token_that_begins_before_the_word_is_reported_with_the_run(monkeypatch):
    scored = ArpaScorer.score

    def joined(self, sentences, **options):
        scores = scored(self, sentences, **options)
        return scores._replace(spans=[[(max(0, a - 2), b) for a, b in row] for row in scores.spans])

    monkeypatch.setattr(ArpaScorer, "score", joined)
    run = execute_run(a_run(a_study()))
    assert run.spec["flags"]["critical word begins inside a token"] == 8


def test_cost_counts_words_beside_sentences_and_names_what_the_model_cannot_give(monkeypatch):
    study = a_study()
    arguments = {"materials": study.materials.pk, "models": [URI], "study": study.slug, "release": None,
                 "device": "cpu", "methods": ["lp", "meanlp", "two_prefix", "one_prefix"]}  # fmt: skip
    cost = compute_cost(arguments, progress=lambda *progress: None)
    [row] = cost["models"]
    assert row["distinct"] == row["left"] == 16 and row["measures"] == ["lp", "meanlp", "two_prefix"]
    assert [(refusal["measure"], "is made for" in refusal["error"]) for refusal in cost["refused"]] == [
        ("one_prefix", True)
    ]
    assert compute_cost(arguments, progress=lambda *progress: None)["models"][0]["cached"] == 16
    loaded_model.forget()
    monkeypatch.setattr(ArpaScorer, "capabilities", frozenset({"sum"}))
    cost = compute_cost({**arguments, "methods": ["slor", "two_prefix"]}, progress=lambda *progress: None)
    assert not cost["can_start"] and [refusal["measure"] for refusal in cost["refused"]] == [
        "slor",
        "two_prefix",
    ]


def test_command_asks_the_model_only_for_new_words(models_dir, tmp_path, scored_texts, capsys):
    a_study()
    words = ["score", f"arpa:{models_dir / 'bigram.arpa'}", "--materials", "agreement", "--method",
             "two_prefix"]  # fmt: skip
    for name in ("first", "second"):
        call_command(*words, "--to", str(tmp_path / f"{name}.csv"), "--json")
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "second.csv").read_bytes()
    assert [len(call) for call in scored_texts] == [
        8,
        8,
    ] and ScorerSpec.objects.count() == 2  # sentences, words
