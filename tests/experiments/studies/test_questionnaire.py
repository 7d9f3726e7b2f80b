"""Questions about the person, built one by one on a page that needs no script."""

import pytest

from experiments.models import AuditEntry
from experiments.pages.questions import QuestionForm
from judgments.screens.forms import Questionnaire
from tests import cast

pytestmark = pytest.mark.django_db
PAGE = "/studies/agreement/questions/"
LANGUAGE = {
    "label": "Is English your native language?",
    "type": "yes_no",
    "required": "on",
    "is_native": "on",
}
REGION = {
    "label": "Where did you grow up?",
    "type": "choice",
    "choices": "North\nSouth\n",
    "screen_out": "South",
}


def sent(*questions, do="save"):
    """What a browser sends."""
    return {
        "n": len(questions),
        "do": do,
        **{
            f"q{at}-{name}": value
            for at, question in enumerate(questions)
            for name, value in question.items()
        },
    }


def press(client, *questions, do="save"):
    return client.post(PAGE, sent(*questions, do=do), follow=True).content.decode()


@pytest.fixture
def study(client):
    client.force_login(cast.ada())
    return cast.draft("agreement")


def stored_questions(study):
    study.refresh_from_db()
    return study.questionnaire


def test_questions_are_stored_as_the_participant_meets_them(client, study):
    assert "Saved." in press(client, LANGUAGE, REGION, {"label": "", "type": "text"})
    first, second = stored_questions(study)
    assert first["role"] == "native_language" and first["required"] is True
    assert (second["choices"], second["screen_out"]) == (["North", "South"], ["South"])
    form = Questionnaire(stored_questions(study), {first["name"]: "yes", second["name"]: "South"})
    assert form.is_valid() and form.is_native() and form.screened_by() == second["name"]
    assert AuditEntry.objects.filter(action="settings changed", details__fields="questionnaire").count() == 1


def test_what_is_stored_comes_back_into_the_forms_and_saving_it_changes_nothing(client, study):
    age = {"name": "age", "label": "Age?", "type": "number", "min": 18, "max": 99, "help": "In years."}
    several = {"label": "Languages?", "type": "multi_choice", "choices": ["German", "Dutch"], "publish": True}
    study.questionnaire = [
        age,
        {"name": "languages", "role": "native_language", "native": ["German"], **several},
    ]
    study.save()
    forms = client.get(PAGE).context["questions"]
    submitted = [{name: form[name].value() for name in form.fields if form[name].value()} for form in forms]
    press(client, *submitted)
    assert stored_questions(study) == study.questionnaire == [age, study.questionnaire[1]]
    assert study.questionnaire[1]["native"] == ["German"] and not study.audit.exists()


def test_a_renamed_question_keeps_its_column(client, study):
    press(client, LANGUAGE)
    (first,) = stored_questions(study)
    press(client, {**LANGUAGE, "name": first["name"], "label": "Did you grow up with English?"})
    assert stored_questions(study)[0]["name"] == first["name"] == "is_english_your_native_language"


def test_adding_moving_and_taking_away_stores_nothing_and_loses_nothing(client, study):
    page = press(client, LANGUAGE, do="add")
    assert page.count("<h2>Question") == 2 and LANGUAGE["label"] in page and "Not saved yet" in page
    page = press(client, LANGUAGE, REGION, do="down-0")
    assert page.index(REGION["label"]) < page.index(LANGUAGE["label"])
    page = press(client, LANGUAGE, REGION, do="up-1")
    assert page.index(REGION["label"]) < page.index(LANGUAGE["label"])
    page = press(client, LANGUAGE, REGION, do="remove-0")
    assert LANGUAGE["label"] not in page and REGION["label"] in page
    assert stored_questions(study) == []


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"label": "Sex?", "type": "choice", "choices": "one"}, "This question has fewer than two choices."),
        ({"label": "", "type": "choice", "choices": "a\nb"}, "This question has no text."),
        ({**REGION, "screen_out": "East"}, "screens out by &#x27;East&#x27;"),
        ({**REGION, "is_native": "on", "native": "West"}, "counts &#x27;West&#x27; as native"),
        ({"label": "Age?", "type": "number", "min": "old"}, "Enter a whole number."),
        ({"label": "Age?", "type": "date"}, "Select a valid choice."),
    ],
)
def test_an_invalid_question_is_reported_at_its_field_and_nothing_is_saved(client, study, question, message):
    page = press(client, LANGUAGE, question)
    assert message in page and "Nothing was saved" in page and stored_questions(study) == []


@pytest.mark.parametrize(
    "data", [{}, {"n": "x"}, {"n": "99999"}, {"n": "1", "do": "remove-7"}, {"do": "up-²"}]
)
def test_senseless_forms_break_nothing(client, study, data):
    assert client.post(PAGE, data).status_code in (200, 302)
    assert stored_questions(study) == []


def test_two_questions_of_one_name_are_reported(client, study):
    twins = [{"name": "age", "label": label, "type": "number"} for label in ("Age?", "How old?")]
    assert "has the name of another" in press(client, *twins)
    assert stored_questions(study) == []


def test_viewers_read_and_strangers_find_nothing(client, study):
    client.force_login(cast.ben())
    page = client.get(PAGE).content.decode()
    assert "Add a question" not in page and client.post(PAGE, sent(LANGUAGE)).status_code == 403
    client.force_login(cast.cleo())
    assert client.get(PAGE).status_code == 404


def test_settings_lead_to_the_page(client, study):
    assert PAGE in client.get("/studies/agreement/settings/questions/").content.decode()
    assert QuestionForm().fields["label"].label == "Question"


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({"label": "How old are you?", "type": "number", "min": "90", "max": "18"}, "takes no number at all"),
        ({"label": "How cold is it?", "type": "number", "max": "-1"}, "takes no number at all"),
        ({**REGION, "screen_out": "North\nSouth"}, "screens everybody out"),
        ({"label": "Sure?", "type": "yes_no", "screen_out": "yes\nno"}, "screens everybody out"),
    ],
)
def test_an_unanswerable_required_question_is_refused(client, study, question, problem):
    assert problem in press(client, question)
    assert stored_questions(study) == []
