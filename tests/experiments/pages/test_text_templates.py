"""Templates of consent, instructions and debrief: they fill the form, and replace nothing without asking."""

import pytest
from django.utils.translation import gettext, override

from experiments.materials.markdown import as_blocks, placeholders
from experiments.pages.editing.text_templates import FIELDS, text_templates
from experiments.studies.languages import NAMES
from experiments.studies.questionnaire import statements_from_lines
from experiments.studies.readiness import KEEPING, steps
from experiments.tasks.registry import task_names
from tests import cast
from tests.experiments.pages.page_forms import sent_by_browser

pytestmark = pytest.mark.django_db
SETTINGS = "/studies/agreement/settings/"
CONSENT = "You may stop at any time."  # of a draft
TEXTS = f"{SETTINGS}texts/"


def by_key(key):
    return next(template for template in text_templates() if template.key == key)


def opened(client):
    client.force_login(cast.ada())
    return sent_by_browser(client.get(TEXTS).content.decode(), "settings")


def pressed(client, data, **buttons):
    response = client.post(SETTINGS, {**data, **buttons})
    return response, sent_by_browser(response.content.decode(), "settings")


def unix(text):
    return text.replace("\r\n", "\n")


def test_a_template_fills_the_empty_form_and_is_saved_with_it_only(client):
    study = cast.draft("agreement", consent="", debrief="")
    data = opened(client) | {"template-consent": "en/consent-deception", "contact": "typed@example.org"}
    response, filled = pressed(client, data, fill="consent")
    template = by_key("en/consent-deception")
    assert {name: unix(filled[name]) for name in template.texts} == template.texts
    assert filled["contact"] == "typed@example.org" and "not saved yet" in response.content.decode()
    study.refresh_from_db()
    assert (study.consent, study.contact) == ("", "")
    assert client.post(SETTINGS, filled).status_code == 302
    study.refresh_from_db()
    assert study.consent == template.texts["consent"] and len(study.consent_statements) == 3


def test_text_of_the_form_is_replaced_only_after_a_question(client):
    study = cast.draft("agreement", consent="", debrief="Mine.")
    data = opened(client) | {"template-consent": "en/consent-deception"}
    response, fields = pressed(client, data, fill="consent")
    assert "Replace your text?" in response.content.decode()
    assert (fields["consent"], fields["debrief"]) == ("", "Mine.")
    _, filled = pressed(client, fields, replace="consent")
    assert unix(filled["debrief"]) == by_key("en/consent-deception").texts["debrief"]
    study.refresh_from_db()
    assert study.debrief == "Mine."


def test_a_debriefing_is_filled_in_alone(client):
    cast.draft("agreement", debrief="")
    data = opened(client) | {"template-debrief": "en/consent-deception"}
    _, filled = pressed(client, data, fill="debrief")
    assert filled["debrief"] and filled["consent"] == data["consent"]


def test_a_change_by_another_editor_before_the_template_is_not_overwritten(client):
    study = cast.draft("agreement", consent="", instructions="")
    data = opened(client) | {"template-instructions": "en/instructions-forced-choice"}
    study.instructions = "By another editor."
    study.save()
    _, filled = pressed(client, data, fill="instructions")
    assert client.post(SETTINGS, filled).status_code == 409
    study.refresh_from_db()
    assert study.instructions == "By another editor."


def test_menus_begin_with_the_language_of_the_study_and_have_its_task_only(client):
    cast.draft("agreement", language="de-AT", task="likert", parameters={})
    client.force_login(cast.ada())
    page = client.get(TEXTS).content.decode()
    assert page.index('<optgroup label="Deutsch">') < page.index('<optgroup label="English">')
    assert "de/instructions-likert" in page and "instructions-slider" not in page
    data = opened(client) | {"instructions": "", "template-instructions": "en/instructions-slider"}
    assert pressed(client, data, fill="instructions")[1]["instructions"] == ""


@pytest.mark.parametrize(
    "buttons",
    [{"fill": "title"}, {"replace": "nothing"}, {"fill": "consent"}, {"fill": "debrief", "step": "study"}],
)
def test_a_button_without_a_template_changes_nothing(client, buttons):
    cast.draft("agreement")
    other = {
        "template-consent": "en/no-such",
        "template-title": "en/debrief",
        "template-debrief": "en/debrief",
    }
    response, after = pressed(client, opened(client) | other, **buttons)
    assert response.status_code == 200 and after.get("consent", CONSENT) == CONSENT


def test_viewers_fill_nothing_in(client):
    cast.draft("agreement")
    client.force_login(cast.ben())
    assert 'name="fill"' not in client.get(TEXTS).content.decode()
    assert client.post(SETTINGS, {"fill": "consent", "template-consent": "en/consent"}).status_code == 403
    client.force_login(cast.cleo())
    assert client.post(SETTINGS, {"fill": "consent", "template-consent": "en/consent"}).status_code == 404


def test_enter_in_a_line_of_text_saves(client):
    """Browsers press the first button of the form."""
    cast.draft("agreement")
    client.force_login(cast.ada())
    form = client.get(TEXTS).content.decode().partition('id="settings"')[2]
    first_button = form[form.index("<button") : form.index("</button>")]
    assert "name=" not in first_button and "formaction" not in first_button


def test_every_language_of_participants_pages_has_templates_and_every_task_its_instructions():
    shapes = {tag: {} for tag in NAMES}
    for template in text_templates():
        name = template.key.partition("/")[2]
        shapes[template.language][name] = (template.tasks, list(template.texts))
        assert set(template.texts) <= {*FIELDS, "consent_statements"} and all(template.texts.values())
        for field, text in template.texts.items():
            assert as_blocks(text) and "*" not in as_blocks(text), template.key
            if field == "consent_statements":
                assert any(row["required"] for row in statements_from_lines(text))
            if field == "consent":
                with override(template.language):
                    assert gettext("Delete my answers") in text, template.key  # the name of the button
                assert KEEPING.search(text) and placeholders(text)
    assert shapes["en"] == shapes["de"]
    assert {task for tasks, _ in shapes["en"].values() for task in tasks} == set(task_names())
    for name in ("consent-minors", "consent-deception"):  # in these two languages only
        del shapes["en"][name], shapes["de"][name]
    assert all(shape == shapes["en"] for shape in shapes.values())


def test_the_checklist_names_placeholders_that_remain():
    study = cast.draft(
        "agreement",
        consent="Led by [name], [name], see [our page](https://example.org). [a1] [b1] [c1]",
        consent_statements=[{"text": "I am over [age].", "required": True}],
        debrief="About [topic].",
    )
    (line,) = [step for step in steps(study) if step.key == "placeholders"]
    assert not line.is_done and not line.is_blocking
    assert "Consent text: [name], [a1], [b1] and 2 more." in line.reason
    assert "Debrief: [topic]." in line.reason and "our page" not in line.reason
    study.consent, study.consent_statements, study.debrief = "Led by us, in 2026 [1].", [], "Done."
    assert [step for step in steps(study) if step.key == "placeholders"] == []
