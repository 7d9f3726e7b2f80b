"""Own texts replace ours: on every page, for this study alone, as its version was frozen."""

import json
import re
from html import escape, unescape
from pathlib import Path

import pytest
from django.conf import settings

from experiments.studies.lifecycle import freeze, open_study
from experiments.studies.readiness import steps
from experiments.studies.wording import participant_texts
from tests import cast
from tests.experiments.pages.page_forms import sent_by_browser
from tests.judgments.screens.walk import action, answer, choices, consent, fields, onward

pytestmark = pytest.mark.django_db
PAGE = "/studies/agreement/texts/"
SHORT = re.compile(r">\s*(Next|Go on|Begin|Start|Yes|No|Instructions|Practice|Taking part)\s*<")


def own_for_all(task):
    """Own texts for every text of ours, which no text of ours contains."""
    return {
        text.message: " ".join(["Omat sanat.", *dict.fromkeys(text.placeholders)])
        for text in participant_texts(task)
    }


def texts_of_ours(pages, task):
    """Texts of ours that the pages show."""
    longer = [text.message for text in participant_texts(task) if len(text.message) > 12]
    patterns = [re.split(r"%\(\w+\)[sd]", message) for message in longer]
    html = unescape(" ".join(pages))
    visible = {part for parts in patterns for part in parts if len(part) > 12 and part in html}
    return visible | set(SHORT.findall(html))


@pytest.mark.parametrize("task", ["likert", "yes_no", "forced_choice"])
def test_a_study_in_a_language_without_our_texts_shows_none_of_them(client, task):
    practice = {"kind": "practice", "payload": {"sentence": "Yksi.", "correct": [1, 1], "feedback": "Hyvä."}}
    study = cast.study(
        task=task,
        language="fi",
        instructions="Lue.",
        consent="",
        debrief="Kiitos.",
        questionnaire=[
            {"name": "age", "label": "Ikä?", "type": "number", "required": True},
            {"name": "native", "label": "Suomi?", "type": "yes_no"},
        ],
        quiz=[{"question": "Miten?", "right": "Oikein", "wrong": ["Väärin"]}],
        extras=() if task == "forced_choice" else (practice,),
        parameters={"yes_label": "Kyllä", "no_label": "Ei"} if task == "yes_no" else {},
        participant_texts=own_for_all(task),
    )
    pages = [client.get("/take/agreement/").content.decode()]
    pages.append(client.post("/take/agreement/", {"arrival": "wrong", "consent": "yes"}).content.decode())
    session = consent(client, "/take/agreement/")
    token = session.strip("/").split("/")[-1]
    pages.append(json.dumps(client.get(f"/api/v1/sessions/{token}/plan/").json(), ensure_ascii=False))
    for _ in range(40):
        page = client.get(session).content.decode()
        pages.append(page)
        if "Kiitos." in page:
            break
        target = action(page)
        if target.endswith("/questions/"):
            pages.append(client.post(target, {"age": "x"}).content.decode())
            client.post(target, {"age": "30"})
        elif target.endswith("/quiz/"):
            inputs = [field for field in fields(page) if field.get("name") and "value" in field]
            values = {field["name"]: field["value"] for field in reversed(inputs)}
            client.post(target, values)
        elif choices(page):
            pages.append(client.post(target, {"response": "none"}).content.decode())
            answer(client, session)
        else:
            onward(client, session)
    assert "Kiitos." in pages[-1]
    pages += [client.get(f"{session}{name}/").content.decode() for name in ("leave", "withdraw")]
    study.status = "closed"
    study.save()
    pages.append(type(client)().get("/take/agreement/").content.decode())
    assert texts_of_ours(pages, task) == set()
    assert [page for page in pages if page and "Omat sanat." not in page] == []


def test_another_study_and_the_previous_version_keep_the_default_texts(client):
    study, other = cast.study("agreement", consent="Same."), cast.study("other", consent="Same.")
    client.force_login(cast.ada())
    sent = sent_by_browser(client.get(PAGE).content.decode(), "texts")
    name = field_of("I agree and want to take part", client)
    assert client.post(PAGE, sent | {name: 'Count me <b>in "now"</b>'}).status_code == 302
    study.refresh_from_db()
    other.title = study.title
    other.save()
    cast.freeze(other)
    page = client.get("/take/agreement/").content.decode()
    assert "I agree and want to take part" in page
    open_study(study)  # makes the next version
    page = client.get("/take/agreement/").content.decode()
    assert escape('Count me <b>in "now"</b>') in page and "I agree and want" not in page
    assert "I agree and want to take part" in client.get("/take/other/").content.decode()
    (entry,) = study.audit.filter(action="texts changed")
    assert entry.details["changes"]["text “I agree and want to take part”"]["new"].startswith("Count me")


def field_of(message, client, page=PAGE):
    """The name of a text's field on the page."""
    html = client.get(page).content.decode()
    label = re.search(rf'<label for="id_(text-\w+)">{re.escape(escape(message))}', html)
    return label[1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Osa %(now)s", "%(all)s"),
        ("Osa %(now)s / %(all)s / %(n)s", "no other"),
        ("Osa %(now) %(all)s", "Write each of"),
        ("%(now)s / %(all)s: 50 %", "percent"),
    ],
)
def test_a_text_without_its_placeholders_is_not_saved(client, text, problem):
    study = cast.draft("agreement", language="fi")
    client.force_login(cast.ada())
    sent = sent_by_browser(client.get(PAGE).content.decode(), "texts")
    name = field_of("Block %(now)s of %(all)s", client)
    page = client.post(PAGE, sent | {name: text})
    assert page.status_code == 200 and problem in unescape(page.content.decode())
    body = {"participant_texts": {"Block %(now)s of %(all)s": text}}
    refused = client.patch("/api/v1/studies/agreement/", body, content_type="application/json")
    assert refused.status_code == 422
    study.refresh_from_db()
    assert study.participant_texts == {}
    good = {"participant_texts": {"Block %(now)s of %(all)s": "%(all)s osaa, nyt %(now)s", "Next": ""}}
    assert (
        client.patch("/api/v1/studies/agreement/", good, content_type="application/json").status_code == 200
    )
    study.refresh_from_db()
    assert study.participant_texts == {"Block %(now)s of %(all)s": "%(all)s osaa, nyt %(now)s"}
    unknown = {"participant_texts": {"Nothing of ours": "Ei"}}
    refused = client.patch("/api/v1/studies/agreement/", unknown, content_type="application/json")
    assert refused.status_code == 422


def test_two_editors_of_the_texts_lose_nothing_and_viewers_only_read(client):
    study = cast.draft("agreement", language="de")
    client.force_login(cast.ada())
    sent = sent_by_browser(client.get(PAGE).content.decode(), "texts")
    name = field_of("Next", client)
    assert client.post(PAGE, sent | {name: "Los"}).status_code == 302
    answer = client.post(PAGE, sent | {name: "Weiter!"})
    assert answer.status_code == 409 and "Los" in answer.content.decode()
    study.refresh_from_db()
    assert study.participant_texts == {"Next": "Los"}
    assert client.post(PAGE, sent_by_browser(client.get(PAGE).content.decode(), "texts")).status_code == 302
    assert study.audit.filter(action="texts changed").count() == 1
    client.force_login(cast.ben())
    assert client.get(PAGE).status_code == 200 and client.post(PAGE, sent).status_code == 403


def test_the_checklist_reports_a_language_without_texts_with_a_remedy(client):
    study = cast.draft("agreement", language="fi", task="likert")
    client.force_login(cast.ada())

    def line():
        return next(step for step in steps(study) if step.key == "language")

    assert not line().is_done and not line().is_blocking
    assert "no buttons and messages in the language “fi”" in line().reason and "(0 of " in line().reason
    page = client.get("/studies/agreement/launch/").content.decode()
    assert 'href="/studies/agreement/texts/"' in page and "English" in page
    study.participant_texts = own_for_all("likert")
    assert line().is_done
    study.participant_texts = {}
    for tag in ("ko", "fr-CA", "it", "ru", "en-GB"):
        study.language = tag
        assert line().is_done, tag


def test_a_frozen_version_from_before_has_the_same_checksum():
    study = cast.draft("agreement", task="likert")
    version = freeze(study)
    assert "participant_texts" not in version.snapshot and "public_title" not in version.snapshot


def test_templates_of_participants_translate_by_tags_only():
    """Text in a filter expression, ``_("…")``, does not pass our tags, so that no study could replace it."""
    folder = Path(settings.BASE_DIR) / "judgments" / "templates"
    assert [path.name for path in folder.rglob("*.html") if '_("' in path.read_text(encoding="utf-8")] == []
