"""Each results page has its finding, then a figure, then the table, and folded conventions at the end."""

import io
import re

import pandas as pd
import pytest
from django.urls import reverse

from analysis.aggregation.proportions import wilson_interval
from experiments.operation import job_runner
from experiments.page_cache import cache
from judgments.flags import raise_flag
from judgments.quality_check import request_check
from releases.comparison.compare import Options, request_comparison
from tests import cast
from tests.releases.study import add_sitting, judged_study, ready_release, scored

pytestmark = pytest.mark.django_db
PARTS = ('class="finding"', "<figure", "<table", "Conventions</h2>")
PAGES = [
    ("agreement", "forced_choice", "83.3 % of judgments are as expected (95 % CI"),
    ("items", "forced_choice", "as expected in 4 of 4 items, 100.0 % (95 % CI 51.0 to 100.0 %)."),
    ("reliability", "likert", "As many other people would give means of sentences that correlate"),
    ("effects", "likert", "The expected contrast is"),
    ("multiverse", "likert", "specifications have the sign of the"),
    ("times", "likert", "The longest geometric mean is that of"),
    ("ordinal", "likert", "logits above unacceptable ones (95 % CI"),
    ("ratings", "likert", "The highest mean is that of good"),
    (
        "exclusions",
        "likert",
        "7 of 7 participants, 100.0 % (95 % CI 64.6 to 100.0 %), and 56 of 56 judgments",
    ),
    ("progress", "forced_choice", "83.3 % of judgments are as expected (95 % at all looks"),
    ("live", "likert", "0 of 7 sessions, 0.0 % (95 % CI 0.0 to 35.4 %), dropped out."),
    ("participants", "likert", "Quality signals or flags mark "),
    ("power", "likert", "over simulations)"),
]
QUERIES = {"exclusions": {"steps": "catch_failed"}}


@pytest.fixture(autouse=True)
def fresh_numbers():
    """No counts of another test."""
    cache.clear()


def main_of(client, address, **query):
    answer = client.get(address, query)
    assert answer.status_code == 200
    return answer.content.decode().partition("<main")[2].replace("\xa0", " ")


def assert_in_order(page, parts=PARTS):
    places = [page.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), dict(zip(parts, places, strict=True))


@pytest.mark.parametrize(("task", "people"), [("forced_choice", 6), ("likert", 7)])
def test_finding_figures_table_and_conventions_follow_each_other_and_figures_are_drawn(
    ada, task, people, subtests
):
    study = judged_study(task=task, people=people)
    for name, finding in [(name, finding) for name, of_task, finding in PAGES if of_task == task]:
        with subtests.test(name):
            page = main_of(ada, reverse(f"study-{name}", args=[study.slug]), **QUERIES.get(name, {}))
            assert finding in re.search(r'class="finding">(.*?)</p>', page)[1]
            parts = PARTS[:3] if name in ("items", "ratings") else PARTS
            assert_in_order(page, parts)
            if parts == PARTS:
                assert re.search(r"<details[^>]*>\s*<summary><h2[^>]*>Conventions</h2>", page)
            assert "<script>" not in page and "style=" not in page
            sources = re.findall(r'<img [^>]*src="([^"]+)"', page)
            assert sources
            for source in sources:
                drawing = ada.get(source.replace("&amp;", "&"))
                assert drawing.content.startswith(b"<svg") and b"Nothing to draw" not in drawing.content


def test_without_judgments_there_is_no_finding_and_no_figure(ada):
    study = cast.study("empty")
    for name in ("agreement", "items", "reliability", "effects", "exclusions", "progress", "participants"):
        page = main_of(ada, reverse(f"study-{name}", args=[study.slug]))
        assert 'class="finding"' not in page and "<figure" not in page, name


@pytest.mark.parametrize("people", [1, 2])
def test_few_participants_give_no_interval_of_one_person_and_no_broken_page(ada, people):
    study = judged_study(task="likert", people=people)
    job_runner.run(request_check(study).pk)
    cache.clear()
    findings, pages = {}, {}
    for name, *_ in PAGES:
        page = pages[name] = main_of(
            ada, reverse(f"study-{name}", args=[study.slug]), **QUERIES.get(name, {})
        )
        finding = re.search(r'class="finding">(.*?)</p>', page)
        findings[name] = finding[1] if finding else ""
        assert re.search(r"\bnan\b", page) is None, name
        assert re.search(r"\bNone\b(?! of these sizes)", findings[name]) is None, name
        for source in re.findall(r'<img [^>]*src="([^"]+)"', page):
            assert ada.get(source.replace("&amp;", "&")).status_code == 200, source
    intervals = {name for name, finding in findings.items() if "95 %" in finding}
    assert "0 of 0" not in " ".join(findings.values()) and "of 1 contrasts" not in findings["effects"]
    if people == 1:
        assert not intervals, findings
        assert findings["exclusions"].startswith("1 of 1 participant, and")
        assert (
            findings["live"]
            == "1 of 40 participants is complete, 0 are in session now; 0 of 1 session dropped out."
        )
    else:
        assert {"exclusions", "live"} <= intervals, findings
        assert findings["reliability"] == "" and "contradict each other" in pages["reliability"]


def test_the_participants_page_counts_those_with_signals_or_flags(ada):
    study = judged_study(people=8)
    job_runner.run(request_check(study).pk)
    figure = reverse("study-figure", args=[study.slug, "participants-agreement", "csv"])
    people = pd.read_csv(io.BytesIO(ada.get(figure).content))
    assert len(people) == 8
    is_marked = people["state"] != "no signal"
    if not is_marked.all():
        person = study.participants.get(pseudonym=people.loc[~is_marked, "participant"].iloc[0])
        raise_flag(person, "Answers in a rhythm", by=cast.ada())
        is_marked |= people["participant"] == person.pseudonym
    k = int(is_marked.sum())
    page = main_of(ada, reverse("study-participants", args=[study.slug]))
    finding = re.search(r'class="finding">(.*?)</p>', page)[1]
    low, high = (100 * end for end in wilson_interval(k, 8))
    share = f"{k} of 8 participants, {100 * k / 8:.1f} % (95 % CI {low:.1f} to {high:.1f} %)"
    assert f"Quality signals or flags mark {share}; the median share of answers" in finding
    assert f"is {100 * people['agreement'].median():.1f} %." in finding
    filtered = main_of(ada, reverse("study-participants", args=[study.slug]), flagged="on")
    assert 'class="finding"' not in filtered and "<figure" not in filtered


def test_points_of_models_name_them_and_open_their_comparison(ada):
    study = judged_study()
    add_sitting(study, "other")
    release = ready_release(study)
    runs = [scored(study, "bright"), scored(study, "dull")]
    comparison = request_comparison(release, runs, options=Options(), user=cast.ada())
    job_runner.run(comparison.job_id)
    own_address = reverse("study-comparison", args=[study.slug, comparison.pk])
    leaderboard = reverse("study-leaderboard-figure", args=[study.slug, release.number, "svg"])
    curves = reverse("study-comparison-figure", args=[study.slug, comparison.pk, "adc", "svg"])
    depth = reverse("study-comparison-figure", args=[study.slug, comparison.pk, "curves", "svg"])
    of_study = [reverse("study-figure", args=[study.slug, name, "svg"]) for name in ("leaderboard", "adc")]
    for address, opened in (
        (leaderboard, own_address),
        (curves, f"{own_address}depth/curves/"),
        (depth, own_address),
        *((address, own_address) for address in of_study),
    ):
        drawing = ada.get(address, {"width": "half"}).content.decode()
        titles = re.findall(r'<a xlink:href="([^"]+)"><path[^>]*><title>([^<]+)</title>', drawing)
        assert {target for target, _ in titles} == {opened}, address
        assert ada.get(opened).status_code == 200
        assert any(text.startswith("bright: ") for _, text in titles), titles
        assert "xlink:href" not in ada.get(address).content.decode()
    texts = re.findall("<title>([^<]+)</title>", ada.get(curves, {"width": "half"}).content.decode())
    assert any(text.startswith("dull: ADC ") and text.endswith(" at δ = 0.5") for text in texts)
    board = main_of(ada, reverse("study-leaderboard", args=[study.slug, release.number]))
    assert 'data-says="Open its comparison"' in board


def test_the_power_curve_has_costs_below_its_participants(ada):
    study = judged_study(task="likert")
    query = {
        "participants": "10 20",
        "items": "40",
        "reward": "1.50",
        "currency": "GBP",
        "fee": "0",
        "width": "half",
    }
    page = main_of(ada, reverse("study-power", args=[study.slug]), **query)
    assert re.search(r'class="finding">[^<]*, for (15|30).00 GBP[:.]', page), re.search("finding.*", page)[0]
    drawing = ada.get(
        reverse("study-figure", args=[study.slug, "power-planned", "svg"]), query
    ).content.decode()
    assert "15.00 GBP" in drawing and "30.00 GBP" in drawing and "what they cost" in drawing


def test_points_of_a_page_lead_to_judgments_and_files_have_no_links(ada):
    study = judged_study()
    address = reverse("study-figure", args=[study.slug, "items", "svg"])
    drawing = ada.get(address, {"width": "half"}).content.decode()
    (first, *_) = sorted(set(re.findall(r'xlink:href="([^"]+)"', drawing)))
    assert first == f"/studies/{study.slug}/judgments/?item=subject_verb-1"
    assert "<title>The keys 1 are here. / The keys 1 is here.: 83% of 6 as expected" in drawing
    assert "xlink:href" not in ada.get(address).content.decode()
    html = main_of(ada, first)
    assert html.count("The keys 1 are here.") >= 5 and "The keys 2" not in html


@pytest.mark.parametrize("task", ["likert", "yes_no", "forced_choice"])
def test_judgments_are_found_by_item_pair_or_sentence(ada, task):
    study = judged_study(task=task, people=3)
    address = reverse("study-judgments", args=[study.slug])
    each = 1 if task == "forced_choice" else 2
    assert len(ada.get(address, {"item": "subject_verb-2"}).context["rows"]) == 3 * each
    if task != "forced_choice":
        assert len(ada.get(address, {"item": "subject_verb-2-bad"}).context["rows"]) == 3
    assert not ada.get(address, {"item": "nowhere"}).context["rows"]


def test_models_are_shown_as_differences_first_and_as_a_board(ada):
    study = judged_study()
    add_sitting(study, "other")
    release = ready_release(study)
    runs = [scored(study, "bright"), scored(study, "dull")]
    comparison = request_comparison(release, runs, options=Options(), user=cast.ada())
    job_runner.run(comparison.job_id)
    page = main_of(ada, reverse("study-comparison", args=[study.slug, comparison.pk]))
    assert_in_order(page, ('class="finding"', "figures/deltas-", "figures/adc", "<table", "Conventions</h2>"))
    points = ada.get(re.search(r'src="([^"]+deltas-[^"]+)"', page)[1].replace("&amp;", "&")).content.decode()
    assert f"/studies/{study.slug}/judgments/?item=subject_verb-" in points
    assert "The keys 1 are here. | The keys 1 is here.: Δ people" in points
    board = main_of(ada, reverse("study-leaderboard", args=[study.slug, release.number]))
    assert_in_order(board)
    assert "bright is first of 2 models by BLiMP: 1.000" in board
    drawing = ada.get(reverse("study-leaderboard-figure", args=[study.slug, release.number, "csv"]))
    assert {line.split(",")[0] for line in drawing.content.decode().splitlines()[1:]} >= {"model", "constant"}
