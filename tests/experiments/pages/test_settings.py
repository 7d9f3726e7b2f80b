"""The settings of a study: forms a linguist can fill, errors that name the line."""

import pytest
from django.forms.models import model_to_dict

from experiments.models import Experiment, Lab
from experiments.pages.settings import ParametersForm, SettingsForm
from experiments.studies.lifecycle import snapshot
from experiments.tasks.registry import get_task
from tests import cast

pytestmark = pytest.mark.django_db


def filled(study, **changes):
    """What a browser would send when the page is saved as it is, with some changes."""
    form = SettingsForm(instance=study, user=cast.ada())
    parameters = ParametersForm(get_task(study.task), study.parameters)
    sent = {name: form.get_initial_for_field(form.fields[name], name) for name in form.fields}
    sent |= {f"task-{name}": parameters.initial[name] for name in parameters.fields}
    sent |= changes
    return {name: value for name, value in sent.items() if value is not None}


def test_right_answers_below_nought_can_be_written_and_come_back_as_they_were(client):
    checks = [
        {"text": "Please choose minus two.", "correct": -2, "check": "instruction"},
        {"text": "The is.", "correct": [-3, -1]},
    ]
    study = cast.draft(
        "agreement", task="likert", parameters={"points": 7, "lowest": -3}, catch_trials=checks
    )
    client.force_login(cast.ada())
    sent = filled(study)
    assert "The is. | -3--1" in sent["catch_trials"]
    assert client.post("/studies/agreement/settings/", sent).status_code == 302
    study.refresh_from_db()
    assert study.catch_trials == checks
    sent["catch_trials"] = "The is. | −3 to −1"
    client.post("/studies/agreement/settings/", sent)
    study.refresh_from_db()
    assert study.catch_trials == checks[1:]


def test_pay_above_the_limit_of_the_lab_or_of_the_platform_is_refused_beside_its_field(client):
    lab = cast.lab(ada="manager")
    Lab.objects.update(payment_limits={"GBP": 200})
    study = cast.draft("agreement", lab=lab)
    client.force_login(cast.ada())
    for pay, words in [
        ({"reward_minor": "201"}, "more than the lab Syntax lab allows"),
        ({"reward_minor": "5", "currency": "EUR"}, "does not pay in EUR"),
        ({"reward_minor": str(10**12)}, "more than the platform allows"),
    ]:
        page = client.post("/studies/agreement/settings/", filled(study, **pay))
        assert page.status_code == 200 and words in page.content.decode(), pay
    study.refresh_from_db()
    assert (study.reward_minor, study.currency) == (0, "GBP")
    sent = filled(study, reward_minor="200", currency="GBP")
    assert client.post("/studies/agreement/settings/", sent).status_code == 302


def test_saving_unchanged_settings_changes_nothing(client):
    study = cast.draft(
        "agreement", questionnaire=[{"name": "age", "label": "Age?", "type": "number", "min": 18}]
    )
    before = model_to_dict(study)
    client.force_login(cast.ada())
    assert client.post("/studies/agreement/settings/", filled(study)).status_code == 302
    study.refresh_from_db()
    after = model_to_dict(study)
    assert "question" not in after.pop("parameters")  # ours, in the language of the study
    before.pop("parameters")
    assert after == before


def test_options_that_a_line_cannot_express_survive_saving(client):
    options = {
        "practice": [{"options": [{"text": "A | b."}, {"text": "B; a."}], "language": "de"}],
        "anchors": [{"options": [{"text": "One."}, {"text": "Two."}]}] * 2,
        "catch_trials": [{"options": [{"text": "Bad the."}, {"text": "Good."}], "correct": 1}],
        "questionnaire": [
            {"name": "tongue", "label": "Which | one?", "type": "choice", "choices": ["a; b", "No, never"],
             "screen_out": ["No, never"]},
        ],
        "quiz": [{"question": "Fast; | slow?", "right": "Fast; yes", "wrong": ["Slow; wrong", "No | way"]}],
    }  # fmt: skip
    study = cast.draft("agreement", **options)
    client.force_login(cast.ada())
    sent = filled(study)
    assert client.post("/studies/agreement/settings/", sent).status_code == 302
    study.refresh_from_db()
    assert {name: getattr(study, name) for name in options} == options
    sent["anchors"] = sent["anchors"].splitlines()[0] + "\nThree. | Four."
    client.post("/studies/agreement/settings/", sent)
    study.refresh_from_db()
    new = {"options": [{"text": "Three."}, {"text": "Four."}], "correct": 0}
    assert study.anchors == [options["anchors"][0], new]


def test_an_answer_with_a_comma_may_be_native_or_screen_out(client):
    study = cast.draft("agreement")
    client.force_login(cast.ada())
    line = "German? | choice: Yes, always; No, never | required, native: Yes, always, screen_out: No, never"
    client.post("/studies/agreement/settings/", filled(study, questionnaire=line))
    study.refresh_from_db()
    (row,) = study.questionnaire
    assert (row["native"], row["screen_out"], row["required"]) == (["Yes, always"], ["No, never"], True)


def test_lines_become_catch_trials_and_questions(client):
    study = cast.draft("agreement")
    client.force_login(cast.ada())
    lines = "The cat sleeps. | Cat the sleeps.\n\nA dog barks. | Barks dog a. | Yes."
    questions = "Is English your first language? | yes-no | required, native\nDialect? | choice: north; south"
    sent = filled(study, catch_trials=lines, questionnaire=questions)
    client.post("/studies/agreement/settings/", sent)
    study.refresh_from_db()
    assert study.catch_trials[1] == {
        "options": [{"text": "A dog barks."}, {"text": "Barks dog a."}],
        "correct": 0,
        "feedback": "Yes.",
    }
    first, second = study.questionnaire
    assert first["role"] == "native_language" and first["required"] is True
    assert second["choices"] == ["north", "south"] and second["name"] == "dialect"


def test_an_instruction_check_is_marked_in_its_line_and_comes_back_as_written(client):
    study = cast.draft("agreement", task="likert", parameters={})
    client.force_login(cast.ada())
    marked = "Check: instruction | markup: inline | Choose <b>3</b>. | 3"
    lines = f"check: instruction | Please choose 2. | 2\n{marked}\nSat he. | 1-2"
    client.post("/studies/agreement/settings/", filled(study, catch_trials=lines))
    study.refresh_from_db()
    assert study.catch_trials[0] == {"text": "Please choose 2.", "correct": 2, "check": "instruction"}
    assert study.catch_trials[1]["markup"] == "inline" and study.catch_trials[1]["check"] == "instruction"
    assert "check" not in study.catch_trials[2]
    before = study.catch_trials
    client.post("/studies/agreement/settings/", filled(study))
    study.refresh_from_db()
    assert study.catch_trials == before
    page = client.post("/studies/agreement/settings/", filled(study, practice=lines)).content.decode()
    assert "practice trial 1 has check" in page.lower()


@pytest.mark.parametrize(
    ("field", "lines", "says"),
    [
        ("catch_trials", "One sentence only.", "Line 1 has one sentence."),
        ("catch_trials", "a | b\na | b | c | d", "Line 2 has more than three parts."),
        ("catch_trials", "Same. | Same.", "two different sentences"),
        ("questionnaire", "Age? | digits", "Line 1 is of unknown kind"),
        ("questionnaire", "Sex? | choice: one", "fewer than two choices"),
        ("questionnaire", "Age? | number | must", "unknown remark"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_nothing_is_saved(client, field, lines, says):
    study = cast.draft("agreement")
    client.force_login(cast.ada())
    page = client.post("/studies/agreement/settings/", filled(study, title="Changed", **{field: lines}))
    assert says in page.content.decode()
    study.refresh_from_db()
    assert study.title == "Study agreement"


def test_right_answers_of_sentences_are_numbers_ranges_or_words(client):
    study = cast.draft("ratings", task="likert")
    client.force_login(cast.ada())
    sent = filled(study, catch_trials="Good one. | 6-7\nBad one. | 1\nOther. | yes")
    client.post("/studies/ratings/settings/", sent)
    study.refresh_from_db()
    assert [row["correct"] for row in study.catch_trials] == [[6, 7], 1, 1]


def test_parameters_are_checked_by_the_task(client):
    study = cast.draft("ratings", task="likert")
    client.force_login(cast.ada())
    page = client.post("/studies/ratings/settings/", filled(study, **{"task-points": "1"}))
    assert "a scale of 1 points is impossible" in page.content.decode().lower()
    client.post("/studies/ratings/settings/", filled(study, **{"task-points": "5", "task-labels": ""}))
    study.refresh_from_db()
    assert (study.parameters["points"], study.parameters["labels"]) == (5, [])


def test_task_changes_in_draft_only(client):
    draft, opened = cast.draft("draft-one"), cast.study("open-one")
    client.force_login(cast.ada())
    for study in (draft, opened):
        client.post(f"/studies/{study.slug}/settings/task/", {"task": "likert"})
        study.refresh_from_db()
    assert (draft.task, opened.task) == ("likert", "forced_choice")


def test_viewer_reads_but_cannot_save_and_stranger_finds_nothing(client):
    study = cast.draft("agreement")
    client.force_login(cast.ben())
    assert client.get("/studies/agreement/settings/").status_code == 200
    assert client.post("/studies/agreement/settings/", filled(study, title="Mine")).status_code == 403
    client.force_login(cast.cleo())
    assert client.get("/studies/agreement/settings/").status_code == 404
    assert Experiment.objects.get().title == "Study agreement"


def test_materials_stay_once_the_study_was_opened(client):
    study, other = cast.study("agreement"), cast.material_set("other")
    client.force_login(cast.ada())
    client.post("/studies/agreement/settings/", filled(study, materials=other.pk, debrief="Thanks!"))
    study.refresh_from_db()
    assert (study.materials.name, study.debrief) == ("agreement", "Thanks!")


@pytest.mark.parametrize("page", ["", "settings/", "settings/task/", "design/", "judgments/"])
def test_study_of_a_task_that_is_only_imported_still_opens(client, page):
    cast.draft("mega", task="ranking", origin=Experiment.Origin.IMPORTED)
    client.force_login(cast.ada())
    assert client.get(f"/studies/mega/{page}").status_code == 200


def test_a_declared_treatment_is_chosen_from_a_list_and_frozen_with_the_version(client):
    study = cast.draft("agreement")
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/settings/task/").content.decode()
    assert '<select name="task-undecided"' in page and "as one half for each member" in page
    sent = filled(study, **{"task-offer_both": "on", "task-undecided": "sometimes"})
    assert client.post("/studies/agreement/settings/", sent).status_code == 200
    study.refresh_from_db()
    assert "undecided" not in study.parameters
    client.post("/studies/agreement/settings/", sent | {"task-undecided": "half"})
    study.refresh_from_db()
    assert (study.parameters["offer_both"], study.parameters["undecided"]) == (True, "half")
    assert snapshot(study)["parameters"]["undecided"] == "half"


@pytest.mark.parametrize("mark", ["0", "1.5", "much"])
def test_a_pass_mark_is_a_correlation(client, mark):
    study = cast.draft("lines", task="magnitude_estimation")
    client.force_login(cast.ada())
    sent = filled(study, **{"task-training": "on", "task-pass_mark": mark})
    assert client.post("/studies/lines/settings/", sent).status_code == 200
    client.post("/studies/lines/settings/", sent | {"task-pass_mark": "0.85"})
    study.refresh_from_db()
    assert (study.parameters["training"], study.parameters["pass_mark"]) == (True, 0.85)


@pytest.mark.parametrize(("task", "is_told"), [("magnitude_estimation", True), ("likert", False)])
def test_choosing_magnitude_estimation_shows_its_costs(client, task, is_told):
    cast.draft("agreement", task=task)
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/settings/task/").content.decode()
    assert ("scatter more than Likert ratings" in page) is is_told
