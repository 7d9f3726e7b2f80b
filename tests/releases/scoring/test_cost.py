"""The minutes that scoring is said to take, on a clock that the model moves: no test waits."""

import pytest

from analysis.scoring.scorers.arpa import ArpaScorer
from experiments.operation import job_runner
from releases.models import ScorerSpec
from releases.scoring import cost, execution, loaded_model, shards
from releases.scoring.cost import request_cost
from releases.scoring.runs import request_model_runs
from tests import cast
from tests.releases.models_dir import URI, write_bigram

pytestmark = pytest.mark.django_db
EACH_S, CALL_S, LONGER_S = 0.0005, 0.05, 2.0


class Clock:
    """Seconds that pass while a model scores: for each sentence, each call, and each longest sentence."""

    def __init__(self, each_s: float) -> None:
        self.each_s, self.now, self.longest = each_s, 0.0, 0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def scoring(self, texts) -> None:
        longest = max(map(len, texts))
        self.now += CALL_S + self.each_s * len(texts) + LONGER_S * (longest > self.longest)
        self.longest = max(longest, self.longest)


@pytest.fixture
def timed(tmp_path, settings, monkeypatch):
    """A bigram that takes as long as the clock says."""
    settings.MODELS_DIR = tmp_path
    write_bigram(tmp_path)
    monkeypatch.setattr(execution, "request_helpers", lambda run, n: None)
    scored = ArpaScorer.score

    def start(each_s: float = EACH_S) -> Clock:
        clock = Clock(each_s)
        monkeypatch.setattr(cost, "time", clock)
        monkeypatch.setattr(shards, "time", clock)
        monkeypatch.setattr(
            ArpaScorer,
            "score",
            lambda self, texts, **options: clock.scoring(texts) or scored(self, texts, **options),
        )
        return clock

    loaded_model.forget()
    yield start
    loaded_model.forget()


def estimate(study) -> dict:
    job = request_cost(study, [URI], methods=["lp"], user=cast.ada())
    job_runner.run(job.pk)
    job.refresh_from_db()
    return job.result["models"][0]


def a_study(n_pairs: int, slug: str = "agreement"):
    return cast.study(slug, materials=cast.material_set(slug, n_items=n_pairs))


def test_quick_model_is_priced_by_what_its_sentences_take(timed):
    timed()
    cost = estimate(a_study(500))
    assert cost["minutes"] * 60 == pytest.approx(1000 * EACH_S + CALL_S, rel=0.25)
    assert cost["basis"] == "a probe of 656 sentences"


def test_slow_model_is_asked_for_few_sentences(timed):
    clock = timed(each_s=2.0)
    cost = estimate(a_study(200))
    assert cost["minutes"] * 60 == pytest.approx(400 * 2.0, rel=0.1)
    assert clock.now < 60 and cost["basis"] == "a probe of 16 sentences"


def test_rate_is_that_of_a_long_shard_and_not_of_beginning(timed):
    timed(each_s=0.04)
    rates = []
    for slug, n_pairs in (("handful", 2), ("whole", 500), ("two-more", 502)):
        run = request_model_runs(a_study(n_pairs, slug), [URI], user=cast.ada())[0]
        job_runner.run(run.job_id)
        rates.append(ScorerSpec.objects.get().sentences_per_s)
    assert rates[0] is None and rates[1] == rates[2] == pytest.approx(25, rel=0.1)
    cost = estimate(a_study(510, "priced"))
    assert cost["basis"] == "the last run"
    assert cost["minutes"] * 60 == pytest.approx(cost["left"] * 0.04, rel=0.1)


def test_quick_model_is_probed_each_time(timed):
    timed()
    run = request_model_runs(a_study(150), [URI], user=cast.ada())[0]
    job_runner.run(run.job_id)
    assert estimate(a_study(400, "more"))["basis"] == "a probe of 256 sentences"
