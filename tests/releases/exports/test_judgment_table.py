"""The download of judgments for analysis: what an analysis needs is in each row, and nothing else."""

import csv
import io
import json

import pytest
from django.urls import reverse

from experiments.models import TrialKind
from experiments.templatetags.navigation import page_groups
from judgments.flags import raise_flag
from judgments.models import Judgment, Trial
from releases.gold.plans import set_current_plan, write_plan
from tests import cast
from tests.experiments import factorial
from tests.releases.study import add_sitting, judged_study

pytestmark = pytest.mark.django_db
STEP = {"name": "by hand", "scope": "participant", "rule": "flagged"}


def rows_of(client, study, **query):
    answer = client.get(reverse("api-judgments-csv", args=[study.slug]), query)
    assert answer.status_code == 200, answer.content
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def with_other_trials(study):
    """A filler and a wrong catch trial at the end of the first session."""
    session = study.sessions.order_by("pk").first()
    sentence = study.materials.sentences.first()
    for position, kind in ((90, TrialKind.FILLER), (91, TrialKind.CATCH)):
        trial_fields = {"sentence": sentence, "item": sentence.item} if kind == TrialKind.FILLER else {}
        screen = {"text": "Please choose 1."} if kind == TrialKind.CATCH else {}
        trial = Trial.objects.create(
            session=session, position=position, kind=kind, shown=screen, **trial_fields
        )
        Judgment.objects.create(trial=trial, response="7", value=7, received_at=session.completed_at)


def test_ratings_have_sentence_z_and_list(ada):
    study = judged_study(task="likert")
    rows = rows_of(ada, study)
    texts = dict(study.materials.sentences.values_list("key", "text"))
    assert [row["sentence"] for row in rows] == [texts[row["sentence_id"]] for row in rows]
    assert {row["expected"] for row in rows} == {"acceptable", "unacceptable"}
    assert {row["list"] for row in rows} == {study.lists.first().label}
    report = ada.get(reverse("study-ratings-json", args=[study.slug])).json()
    means = {item["sentence_id"]: item["mean"] for item in report["items"]}
    for key, mean in means.items():
        z = [float(row["z"]) for row in rows if row["sentence_id"] == key]
        assert sum(z) / len(z) == pytest.approx(mean)


def test_a_choice_has_both_members_and_which_was_chosen(ada):
    study = judged_study()
    for row in rows_of(ada, study):
        pair = study.materials.pairs.get(good__item__key=row["item"])
        assert (row["sentence_good"], row["sentence_bad"]) == (pair.good.text, pair.bad.text)
        member = pair.good if row["value"] == "1.0" else pair.bad
        assert row["chosen"] == ("good" if member == pair.good else "bad")
        assert (row["sentence"], row["sentence_id"]) == (member.text, member.key)
    assert "z" not in rows_of(ada, study)[0]


def test_both_and_neither_are_named_and_have_no_chosen_sentence(ada):
    study = judged_study()
    Judgment.objects.filter(pk=Judgment.objects.first().pk).update(response="both", chosen=None, value=0)
    row = rows_of(ada, study)[0]
    assert (row["chosen"], row["sentence"], row["sentence_id"]) == ("both", "", "")
    assert row["sentence_good"] and row["sentence_bad"]


def test_fillers_and_catch_trials_come_only_when_asked_for(ada):
    study = judged_study(task="likert")
    with_other_trials(study)
    assert {row["kind"] for row in rows_of(ada, study)} == {"target"}
    assert {row["kind"] for row in rows_of(ada, study, kinds="target,filler")} == {"target", "filler"}
    everything = rows_of(ada, study, kinds="all")
    assert {row["kind"] for row in everything} == {"target", "filler", "catch"}
    assert [row["sentence"] for row in everything if row["kind"] == "catch"] == ["Please choose 1."]
    assert len(rows_of(ada, study, columns="raw")) == len(everything)
    assert len(rows_of(ada, study, columns="contract", kinds="catch")) == 1


def test_fillers_belong_to_the_scale_of_z_though_they_are_left_out(ada):
    study = judged_study(task="likert")
    before = [row["z"] for row in rows_of(ada, study)]
    with_other_trials(study)
    after = [row["z"] for row in rows_of(ada, study)]
    person = rows_of(ada, study)[0]["participant"]
    n = sum(row["participant"] == person for row in rows_of(ada, study))
    assert before[:n] != after[:n] and before[n:] == after[n:]


def test_excluded_judgments_are_marked_with_step_and_plan_or_dropped(ada):
    study = judged_study(task="likert")
    last = study.participants.order_by("-pk").first()
    raise_flag(last, "asleep", by=cast.ada())
    assert {(row["exclusion"], row["exclusion_plan"]) for row in rows_of(ada, study)} == {("", "none")}
    write_plan(study, "careful", steps=[STEP], user=cast.ada())
    set_current_plan(study, "careful")
    rows = rows_of(ada, study)
    assert {row["exclusion_plan"] for row in rows} == {"careful@1"}
    marked = {row["participant"]: row["exclusion"] for row in rows}
    assert marked[last.pseudonym] == "by hand" and sorted(set(marked.values())) == ["", "by hand"]
    assert all((row["z"] == "") == (row["exclusion"] != "") for row in rows)
    remaining = rows_of(ada, study, excluded="drop")
    assert {row["exclusion"] for row in remaining} == {""} and len(remaining) == len(rows) - 8
    assert {row["exclusion_plan"] for row in rows_of(ada, study, exclude="none")} == {"none"}


def test_magnitudes_have_z_of_their_logarithms(ada):
    study = cast.study("sizes", task="magnitude_estimation")
    for name in ("pia", "quentin"):
        cast.sit(study, name)
    row = rows_of(ada, study)[0]
    assert "z" in row and "z_log" in row


def test_factors_are_columns_with_their_levels(ada, tmp_path):
    study = factorial.study(tmp_path)
    row_names = ada.get(reverse("study-downloads", args=[study.slug])).context["columns"]
    assert row_names.index("paradigm") < row_names.index("structure") < row_names.index("distance")
    assert row_names.index("distance") < row_names.index("sentence") < row_names.index("z")


def test_lines_hold_the_same_as_the_table(ada):
    study = judged_study(task="likert")
    answer = ada.get(reverse("api-judgments-jsonl", args=[study.slug]))
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).decode().splitlines()]
    rows = rows_of(ada, study)
    assert list(lines[0]) == list(rows[0])
    assert [line["sentence"] for line in lines] == [row["sentence"] for row in rows]
    assert lines[0]["exclusion"] is None and isinstance(lines[0]["z"], float)


@pytest.mark.parametrize(
    ("query", "status"),
    [({"kinds": "targets"}, 422), ({"columns": "tidy"}, 400), ({"exclude": "nobody"}, 422)],
)
def test_unknown_choices_are_refused(ada, query, status):
    study = judged_study()
    answer = ada.get(reverse("api-judgments-csv", args=[study.slug]), query)
    assert answer.status_code == status


def test_the_page_states_what_is_left_out_and_links_the_file_as_chosen(ada):
    study = judged_study(task="likert")
    with_other_trials(study)
    write_plan(study, "careful", steps=[STEP], user=cast.ada())
    set_current_plan(study, "careful")
    address = reverse("study-downloads", args=[study.slug])
    page = " ".join(ada.get(address).content.decode().split())
    assert "48 judgments of targets. Left out: 1 of fillers, 1 of catch trials." in page
    assert "judgments.csv?exclude=careful%401&amp;kinds=target&amp;excluded=mark" in page
    assert "Exclusions: careful v1" in page
    assert 'value="target" id="id_kinds_0" checked' in page and 'id="id_kinds_1" checked' not in page
    page = ada.get(
        address, {"kinds": ["target", "filler"], "excluded": "drop", "plan": "none"}
    ).content.decode()
    assert "exclude=none&amp;kinds=target%2Cfiller&amp;excluded=drop" in page


def test_strangers_find_no_downloads(client):
    study = judged_study()
    add_sitting(study, "late")
    client.force_login(cast.cleo())
    assert client.get(reverse("study-downloads", args=[study.slug])).status_code == 404
    client.force_login(cast.ben())
    assert client.get(reverse("study-downloads", args=[study.slug])).status_code == 200


def test_downloads_are_in_the_group_data_of_the_navigation(ada):
    study = cast.study("agreement")
    here = next(group for group in page_groups(study, "downloads") if group.is_here)
    entry = next(page for page in here.pages if page.is_here)
    assert (here.label, entry.label) == ("Data", "Downloads")
    beside = ada.get(reverse("study-judgments", args=[study.slug])).content.decode()
    assert f'href="{entry.address}"' in beside
