"""Coverage: the share of the materials that lists show, and splits that show all of them."""

from collections import Counter

import pytest

from experiments.lists.balance_report import compute_coverage, proofs
from experiments.models import Design, Item, MaterialSet, MinimalPair, Paradigm, Sentence
from experiments.page_cache import cache
from experiments.studies.creation import create_study
from experiments.studies.lifecycle import open_study
from experiments.studies.proposals import proposals
from experiments.studies.readiness import steps
from judgments.monitoring.overview import target_sessions
from tests import cast

pytestmark = pytest.mark.django_db
SIZES = (151, 60, 30, 9)  # pairs of the paradigms


@pytest.fixture(autouse=True)
def fresh_lists():
    """No lists of another test."""
    cache.clear()


@pytest.fixture
def large_set():
    materials = MaterialSet.objects.create(name="large", slug="large", checksum="large", owner=cast.ada())
    for place, size in enumerate(SIZES):
        paradigm = Paradigm.objects.create(material_set=materials, name=f"paradigm {place}")
        items = Item.objects.bulk_create(
            [Item(material_set=materials, paradigm=paradigm, key=f"{place}-{n}") for n in range(size)]
        )
        members = [
            Sentence.objects.bulk_create(
                Sentence(
                    material_set=materials,
                    item=item,
                    key=f"{item.key}-{status}",
                    condition=status,
                    text=f"Sentence {item.key} is {status}.",
                    expected=status,
                )
                for item in items
            )
            for status in ("acceptable", "unacceptable")
        ]
        MinimalPair.objects.bulk_create(
            MinimalPair(material_set=materials, paradigm=paradigm, key=item.key, good=good, bad=bad)
            for item, good, bad in zip(items, *members, strict=True)
        )
    return materials


def coverage_line(study):
    return next(step for step in steps(study) if step.key == "coverage")


def test_a_sample_reports_the_share_that_is_never_shown(client, large_set):
    study = cast.draft("large", materials=large_set)
    Design.objects.create(experiment=study, kind="sample", items_per_paradigm=2, n_lists=10, seed=1)
    notice = "39 of 250 pairs (16 %) are shown, over 10 lists: 211 (84 %) never are."
    line = coverage_line(study)
    assert not line.is_done and line.reason.startswith(notice)
    client.force_login(cast.ada())
    html = " ".join(client.get("/studies/large/design/").content.decode().split())
    assert notice in html and "Every sentence or pair that the lists show is shown equally often" in html


@pytest.mark.parametrize("task", ["forced_choice", "likert"])
def test_a_split_shows_everything_in_even_parts(task, large_set):
    study = cast.draft("large", materials=large_set, task=task, target_judgments=10)
    Design.objects.create(experiment=study, kind="split", n_lists=8, seed=1)
    (proof,) = proofs(study)
    assert proof.holds and coverage_line(study).is_done
    assert compute_coverage(study, [proof]).is_whole
    assert {counts.n_targets for counts in proof.counts.values()} == {62, 63}
    for name, size in zip(("paradigm 0", "paradigm 3"), (151, 9), strict=True):
        counts = [Counter(trial.paradigm for trial in trials)[name] for trials in proof.lists.values()]
        assert max(counts) - min(counts) <= 1 and sum(counts) == 2 * size
    open_study(study, cast.ada())
    assert target_sessions(study) == {"forced_choice": 40, "likert": 80}[task]


def test_a_split_over_more_lists_than_items_is_refused(large_set):
    study = cast.draft("large", materials=large_set)
    Design.objects.create(experiment=study, kind="split", n_lists=600, seed=1)
    line = next(step for step in steps(study) if step.key == "design")
    assert not line.is_done and "cannot be split over 300 parts" in line.reason


def test_a_proposal_names_lists_people_and_minutes_and_is_taken_by_one_button(client, large_set):
    study = cast.draft("large", materials=large_set, target_judgments=10)
    Design.objects.create(experiment=study, n_lists=2, seed=1)
    offers = {offer.n_lists: offer for offer in proposals(study)}
    assert {n: (offer.n_items, offer.participants) for n, offer in offers.items()} == {
        6: (84, 30),
        10: (50, 50),
        20: (25, 100),
    }
    assert [n for n, offer in offers.items() if offer.is_recommended] == [6]
    client.force_login(cast.ada())
    assert "Make these 10 lists" in client.get("/studies/large/design/").content.decode()
    client.post("/studies/large/design/split/", {"n_lists": 10})
    design = Design.objects.get(experiment=study)
    assert (design.kind, design.n_lists, design.items_per_paradigm) == ("split", 10, None)
    assert target_sessions(study) == 50 and coverage_line(study).is_done
    assert client.post("/studies/large/design/split/", {"n_lists": 11}).status_code == 404


def test_a_new_study_of_a_large_set_begins_with_a_split(large_set):
    study = create_study(cast.ada(), title="Large", task="forced_choice", materials=large_set)

    assert study.design.kind == "latin_square"  # 250 pairs take less than half an hour
    paradigm = Paradigm.objects.create(material_set=large_set, name="more")
    for number in range(60):
        cast.pair(paradigm, f"more-{number}", good=f"Good {number}.", bad=f"Bad {number}.")
    study = create_study(cast.ada(), title="Larger", task="forced_choice", materials=large_set)
    assert (study.design.kind, coverage_line(study).is_done) == ("split", True)
