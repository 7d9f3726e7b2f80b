"""The launch checklist."""

import re

import pytest

from analysis.errors import BadInput
from experiments.models import AuditEntry, Design, Experiment, Job
from experiments.operation.job_runner import run
from experiments.page_cache import cache
from experiments.studies.lifecycle import freeze_preview, problems
from experiments.studies.readiness import is_green, may_open, steps
from experiments.studies.rehearsals import DRY_RUN
from judgments.models import Session
from judgments.sessions.completion import finish
from judgments.sessions.enrollment import begin_preview
from judgments.simulation import dry_run
from tests import cast

pytestmark = pytest.mark.django_db
PAGE = "/studies/agreement/launch/"
PRACTICE = [{"options": [{"text": "The boys 9 are here."}, {"text": "The boys 9 is here."}], "correct": 0}]
CATCH = [
    {"options": [{"text": "The cats 7 are here."}, {"text": "Cats the 7 here are."}], "correct": 0},
    {"options": [{"text": "The dogs 8 are here."}, {"text": "Dogs the 8 here are."}], "correct": 0},
]
WHOLE = {
    "consent": "Your answers are stored under a pseudonym. You may stop at any time.",
    "contact": "lab@example.org",
    "practice": PRACTICE,
    "catch_trials": CATCH,
}


@pytest.fixture(autouse=True)
def fresh_lists():
    """No lists of another test."""
    cache.clear()


def draft(**fields) -> Experiment:
    study = cast.draft("agreement", **{**WHOLE, **fields})
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    return study


def line(study, key):
    return next(step for step in steps(study) if step.key == key)


def try_it(study):
    session = begin_preview(study, freeze_preview(study), key="ada", consent_text=study.consent)
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial))
    return finish(session)


def press(client, path="", **data):
    return client.post(f"{PAGE}{path}", data, follow=True).content.decode()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"consent": ""},
        {"instructions": " "},
        {"completion": "redirect"},
        {"task": "likert", "parameters": {"points": 1}},
        {"catch_trials": [{"text": "No pair."}]},
    ],
)
def test_what_blocks_is_what_keeps_the_study_from_opening(fields):
    study = draft(**fields)
    assert may_open(steps(study)) == (problems(study) == [])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"target_judgments": 0}, "There is no target: recruiting goes on until you close the study."),
        (
            {"target_judgments": 5},
            "5 judgments of each pair take 5 participants, about 1 min each. "
            "2 lists show a pair 2 times, so 5 judgments of each pair leave some lists",
        ),
        (
            {"target_judgments": 20, "max_participants": 19},
            "20 judgments of each pair take 20 participants (10 for each of 2 lists), about 1 min each. "
            "The limit of 19 participants comes before the 20",
        ),
    ],
)
def test_people_who_do_not_fill_the_lists_evenly_are_reported(fields, message):
    people = line(draft(**fields), "people")
    assert people.is_done == (fields["target_judgments"] == 0) and people.reason.startswith(message)
    assert "6 come out even" in people.reason or fields["target_judgments"] != 5


def test_people_who_do_not_fill_lists_of_sets_are_reported_too():
    fields = {
        "task": "best_worst",
        "parameters": {"size": 4, "showings": 2},
        "practice": [],
        "catch_trials": [],
    }
    study = draft(**fields, target_judgments=5, max_participants=2)
    people = line(study, "people")
    assert not people.is_done
    assert people.reason == (
        "5 judgments of each sentence take 5 participants, about 1 min each. "
        "2 lists show a sentence 2 times, so 5 judgments of each sentence leave some lists with one session "
        "less: 6 come out even. "
        "The limit of 2 participants comes before the 5 for 5 judgments of each sentence."
    )


def test_every_line_can_become_green(client):
    study = draft()
    client.force_login(cast.ada())
    assert [step.key for step in steps(study) if not step.is_green] == ["preview", "dry-run"]
    try_it(study)
    client.post(f"{PAGE}dry-run/")
    run(Job.objects.get(kind=DRY_RUN).pk)
    assert is_green(steps(study))
    page = client.get(PAGE).content.decode()
    assert "All checks passed" in page and "advised" not in page
    press(client)
    study.refresh_from_db()
    assert study.status == "open"
    assert not AuditEntry.objects.filter(action="opened with checks undone").exists()


def test_dry_run_sends_one_simulated_participant_to_each_list_and_counts_none(client):
    study = draft(questionnaire=[{"name": "age", "label": "How old are you?", "type": "number"}])
    client.force_login(cast.ada())
    client.post(f"{PAGE}dry-run/")
    client.post(f"{PAGE}dry-run/")
    job = Job.objects.get(kind=DRY_RUN)
    run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    assert (job.result["participants"], job.result["complete"]) == (2, 2)
    assert not Session.objects.filter(is_test=False).exists()
    assert set(Session.objects.values_list("participant__is_simulated", flat=True)) == {True}
    assert line(study, "dry-run").is_done and not line(study, "preview").is_done


def test_any_number_of_simulated_participants_whose_answers_can_be_looked_at(client):
    study = draft()
    client.force_login(cast.ada())
    assert "Choose a number from 1 to 500" in press(client, "dry-run/", participants="501")
    assert "is not a number" in press(client, "dry-run/", participants="many")
    waiting = press(client, "dry-run/", participants="3")
    assert f'href="{PAGE}#dry-run"' in waiting
    run(Job.objects.get(kind=DRY_RUN).pk)
    assert Session.objects.filter(status="complete").count() == 3
    judgments = client.get("/studies/agreement/judgments/?data=dry_run").content.decode()
    assert "all participants are simulated" in judgments and 'data-label="Position"' in judgments
    study.instructions = "Another text."
    study.save()
    try_it(study)
    assert "3 sessions" in client.get("/studies/agreement/judgments/?data=dry_run").content.decode()


def test_a_failed_dry_run_is_not_done_despite_an_earlier_success(client, monkeypatch):
    study = draft()
    client.force_login(cast.ada())
    client.post(f"{PAGE}dry-run/")
    assert line(study, "dry-run").reason == "Simulated participants are taking it."
    took, calls = dry_run.take_part, []

    def second_gets_stuck(*args, **kwargs):
        calls.append(kwargs["name"])
        if len(calls) == 2:
            raise BadInput("simulated participant 1 did not get to the end.")
        return took(*args, **kwargs)

    monkeypatch.setattr(dry_run, "take_part", second_gets_stuck)
    run(Job.objects.get(kind=DRY_RUN).pk)
    assert Session.objects.filter(status="complete").count() == 1
    failed = line(study, "dry-run")
    assert not failed.is_done and "simulated participant 1 did not get to the end" in failed.reason
    monkeypatch.setattr(dry_run, "take_part", took)
    client.post(f"{PAGE}dry-run/")
    run(Job.objects.filter(kind=DRY_RUN).latest("pk").pk)
    assert line(study, "dry-run").is_done


def test_a_change_keeps_the_preview_done_with_a_note_of_the_earlier_version():
    study = draft()
    try_it(study)
    assert "present version" in line(study, "preview").reason
    study.instructions = "Read slowly."
    study.save()
    step = line(study, "preview")
    assert step.is_done and "earlier version" in step.reason


@pytest.mark.parametrize("without", [{}, {"sure": "yes"}, {"reason": "  "}])
def test_a_list_that_is_not_green_opens_nothing_without_a_reason(client, without):
    study = draft()
    client.force_login(cast.ada())
    assert "Reason for opening anyway" in press(client, **without)
    study.refresh_from_db()
    assert study.status == "draft" and not study.versions.exists()


def test_opening_with_undone_checks_waives_them_for_a_reason_and_is_noted(client):
    study = draft()
    client.force_login(cast.ada())
    press(client, reason="The same study ran in May.")
    study.refresh_from_db()
    assert study.status == "open" and is_green(steps(study))
    assert line(study, "dry-run").waived == "The same study ran in May."
    noted = AuditEntry.objects.get(action="opened with checks undone")
    assert noted.details == {"checks": ["Tried by the team", "Dry run"]}


@pytest.mark.parametrize(
    ("fields", "key", "said"),
    [
        ({"consent": "A study by [name], stored for ten years."}, "placeholders", "[name]"),
        ({"contact": ""}, "contact", "no address for questions"),
        ({"consent": "You may stop at any time."}, "retention", "how long answers are stored"),
        ({"language": "de"}, "text-language", "consent text (English)"),
        ({"language": "ar"}, "text-language", "instructions (letters of another script)"),
    ],
)
def test_what_participants_read_unfinished_is_waived_with_a_reason_of_its_own(client, fields, key, said):
    study = draft(**fields)
    assert line(study, key).has_own_reason and said in line(study, key).reason
    client.force_login(cast.ada())
    page = press(client, reason="The same study ran in May.")
    assert f'<a href="#{key}">' in page and "Reason for opening anyway" not in page
    study.refresh_from_db()
    assert study.status == "draft"
    for step in [step for step in steps(study) if step.has_own_reason and not step.is_green]:
        press(client, "waive/", check=step.key, reason="Agreed with the ethics board.")
    press(client, reason="The same study ran in May.")
    study.refresh_from_db()
    assert study.status == "open"


def test_a_reason_does_not_open_what_blocks(client):
    study = draft(consent="")
    client.force_login(cast.ada())
    press(client, reason="Hurry.")
    study.refresh_from_db()
    assert study.status == "draft" and not AuditEntry.objects.filter(action="check waived").exists()


def test_a_check_is_waived_for_a_reason_and_asked_for_again(client):
    study = draft()
    client.force_login(cast.ada())
    assert "a waived check needs a reason" in press(client, "waive/", check="dry-run", reason=" ")
    assert not line(study, "dry-run").is_green
    page = press(client, "waive/", check="dry-run", reason="The same design ran last week.")
    assert "Waived: The same design ran last week." in page
    assert line(study, "dry-run").is_green and not line(study, "dry-run").is_done
    press(client, "waive/", check="dry-run", again="yes")
    assert not line(study, "dry-run").is_green
    assert client.post(f"{PAGE}waive/", {"check": "consent", "reason": "Why not."}).status_code == 404


def test_catch_trials_are_looked_at():
    odd = {"options": [{"text": "CLICK HERE to show that you read this"}, {"text": "no"}], "correct": 0}
    reason = line(draft(catch_trials=[odd]), "catch").reason
    assert "One catch trial is too few" in reason
    assert "Catch trial 1 ends unlike the other sentences." in reason
    ratings = [
        {"text": "The cats 7 are here.", "correct": [2, 7]},
        {"text": "The dogs 8 is here.", "correct": 9},
    ]
    Experiment.objects.all().delete()
    other = cast.draft("ratings", task="likert", catch_trials=ratings)
    assert "accepts 2 to 7" in line(other, "catch").reason
    assert "not on the scale" in line(other, "catch").reason


def test_an_instruction_check_need_not_look_like_the_rest():
    instruction_check = {
        "options": [{"text": "CHOOSE THIS ONE"}, {"text": "not this"}],
        "correct": 0,
        "check": "instruction",
    }
    study = draft(catch_trials=[CATCH[0], instruction_check])
    assert line(study, "catch").is_done
    study.catch_trials[1]["check"] = None
    assert not line(study, "catch").is_done


def test_time_and_pay_are_reported():
    reason = line(draft(reward_minor=100), "time").reason
    assert re.search(r"About \d+ min: 7 trials", reason) and "GBP" in reason


@pytest.mark.parametrize(
    ("reward", "currency", "message"),
    [
        (1, "GBP", "Prolific takes no study below 6.00 GBP an hour."),
        (1, "USD", "Prolific takes no study below 8.00 USD an hour."),
        (40, "GBP", ""),
        (1, "EUR", ""),  # nothing is known of it
        (0, "GBP", ""),  # volunteers, or credit
    ],
)
def test_pay_that_is_too_little_or_pence_taken_for_pounds_is_reported(reward, currency, message):
    time = line(draft(reward_minor=reward, currency=currency), "time")
    assert time.is_done == (not message) and time.reason.endswith(message)


def test_retention_is_read_from_the_consent_in_several_languages():
    study = draft()
    for text, is_done in [
        ("Ihre Antworten werden zehn Jahre aufbewahrt.", True),
        ("Tus respuestas se guardan bajo un seudónimo.", True),
        ("您的回答将匿名保存。", True),
        ("Have fun.", False),
    ]:
        study.consent = text
        assert line(study, "retention").is_done is is_done


def test_viewers_look_and_strangers_do_not(client):
    draft()
    client.force_login(cast.ben())
    page = client.get(PAGE).content.decode()
    assert "Launch checklist" in page and "<summary>Waive" not in page
    assert client.post(PAGE).status_code == 403
    assert client.post(f"{PAGE}dry-run/").status_code == 403
    client.force_login(cast.cleo())
    assert client.get(PAGE).status_code == 404


@pytest.mark.parametrize(
    ("of_materials", "of_study", "is_named"),
    [
        ("fr", "en", True),
        ("en-GB", "en", False),
        ("", "en", False),
        ("und", "tr", False),
        ("pt-BR", "pt", False),
    ],
)
def test_materials_in_another_language_than_the_pages_are_named(of_materials, of_study, is_named):
    study = cast.draft("agreement", language=of_study)
    study.materials.language = of_materials
    study.materials.save()
    language_steps = [step for step in steps(study) if step.key == "materials-language"]
    assert bool(language_steps) is is_named
    if language_steps:
        assert (
            "“fr”" in language_steps[0].reason
            and not language_steps[0].is_done
            and not language_steps[0].is_blocking
        )
