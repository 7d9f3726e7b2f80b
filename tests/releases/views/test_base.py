"""The concluding pages through their addresses: members look, editors act, strangers find nothing."""

import io
import json
import re
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from experiments.models import Sentence
from experiments.operation import job_runner
from judgments.models import Judgment
from releases.comparison.compare import Options, lowest_and_highest, request_comparison
from releases.models import Comparison, Release, ScoringRun
from tests import cast
from tests.releases.study import judged_study, ready_release, scored, scores_file

pytestmark = pytest.mark.django_db
PAGES = (
    "study-agreement",
    "study-ratings",
    "study-exclusions",
    "study-items",
    "study-releases",
    "study-models",
    "study-scored-models",
    "study-prompts",
    "study-add-models",
    "study-compare",
    "study-figures",
)


@pytest.mark.parametrize("task", ["forced_choice", "likert", "yes_no"])
def test_every_page_opens_with_data_and_without(ada, task, subtests):
    judged_study("judged", task=task)
    cast.study("empty", task=task, materials=None)
    for name in PAGES:
        for slug in ("judged", "empty"):
            with subtests.test(name, slug=slug):
                answer = ada.get(reverse(name, args=[slug]))
                assert answer.status_code == 200
                assert b"<script>" not in answer.content and b"style=" not in answer.content


def test_strangers_find_nothing_and_visitors_log_in(client, subtests):
    slug = judged_study().slug
    for name in PAGES:
        with subtests.test(name):
            address = reverse(name, args=[slug])
            client.logout()
            assert client.get(address).status_code == 302
            client.force_login(cast.cleo())
            assert client.get(address).status_code == 404
            client.force_login(cast.ben())
            assert client.get(address).status_code == 200


@pytest.mark.parametrize("name", ["study-exclusions", "study-releases", "study-score", "study-compare"])
def test_viewers_change_nothing(client, name):
    study = judged_study()
    client.force_login(cast.ben())
    assert client.post(reverse(name, args=[study.slug]), {"name": "x"}).status_code == 403
    assert b"Build a release" not in client.get(reverse("study-releases", args=[study.slug])).content


def test_agreement_page_shows_ties_rule_and_numbers(ada):
    study = judged_study(people=4)
    pair = study.materials.pairs.first()
    for judgment in pair.trials.order_by("pk")[:1].get().session.trials.filter(pair=pair):
        judgment.judgment.value, judgment.judgment.chosen = 0, pair.bad
        judgment.judgment.save()
    answer = ada.get(reverse("study-agreement", args=[study.slug]), {"rule": "3/4", "ties": "half"})
    page = answer.content.decode()
    assert "1 item tied, rejected" in page and "3 of 4" in page and "included" in page
    report = ada.get(
        reverse("study-agreement-json", args=[study.slug]), {"rule": "3/4", "ties": "half"}
    ).json()
    assert (report["rule"], report["ties"], report["overall"]["items_right"]) == ("3/4", "half", 3)
    table = ada.get(reverse("study-agreement-csv", args=[study.slug])).content.decode()
    assert table.splitlines()[0].startswith("paradigm,phenomenon,items,items_right,ties")


def test_unknown_rule_is_reported_beside_its_field(ada):
    answer = ada.get(reverse("study-agreement", args=[judged_study().slug]), {"rule": "blimpp"})
    assert answer.status_code == 400 and b"Did you mean &#x27;blimp&#x27;" in answer.content


def test_exclusion_form_writes_versions(ada):
    study = judged_study()
    address = reverse("study-exclusions", args=[study.slug])
    form = {"name": "careful", "steps": ["catch_failed", "too_few"], "max_errors": 1, "minimum": 2}
    assert ada.post(address, form, follow=True).status_code == 200
    ada.post(address, {**form, "max_errors": 2})
    assert [plan.version for plan in study.exclusion_plans.all()] == [2, 1]
    page = ada.get(address, {"plan": "careful"}).content.decode()
    assert "Judgments left by careful" in page and "What each step removes alone" in page
    assert "failed a catch trial</th>" in page and "catch failed" not in page
    refused = ada.post(address, {"name": "flagged", "steps": ["flagged"]})
    assert refused.status_code == 400 and b"cannot name a plan" in refused.content


def test_contested_items_come_first(ada):
    study = judged_study(people=5)
    page = ada.get(reverse("study-items", args=[study.slug]))
    assert page.content.decode().count("The keys") == 8
    assert page.context["items"][0]["share"] == pytest.approx(0.8)


def test_items_of_a_latin_square_are_sorted_by_how_far_ratings_differ(ada):
    study = judged_study("rated", people=6, task="likert")
    sessions = list(study.sessions.order_by("pk"))
    items = sorted(set(study.sessions.values_list("trials__item", flat=True)) - {None})
    for number, session in enumerate(sessions):  # nobody keeps both sentences of an item
        for place, item in enumerate(items):
            removed_status = ["acceptable", "unacceptable"][(number + place) % 2]
            session.trials.filter(item=item, sentence__expected=removed_status).delete()
    for number, judgment in enumerate(Judgment.objects.filter(trial__item=items[-1])):
        Judgment.objects.filter(pk=judgment.pk).update(value=1 + number % 7)
    page = ada.get(reverse("study-items", args=[study.slug]))
    html = page.content.decode()
    assert "as in every Latin square" in html and "no data" not in html and "As expected" not in html
    spreads = [row["spread"] for row in page.context["items"]]
    assert spreads == sorted(spreads, reverse=True) and spreads[0] > 0


def test_items_show_sides_and_times(ada):
    study = judged_study(people=5)
    Judgment.objects.update(rt_ms=1234)
    page = ada.get(reverse("study-items", args=[study.slug]))
    row = page.context["items"][0]
    assert row["median_rt_ms"] == 1234 and "1,234 ms" in page.content.decode()
    assert row["n_sided"] in (0, 5) and "First chosen" in page.content.decode()
    rated = judged_study("rated", task="likert")
    other = ada.get(reverse("study-items", args=[rated.slug])).content.decode()
    assert "Median time" in other and "First chosen" not in other


def test_release_is_built_and_downloaded(ada):
    study = judged_study()
    answer = ada.post(
        reverse("study-releases", args=[study.slug]), {"rule": "blimp", "ties": "strict", "title": "For us"}
    )
    release = Release.objects.get()
    assert answer.url == reverse("study-release", args=[study.slug, 1])
    assert b"waiting" in ada.get(answer.url).content
    job_runner.run(release.job_id)
    release.refresh_from_db()
    assert release.sha256.encode() in ada.get(answer.url).content
    packed = b"".join(ada.get(reverse("study-release-zip", args=[study.slug, 1])).streaming_content)
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert f"{study.slug}-1/manifest.json" in names and len(names) == len(release.manifest["files"]) + 1
    file = ada.get(reverse("study-release-file", args=[study.slug, 1, "human.csv"]))
    assert b"".join(file.streaming_content).startswith(b"sentence_id,score,n,sd\n")


@pytest.mark.parametrize("name", ["secret.txt", "..", "%2e%2e%2fmanifest.json"])
def test_only_files_of_the_manifest_are_served(ada, name):
    study = judged_study()
    ready_release(study)
    assert ada.get(f"/studies/{study.slug}/releases/1/files/{name}").status_code == 404


def test_model_is_uploaded_scored_and_compared(ada):
    study = judged_study(task="likert", people=8)
    release = ready_release(study)
    upload = SimpleUploadedFile("scores.csv", scores_file(study).read())
    ada.post(reverse("study-score", args=[study.slug]), {"file": upload, "column": "bright", "method": "lp"})
    run = ScoringRun.objects.get()
    job_runner.run(run.job_id)
    form = {"release": release.pk, "runs": [run.pk], "deltas": "0.5 1 5", "signs": "strict"}
    answer = ada.post(reverse("study-compare", args=[study.slug]), form)
    comparison = Comparison.objects.get()
    assert answer.url == reverse("study-comparison", args=[study.slug, comparison.pk])
    Sentence.objects.update(attributes={"heard": "a.wav"})
    job_runner.run(comparison.job_id)
    page = ada.get(answer.url).content.decode()
    for words in ("People, another sample", "Same answer for every pair", "chance", "bright"):
        assert words in page, words
    read_context = "bright read a text before each sentence that participants were not shown"
    assert read_context not in page
    ScoringRun.objects.update(spec={"in_context": True})
    assert read_context in " ".join(ada.get(answer.url).content.decode().split())
    assert "heard names files. Models read the text" in page
    sections = {
        "pairs": ["Largest differences between bright and people", "figures/deltas-0.svg"],
        "intervals": [
            "Intervals</h2>",
            "60 half-samples of participants within list and the jackknife over",
            "On people’s scale",
        ],
    }
    for name, texts in sections.items():
        address = reverse("study-depth", args=[study.slug, comparison.pk, name])
        assert address in page
        section = ada.get(address).content.decode()
        assert 'class="finding"' in section and "Conventions</h2>" in section
        for words in texts:
            assert words in section, words
    assert ada.get(reverse("study-comparison-json", args=[study.slug, comparison.pk])).json()["pairs"] == 4
    assert "Models against people" in ada.get(reverse("study-models", args=[study.slug])).content.decode()


def test_models_have_a_page_for_each_question_and_viewers_see_no_form(client):
    study = judged_study(task="likert")
    client.force_login(cast.ada())
    empty = client.get(reverse("study-models", args=[study.slug])).content.decode()
    assert "No model has scored the sentences of this study yet." in empty
    assert "Build a release" in client.get(reverse("study-compare", args=[study.slug])).content.decode()
    run = scored(study, "bright")
    ready_release(study)
    address = {part: reverse(f"study-{part}", args=[study.slug]) for part in ("scored-models", "add-models")}
    assert run.name in client.get(address["scored-models"]).content.decode()
    assert 'name="runs"' in client.get(reverse("study-compare", args=[study.slug])).content.decode()
    add_page = client.get(address["add-models"]).content.decode()
    assert 'id="upload"' in add_page and 'id="several"' in add_page and run.name not in add_page
    refused = client.post(reverse("study-score", args=[study.slug]), {"method": "lp"})
    assert refused.status_code == 400 and 'id="upload"' in refused.content.decode()
    client.force_login(cast.ben())
    for name in ("study-models", "study-add-models", "study-compare"):
        page = client.get(reverse(name, args=[study.slug])).content.decode().partition("<main")[2]
        assert "<form" not in page and address["add-models"] not in page, name


def test_chance_is_shown_once_in_a_comparison_from_the_lowest_to_the_highest_of_its_models(ada):
    study = judged_study(task="likert", people=8)
    runs = [scored(study, "bright"), scored(study, "dull")]
    comparison = request_comparison(ready_release(study), runs, options=Options((0.5, 1.0)), user=cast.ada())
    job_runner.run(comparison.job_id)
    page = ada.get(reverse("study-comparison", args=[study.slug, comparison.pk]))
    assert page.content.decode().count("own scores randomly permuted") == 1
    comparison.refresh_from_db()
    chances = [model["chance"]["0.5"] for model in comparison.report["models"]]
    low, high = page.context["chance"][1]
    assert low == min(chances) and high in {max(chances), None}


def test_the_highest_is_left_out_where_it_reads_as_the_lowest():
    assert lowest_and_highest([0.4971, 0.4974, None]) == (0.4971, None)
    assert lowest_and_highest([0.12, 0.1]) == (0.1, 0.12)
    assert lowest_and_highest([None]) == (None, None)


def test_a_release_states_what_each_file_holds_and_when_people_answered(ada):
    study = judged_study()
    ready_release(study)
    page = ada.get(reverse("study-release", args=[study.slug, 1]))
    files, folders = page.context["files"], page.context["folders"]
    assert all(file["holds"] for file in [*files, *folders])
    assert [folder["name"] for folder in folders] == ["lm_eval/"]
    assert all(file["path"].startswith("lm_eval/") for file in folders[0]["files"]) and folders[0]["files"]
    assert not [file for file in files if "/" in file["path"]], "tasks are listed apart, folded"
    assert re.search(r"Answers</dt><dd>\d{4}-\d\d-\d\d \d\d:\d\d UTC to ", page.content.decode())


def test_the_form_says_whom_the_citation_names(ada):
    study = judged_study()
    address = reverse("study-releases", args=[study.slug])
    assert "has no first and last name" in ada.get(address).content.decode()
    study.owner.first_name, study.owner.last_name = "Ada", "Lovelace"
    study.owner.save()
    assert "name Ada Lovelace, the study’s owner, as author" in ada.get(address).content.decode()


@pytest.mark.parametrize("value", [{"deltas": "wide"}, {"deltas": "-1"}, {"runs": []}])
def test_bad_comparison_is_reported(ada, value):
    study = judged_study()
    form = {
        "release": ready_release(study).pk,
        "runs": [scored(study, "bright").pk],
        "deltas": "1",
        "signs": "strict",
    }
    assert ada.post(reverse("study-compare", args=[study.slug]), {**form, **value}).status_code == 400
    assert not Comparison.objects.exists()


def test_figures_come_in_every_form(ada):
    study = judged_study(task="likert", people=8)
    comparison = request_comparison(ready_release(study), [scored(study, "bright")])
    job_runner.run(comparison.job_id)
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b"", "json": b"{"}
    for form, start in starts.items():
        answer = ada.get(reverse("study-figure", args=[study.slug, "agreement", form]))
        assert answer.status_code == 200 and answer.content.startswith(start), form
    for name in ("items", "ratings"):
        assert ada.get(reverse("study-figure", args=[study.slug, name, "csv"])).status_code == 200
    for name in ("adc", "deltas-0", "paradigms"):
        address = reverse("study-comparison-figure", args=[study.slug, comparison.pk, name, "svg"])
        assert ada.get(address, {"theme": "dark", "width": "narrow"}).content.startswith(b"<svg"), name
    for name in ("deltas-7", "deltas-x", "nothing"):
        address = reverse("study-comparison-figure", args=[study.slug, comparison.pk, name, "svg"])
        assert ada.get(address).status_code == 404
    assert ada.get(reverse("study-figure", args=[study.slug, "agreement", "exe"])).status_code == 404
    empty = ada.get(reverse("study-figure", args=[cast.study("empty").slug, "agreement", "csv"]))
    assert empty.status_code == 200 and "Nothing to draw" in empty.content.decode()


def test_every_figure_on_a_page_has_words_for_those_who_do_not_see_it(ada):
    page = ada.get(reverse("study-agreement", args=[judged_study().slug])).content.decode()
    assert page.count("<img") == 2
    assert 'alt="Individual agreement by paradigm; the lowest of 1 is subject_verb with 83 %."' in page


def test_page_and_command_give_the_same_numbers(ada, capsys):
    study = judged_study()
    call_command("agreement", study.slug, rule="blimp", json=True)
    document = json.loads(capsys.readouterr().out)
    assert ada.get(reverse("study-agreement-json", args=[study.slug]), {"rule": "blimp"}).json() == document
