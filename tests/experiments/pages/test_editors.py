"""Two editors of one study: nothing that is saved or typed is lost, and the history keeps every value."""

import pytest
from django.utils.html import strip_tags

from experiments.models import Membership
from experiments.pages.settings_steps import STEPS
from experiments.studies.lifecycle import document_sha256, freeze_preview, snapshot
from tests import cast
from tests.experiments.pages.page_forms import sent_by_browser

pytestmark = pytest.mark.django_db
SETTINGS = "/studies/agreement/settings/"
CONSENT = "We keep your answers for five years.\n\nYou may stop at any time."


@pytest.fixture
def study():
    study = cast.draft(
        "agreement",
        task="likert",
        consent=CONSENT,
        debrief="",
        practice=[{"text": "A dog barks.", "correct": [6, 7], "feedback": "Fine."}],
        catch_trials=[{"text": "Cat the is.", "correct": 1}, {"text": "Dog a.", "correct": [1, 2]}],
        questionnaire=[{"name": "age", "label": "Age?", "type": "number", "min": 18}],
        quiz=[{"question": "How?", "right": "Fast", "wrong": ["Slow"]}],
    )
    Membership.objects.filter(user=cast.ben()).update(role=Membership.Role.EDITOR)
    return study


@pytest.fixture
def editors(client):
    """Two browsers, of Ada and of Ben."""
    other = type(client)()
    client.force_login(cast.ada())
    other.force_login(cast.ben())
    return client, other


def opened(browser, page=f"{SETTINGS}texts/", form="settings"):
    """The page's form as a browser would send it back, unchanged; by default the texts of the settings."""
    return sent_by_browser(browser.get(page).content.decode(), form)


def step(name):
    """The page of one step of the settings."""
    return f"{SETTINGS}{name}/"


def changes(study, action="settings changed"):
    return [entry.details["changes"] for entry in study.audit.filter(action=action)]


def test_saving_a_page_unchanged_changes_and_logs_nothing_and_keeps_a_dry_run_valid(study, editors):
    ada, _ = editors
    freeze_preview(study)
    study.refresh_from_db()
    before = {field.name: getattr(study, field.name) for field in study._meta.concrete_fields}
    tested = document_sha256(snapshot(study))
    for name in [*STEPS, *STEPS]:
        assert ada.post(SETTINGS, opened(ada, step(name))).status_code == 302
    study.refresh_from_db()
    assert {field.name: getattr(study, field.name) for field in study._meta.concrete_fields} == before
    assert document_sha256(snapshot(study)) == tested
    assert not study.audit.exists()


def test_a_stored_text_with_carriage_returns_or_outer_spaces_is_left_as_it_is(study, editors):
    ada, _ = editors
    study.instructions = "Read.\r\n\r\nAnswer. "
    study.save()
    ada.post(SETTINGS, opened(ada) | {"debrief": "One.\r\nTwo."})
    study.refresh_from_db()
    assert (study.instructions, study.debrief) == ("Read.\r\n\r\nAnswer. ", "One.\nTwo.")
    assert [list(change) for change in changes(study)] == [["debrief"]]


def test_an_unchanged_design_logs_nothing(study, editors):
    ada, _ = editors
    page = "/studies/agreement/design/"
    ada.post(page, opened(ada, page, "design") | {"n_lists": "2"})
    assert changes(study, "design changed") == [{"n_lists": {"old": 4, "new": 2}}]
    for _ in range(2):
        ada.post(page, opened(ada, page, "design"))
    assert len(changes(study, "design changed")) == 1


def test_a_change_is_kept_with_old_and_new_value_and_shown_in_the_history(study, editors):
    ada, _ = editors
    for name, sent in [
        ("texts", {"consent": CONSENT.replace("five", "ten")}),
        ("checks", {"practice": "", "catch_trials": "Dog a. | 1-2"}),
        ("task", {"task-points": "5"}),
    ]:
        assert ada.post(SETTINGS, opened(ada, step(name)) | sent).status_code == 302
    assert len(changes(study)) == 3
    change = {field: values for entry in changes(study) for field, values in entry.items()}
    assert change["consent"] == {"old": CONSENT, "new": CONSENT.replace("five", "ten")}
    assert change["task points"] == {"old": 7, "new": 5}
    assert change["catch_trials"]["old"][0]["text"] == "Cat the is."
    page = ada.get("/studies/agreement/history/").content.decode()
    assert "<del>five </del><ins>ten </ins>" in page and "Cat the is." in page
    overview = ada.get("/studies/agreement/").content.decode()
    assert "consent" in overview and "ten years" not in overview


def test_the_history_is_for_members_only(study, client):
    client.force_login(cast.cleo())
    assert client.get("/studies/agreement/history/").status_code == 404


def test_a_form_opened_before_anothers_save_overwrites_nothing(study, editors):
    ada, ben = editors
    of_ada, of_ben = opened(ada), opened(ben)
    assert ada.post(SETTINGS, of_ada | {"consent": "Ten years."}).status_code == 302
    answer = ben.post(SETTINGS, of_ben | {"debrief": "We studied agreement."})
    page = answer.content.decode()
    assert answer.status_code == 409
    study.refresh_from_db()
    assert (study.consent, study.debrief) == ("Ten years.", "")
    merged = sent_by_browser(page, "settings")  # one more Save stores both
    assert (merged["consent"], merged["debrief"]) == ("Ten years.", "We studied agreement.")
    assert ben.post(SETTINGS, merged).status_code == 302
    study.refresh_from_db()
    assert (study.consent, study.debrief) == ("Ten years.", "We studied agreement.")


@pytest.mark.parametrize(("choice", "stored"), [("mine", "Ben’s <b>text."), ("theirs", "Ada’s text.")])
def test_both_texts_of_one_field_are_shown_and_either_can_be_kept(study, editors, choice, stored):
    ada, ben = editors
    of_ada, of_ben = opened(ada), opened(ben)
    ada.post(SETTINGS, of_ada | {"consent": "Ada’s text."})
    answer = ben.post(SETTINGS, of_ben | {"consent": "Ben’s <b>text.", "debrief": "Bye."})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Ada’s" in page and "Ben’s" in page and "<b>text" not in page and "ada changed" in page
    assert "five years" in page  # the text from which both started
    sent = sent_by_browser(page, "settings") | {"take-consent": choice}
    assert ben.post(SETTINGS, sent).status_code == 302
    study.refresh_from_db()
    assert (study.consent, study.debrief) == (stored, "Bye.")
    (refused,) = changes(study, "edit not saved")
    assert refused["consent"] == {"old": "Ada’s text.", "new": "Ben’s <b>text."}


def test_a_choice_of_a_text_that_changed_once_more_is_asked_again(study, editors):
    ada, ben = editors
    of_ben = opened(ben)
    ada.post(SETTINGS, opened(ada) | {"consent": "First."})
    page = ben.post(SETTINGS, of_ben | {"consent": "Mine."}).content.decode()
    ada.post(SETTINGS, opened(ada) | {"consent": "Second."})
    answer = ben.post(SETTINGS, sent_by_browser(page, "settings") | {"take-consent": "theirs"})
    assert answer.status_code == 409 and "Second." in answer.content.decode()
    study.refresh_from_db()
    assert study.consent == "Second."


def test_the_same_form_sent_twice_is_no_conflict(study, editors):
    ada, _ = editors
    sent = opened(ada) | {"consent": "Ten years."}
    assert [ada.post(SETTINGS, sent).status_code for _ in range(2)] == [302, 302]
    assert len(changes(study)) == 1


def test_a_change_through_the_api_is_a_change_of_another_editor(study, editors):
    ada, ben = editors
    of_ben = opened(ben)
    body = {"consent": "From a script."}
    ada.patch("/api/v1/studies/agreement/", body, content_type="application/json")
    assert changes(study)[0]["consent"]["old"] == CONSENT
    assert ben.post(SETTINGS, of_ben | {"debrief": "Bye."}).status_code == 409
    ada.patch("/api/v1/studies/agreement/", body, content_type="application/json")
    assert len(changes(study)) == 1


def test_an_error_in_the_form_does_not_hide_anothers_change(study, editors):
    ada, ben = editors
    sent = opened(ben, step("study")) | {"title": "", "public_title": "Sentences"}
    page = ben.post(SETTINGS, sent).content.decode()
    ada.post(SETTINGS, opened(ada, step("study")) | {"description": "Ten years."})
    sent = sent_by_browser(page, "settings") | {"title": "A title"}
    assert ben.post(SETTINGS, sent).status_code == 409


def test_the_task_changed_meanwhile_is_shown_before_anything_is_saved(study, editors):
    ada, ben = editors
    page = step("task")
    of_ben, task_of_ben, texts_of_ben = opened(ben, page), opened(ben, page, "task-form"), opened(ben)
    ada.post(page, opened(ada, page, "task-form") | {"task": "yes_no"})
    assert changes(study, "task changed")[0]["task"] == {"old": "likert", "new": "yes_no"}
    answer = ben.post(SETTINGS, of_ben | {"task-points": "5"})
    assert answer.status_code == 409 and "Yes or no" in answer.content.decode()
    assert ben.post(page, task_of_ben | {"task": "slider"}).status_code == 409
    study.refresh_from_db()
    assert (study.task, study.parameters) == ("yes_no", {})
    assert ben.post(SETTINGS, texts_of_ben | {"debrief": "Bye."}).status_code == 302  # no matter of the task


def test_questions_built_by_two_editors_are_both_shown(study, editors):
    ada, ben = editors
    page = "/studies/agreement/questions/"
    of_ada, of_ben = opened(ada, page, "questions"), opened(ben, page, "questions")
    ada.post(page, of_ada | {"q0-label": "How old?"})
    added = sent_by_browser(ben.post(page, of_ben | {"do": "add"}).content.decode(), "questions")
    answer = ben.post(page, added | {"q1-label": "Where do you live?"})
    text = answer.content.decode()
    words = strip_tags(text)
    assert answer.status_code == 409 and "How old?" in words and "Where do you live?" in words
    sent = sent_by_browser(text, "questions")
    assert ben.post(page, sent | {"take-questionnaire": "theirs"}).status_code == 302
    study.refresh_from_db()
    assert [row["label"] for row in study.questionnaire] == ["How old?"]
    ben.post(page, sent)
    study.refresh_from_db()
    assert [row["label"] for row in study.questionnaire] == ["Age?", "Where do you live?"]
    assert changes(study)[0]["questionnaire"]["old"][0]["label"] == "How old?"


def test_designs_and_rounds_of_two_editors_overwrite_nothing(study, editors):
    ada, ben = editors
    page = "/studies/agreement/design/"
    of_ben = opened(ben, page, "design")
    ada.post(page, opened(ada, page, "design") | {"n_lists": "2"})
    answer = ben.post(page, of_ben | {"n_lists": "3", "trials_per_block": "7"})
    assert answer.status_code == 409
    sent = sent_by_browser(answer.content.decode(), "design") | {"take-n_lists": "theirs"}
    assert ben.post(page, sent).status_code == 302
    study.design.refresh_from_db()
    assert (study.design.n_lists, study.design.trials_per_block) == (2, 7)
    for _ in range(2):
        ada.post(f"{page}rounds/")
    html = ben.get(page).content.decode()
    round_of_ben, removal = sent_by_browser(html, "form-round-2"), sent_by_browser(html, "remove-round-2")
    ada.post(f"{page}rounds/2/", opened(ada, page, "form-round-2") | {"round-2-n_lists": "3"})
    answer = ben.post(f"{page}rounds/2/", round_of_ben | {"round-2-n_lists": "5"})
    assert answer.status_code == 409
    assert ben.post(f"{page}rounds/2/remove/", removal).status_code == 409
    study.design.refresh_from_db()
    assert [row["n_lists"] for row in study.design.rounds] == [3, 2]


@pytest.mark.parametrize(
    ("field", "lines", "problem"),
    [
        ("catch_trials", "Cat the is. | 1\nA dog barks. | 8", "catch trial 2 has the right answer 8"),
        ("catch_trials", "A dog barks. | 6-8", "catch trial 1 has the right answer 6 to 8"),
        ("catch_trials", "A dog barks. | 6.5", "whole numbers from 1 to 7"),
        ("practice", "A dog barks. | 0", "practice trial 1 has the right answer 0"),
    ],
)
def test_an_impossible_right_answer_is_not_saved(study, editors, field, lines, problem):
    ada, _ = editors
    answer = ada.post(SETTINGS, opened(ada, step("checks")) | {field: lines})
    assert answer.status_code == 200 and problem in answer.content.decode().lower()
    body = {"catch_trials": [{"text": "A dog barks.", "correct": 8}]}
    sent = ada.patch("/api/v1/studies/agreement/", body, content_type="application/json")
    assert sent.status_code == 422 and "is impossible to give" in sent.content.decode()
    study.refresh_from_db()
    assert [row["correct"] for row in study.catch_trials] == [1, [1, 2]]


def test_a_scale_does_not_become_shorter_than_a_right_answer(study, editors):
    ada, _ = editors
    page = ada.post(SETTINGS, opened(ada, step("task")) | {"task-points": "5"}).content.decode()
    assert "practice trial 1 has the right answer 6 to 7" in page.lower()
    assert "Change it first under “Practice and checks”." in page
    body = {"parameters": {"points": 5}}
    sent = ada.patch("/api/v1/studies/agreement/", body, content_type="application/json")
    assert sent.status_code == 422
    study.refresh_from_db()
    assert study.parameters == {}


@pytest.mark.parametrize(
    ("task", "correct", "is_possible"),
    [("yes_no", 1, True), ("yes_no", 2, False), ("slider", [60, 100], True), ("slider", [60, 101], False),
     ("magnitude_estimation", [0, 50], True), ("magnitude_estimation", -5, False)],
)  # fmt: skip
def test_each_task_lists_the_possible_answers(client, task, correct, is_possible):
    cast.draft("agreement", task=task)
    client.force_login(cast.ada())
    body = {"catch_trials": [{"text": "A dog barks.", "correct": correct}]}
    sent = client.patch("/api/v1/studies/agreement/", body, content_type="application/json")
    assert (sent.status_code == 200) is is_possible


def test_each_step_changes_its_own_settings_and_no_others(study, editors):
    ada, ben = editors
    study.lab_mode, study.closing_comment = True, True
    study.save()
    of_ben = opened(ben, step("questions"))
    ada.post(SETTINGS, opened(ada) | {"consent": "Ten years."})
    answer = ben.post(SETTINGS, of_ben | {"questionnaire": "Where? | text", "consent": "Mine."})
    assert (answer.status_code, answer.url) == (302, step("questions"))  # another step is no conflict
    study.refresh_from_db()
    assert (study.consent, study.questionnaire[0]["label"]) == ("Ten years.", "Where?")
    assert (study.lab_mode, study.closing_comment) == (True, True)
    sent = opened(ada, step("sessions"))
    del sent["lab_mode"]
    ada.post(SETTINGS, sent)
    study.refresh_from_db()
    assert (study.lab_mode, study.closing_comment) == (False, True)


def test_a_step_leads_to_the_next_one(study, editors):
    ada, _ = editors
    following = [*STEPS][1:]
    for name, after in zip(STEPS, following, strict=False):
        sent = opened(ada, step(name)) | {"onward": "yes"}
        assert ada.post(SETTINGS, sent).url == step(after)


def test_an_error_of_an_earlier_step_does_not_keep_others_from_being_saved(study, editors):
    ada, _ = editors
    study.catch_trials = [{"text": "Cat the is.", "correct": 9}]  # stored before this was refused
    study.save()
    assert ada.post(SETTINGS, opened(ada) | {"debrief": "Bye."}).status_code == 302
    assert ada.post(SETTINGS, opened(ada, step("task")) | {"task-points": "5"}).status_code == 200
    study.refresh_from_db()
    assert (study.debrief, study.parameters) == ("Bye.", {})


def test_the_old_address_shows_what_is_needed_first(study, editors):
    ada, _ = editors
    step_field = '<input type="hidden" name="step" value="{}">'
    assert step_field.format("study") in ada.get(SETTINGS).content.decode()
    study.instructions = ""
    study.save()
    page = ada.get(SETTINGS).content.decode()
    assert step_field.format("texts") in page and "no instructions" in page
    assert ada.get(f"{SETTINGS}nothing/").status_code == 404
    checklist = ada.get("/studies/agreement/launch/").content.decode()
    for name in ("study", "task", "texts", "checks"):
        assert f'href="{step(name)}"' in checklist


def test_every_setting_is_on_one_page(study, editors):
    ada, _ = editors
    pages = [set(opened(ada, step(name))) - {"version", "step", "csrfmiddlewaretoken"} for name in STEPS]
    everywhere = {field for page in pages for field in page}
    assert sum(map(len, pages)) == len(everywhere)
    assert {
        "title",
        "consent",
        "task-points",
        "quiz",
        "anchors",
        "resume_limit_days",
        "currency",
    } <= everywhere


@pytest.mark.parametrize(
    ("page", "form"),
    [("settings/end/", "settings"), ("texts/", "texts"), ("questions/", "questions"), ("design/", "design")],
)
def test_a_study_that_was_closed_meanwhile_stays_as_it_was(study, editors, page, form):
    _, ben = editors
    page = f"/studies/agreement/{page}"
    sent = opened(ben, page, form) | {"partial_code": "HALF", "q0-label": "How old?", "n_lists": "2"}
    type(study).objects.update(status="closed")
    answer = ben.post(SETTINGS if form == "settings" else page, sent)
    assert answer.status_code == 403 and "The study is closed" in answer.content.decode()
    study.refresh_from_db()
    assert (study.partial_code, study.questionnaire[0]["label"]) == ("", "Age?")
    assert not study.audit.exists()


def test_a_study_with_right_answers_of_another_task_does_not_open(study, editors):
    ada, _ = editors
    ada.post(step("task"), opened(ada, step("task"), "task-form") | {"task": "yes_no"})
    page = ada.get("/studies/agreement/launch/").content.decode()
    assert 'id="answers" class="blocking"' in page and step("checks") in page
    answer = ada.post("/studies/agreement/move/open/", follow=True).content.decode()
    assert "Practice trial 1 has the right answer 6 to 7, which is impossible to give" in answer
    assert "Catch trial 2 has the right answer 1 to 2" in answer
    study.refresh_from_db()
    assert study.status == "draft"
    sent = {"practice": "A dog barks. | yes", "catch_trials": "Dog a. | no"}
    assert ada.post(SETTINGS, opened(ada, step("checks")) | sent).status_code == 302
    ada.post("/studies/agreement/move/open/")
    study.refresh_from_db()
    assert study.status == "open"


def test_the_api_changes_no_task_under_right_answers_of_another(study, editors):
    ada, _ = editors
    sent = ada.patch("/api/v1/studies/agreement/", {"task": "yes_no"}, content_type="application/json")
    assert sent.status_code == 422 and "is impossible to give" in sent.content.decode()
    body = {"task": "yes_no", "practice": [], "catch_trials": [{"text": "Dog a.", "correct": 0}]}
    assert ada.patch("/api/v1/studies/agreement/", body, content_type="application/json").status_code == 200
