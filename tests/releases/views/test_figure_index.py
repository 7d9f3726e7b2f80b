"""All figures of a study on one page and as files: what applies, in every form, and why the rest does not."""

import io
import json
import re

import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.figures import FIGURES, GROUPS
from releases.reports import report_cache
from tests import cast
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(client):
    client.force_login(cast.ada())
    return judged_study()


def address(study, name, form):
    return reverse("study-figure", args=[study.slug, name, form])


def test_the_page_lists_what_applies_with_the_reason_for_the_rest(client, study):
    page = client.get(reverse("study-figures", args=[study.slug])).content.decode()
    assert address(study, "items", "pdf") in page and address(study, "flow", "csv") in page
    assert address(study, "scale-points", "svg") not in page
    assert "Needs Likert ratings; this study collected forced choices." in page
    assert "Nothing is excluded: choose a plan." in page
    nav = client.get(reverse("study-agreement", args=[study.slug])).content.decode()
    assert reverse("study-figures", args=[study.slug]) in nav


def test_each_question_has_a_page_and_the_list_leads_to_all_of_them(client, study):
    index = client.get(reverse("study-figures", args=[study.slug]), {"plan": "none"}).content.decode()
    figure_names = set()
    for group in ("judgments", "effects", "sample", "participants", "times"):
        page = reverse("study-figure-group", args=[study.slug, group])
        assert f"{page}?plan=none" in index
        html = client.get(page, {"plan": "none"}).content.decode()
        names = set(re.findall(r'<h2 id="figure-([^"]+)"', html))
        assert names and not names & figure_names, group
        assert all(GROUPS[name] == group for name in names)
        assert set(re.findall(r'figures/([a-z-]+)\.svg\?plan=none&amp;width=half"', html)) == names
        figure_names |= names
    assert set(re.findall(r'#figure-([^"]+)"', index)) == figure_names
    models = reverse("study-figure-group", args=[study.slug, "models"])
    assert models not in index  # no scores
    assert "No figure of this group applies to this study." in client.get(models).content.decode()
    assert client.get(reverse("study-figure-group", args=[study.slug, "nonsense"])).status_code == 404
    client.force_login(cast.cleo())
    assert client.get(models).status_code == 404


def test_strangers_see_no_figure(client, study):
    client.force_login(cast.cleo())
    assert client.get(reverse("study-figures", args=[study.slug])).status_code == 404
    assert client.get(address(study, "flow", "svg")).status_code == 404


@pytest.mark.parametrize(("form", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_figure_of_the_registry_comes_as_a_file(client, study, form, start):
    answer = client.get(address(study, "flow", form))
    assert answer.content.startswith(start)
    assert f"{study.slug}-flow.{form}" in answer["Content-Disposition"]


def test_the_flow_counts_who_opened_and_finished_and_what_a_plan_removes(client, study):
    rows = pd.read_csv(io.BytesIO(client.get(address(study, "flow", "csv")).content)).set_index("stage")
    assert rows.loc["opened", "participants_left"] == rows.loc["finished", "participants_left"] == 6
    answer = client.get(address(study, "flow", "csv"), {"steps": ["not_native"]})
    assert "after not_native" in answer.content.decode()


@pytest.mark.parametrize("name", ["items", "agreement", "ratings"])
def test_a_study_whose_people_see_one_sentence_of_each_item_has_no_broken_figure(client, name):
    study = cast.study("single", task="likert", n_lists=1)
    cast.sit(study)
    client.force_login(cast.ada())
    for form in ("svg", "csv"):
        assert client.get(address(study, name, form)).status_code == 200
    page = client.get(reverse("study-figures", args=["single"])).content.decode()
    reason = "No participant rated both sides of an item: see the mean ratings."
    assert (address(study, name, "svg") in page) == (name == "ratings")
    assert reason in page


def test_a_figure_that_does_not_apply_states_it_in_the_file(client, study):
    answer = client.get(address(study, "learning-curves", "csv"))
    assert answer.status_code == 200
    assert "No models trained on several amounts of text were compared." in answer.content.decode()
    assert client.get(address(study, "nonsense", "svg")).status_code == 404
    assert client.get(address(study, "flow", "gif")).status_code == 404


def test_a_study_without_answers_has_a_kind_page(client):
    client.force_login(cast.ada())
    empty = cast.study("empty")
    page = client.get(reverse("study-figures", args=[empty.slug])).content.decode()
    assert "There is nothing to draw yet." in page
    for name in FIGURES:
        assert client.get(address(empty, name, "csv")).status_code in (200, 404)


def test_the_command_writes_what_applies_and_nothing_on_bad_input(study, tmp_path, capsys):
    out = tmp_path / "figures"
    call_command(
        "figures", study.slug, "--out", str(out), "--format", "svg,csv", "--only", "flow", "adc", "--json"
    )
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == sorted(f"{study.slug}-flow.{form}" for form in ("csv", "svg"))
    assert sorted(path.name for path in out.iterdir()) == document["files"]
    assert document["not_drawn"] == [
        {"figure": "adc", "reason": "There are no scores of a model on minimal pairs."}
    ]
    for wrong in (["--format", "gif"], ["--only", "flows"], ["--exclude", "nobody"], ["--width", "3"]):
        with pytest.raises(CommandError) as refused:
            call_command("figures", study.slug, "--out", str(tmp_path / "other"), *wrong)
        assert refused.value.returncode == 2
    assert not (tmp_path / "other").exists()


def test_a_figure_is_drawn_once_for_the_same_data(client, study, monkeypatch):
    client.get(address(study, "flow", "svg"))
    monkeypatch.setattr("analysis.figures.draw", lambda *arguments: pytest.fail("drawn again"))
    assert client.get(address(study, "flow", "svg")).status_code == 200
    assert report_cache.CACHE_SECONDS > 0


def test_a_page_keeps_the_place_of_a_figure_free_as_large_as_it_last_came_out(client, study):
    page, plan = reverse("study-figure-group", args=[study.slug, "sample"]), {"exclude": "none"}
    assert 'width="310" height="420"' in client.get(page, plan).content.decode()  # never drawn: a usual size
    theme = {"theme": "dark", "width": "narrow"}
    svg = client.get(address(study, "flow", "svg"), {**plan, **theme}).content.decode()
    height = round(float(re.search(r'<svg[^>]*\sheight="([\d.]+)"', svg)[1]))
    assert height != 420
    placeholder = rf'flow\.svg\?exclude=none&amp;{{}}width=narrow" width="310" height="{height}"'
    html = client.get(page, plan).content.decode()
    assert re.search(placeholder.format("theme=dark&amp;"), html) and re.search(placeholder.format(""), html)


def test_every_figure_of_a_page_has_a_place(client, study):
    html = client.get(reverse("study-figure-group", args=[study.slug, "judgments"])).content.decode()
    tags = re.findall(r"<(?:img|source) [^>]+>", html)
    assert tags
    for tag in tags:
        assert re.search(r'width="\d+" height="\d+"', tag), tag
