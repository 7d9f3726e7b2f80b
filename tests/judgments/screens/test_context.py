"""Contexts on a session's pages: above the sentences in every task, as models read them."""

import csv
import re

import pytest
from django.utils.html import strip_tags

from experiments.lists.build import trial_payload
from experiments.lists.extra_trials import lines_from_trials, trials_from_lines
from experiments.models import Experiment, Sentence
from experiments.tasks.registry import shown_task
from judgments.frames.measurements import evidence_frame
from judgments.models import Judgment, Trial
from judgments.screens.trial_screen import screen_content
from judgments.sessions.payload import SentAnswer
from judgments.sessions.protocol import load_protocol
from judgments.sessions.recording import record_answers
from judgments.simulation.http_client import InProcess
from judgments.simulation.participant import Persona
from judgments.simulation.walkthrough import visit
from releases.gold.build import build_release
from releases.gold.options import Options
from tests import cast
from tests.judgments.screens.walk import answer, consent, onward

pytestmark = pytest.mark.django_db
DIALOGUE = "A: **Who** left, a < b?\nB: No idea."
ABOVE, BEFORE = Experiment.ContextDisplay.ABOVE, Experiment.ContextDisplay.BEFORE
TASKS = ("forced_choice", "likert", "yes_no", "magnitude_estimation", "slider", "best_worst")


def context_study(*contexts: str, slug: str = "agreement", **fields):
    """A study of items whose good and bad sentences have these contexts."""
    materials = cast.material_set(slug, n_items=len(contexts) // 2)
    rows = list(Sentence.objects.filter(material_set=materials).order_by("pk"))
    for row, context in zip(rows, contexts, strict=True):
        row.attributes = {"context": context}
    Sentence.objects.bulk_update(rows, ["attributes"])
    fields = {"context_display": ABOVE, "instructions": "", **fields}
    return cast.study(slug, materials=materials, n_lists=1, **fields)


def trial_page(client, slug: str) -> str:
    """The first trial, whose task has no screens before it."""
    return client.get(consent(client, f"/take/{slug}/")).content.decode()


def text_of(response) -> str:
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return content.decode()


def csv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def contexts_in(html: str) -> list[str]:
    """The words of the contexts on a page, a line each."""
    blocks = re.findall(r'class="context.*?</span></span>', html, re.DOTALL)
    lines = [re.findall(r'<span class="turn">(.*?)</span>', block, re.DOTALL) for block in blocks]
    return ["\n".join(strip_tags(line) for line in block) for block in lines]


def test_participants_see_the_words_that_models_read_above_the_sentence_of_every_task(client):
    for task in TASKS:
        slug = task.replace("_", "-")
        own = {"set": ["One.", "Two.", "Three."], "correct": 0, "context": DIALOGUE}
        extras = ({"kind": "practice", "payload": own},) if task == "best_worst" else ()
        context_study(DIALOGUE, DIALOGUE, slug=slug, task=task, extras=extras)
        html = trial_page(client, slug)
        words = Sentence.objects.filter(material_set__name=slug).first().context
        assert words == "A: Who left, a < b?\nB: No idea."
        assert contexts_in(html) == [words.replace("<", "&lt;")], task
        assert "<strong>Who</strong>" in html and 'class="context dialogue"' in html
        assert html.index('class="context') < html.index('class="sentence', html.index("</h1>")), task


def test_a_context_before_has_a_screen_of_its_own_until_it_is_left(client):
    study = context_study(*[DIALOGUE] * 4, task="likert", context_display=BEFORE, context_label=True)
    address = consent(client, "/take/agreement/")
    html = client.get(address).content.decode()
    assert contexts_in(html) == ["A: Who left, a &lt; b?\nB: No idea."] and 'class="sentence' not in html
    assert '<span class="label" lang="en" dir="ltr">Context</span>' in html
    onward(client, address)
    for _ in range(2):  # a reload keeps the sentence
        html = client.get(address).content.decode()
        assert 'class="sentence' in html and 'class="context' not in html and "data-context-read" in html
    answer(client, address)
    second = Trial.objects.get(position=2)
    assert contexts_in(client.get(address).content.decode())
    late = client.post(address + "continue/", {"mark": "context-1"})  # a late click on the first screen
    assert late.status_code == 302 and 'class="sentence' not in client.get(address).content.decode()
    onward(client, address)
    refused = client.post(f"{address}trials/{second.public_id}/", {"response": ""})
    assert refused.status_code == 422 and 'class="sentence' in refused.content.decode()
    answer(client, address)
    assert second.session.experiment == study and Trial.objects.filter(judgment__isnull=False).count() == 2


def test_the_plan_states_how_contexts_before_are_left(client):
    for slug, fields, plan in (
        ("own", {"context_display": BEFORE}, {"ms": None}),
        ("timed", {"context_display": BEFORE, "context_ms": 1500}, {"ms": 1500}),
        ("above", {}, None),
    ):
        context_study(DIALOGUE, DIALOGUE, slug=slug, task="likert", **fields)
        token = consent(client, f"/take/{slug}/").strip("/").split("/")[-1]
        assert client.get(f"/api/v1/sessions/{token}/plan/").json().get("context") == plan


def test_different_contexts_of_options_stay_above_them_in_any_display(client):
    context_study("It rained.", "It snowed.", context_display=BEFORE)
    html = trial_page(client, "agreement")
    assert sorted(contexts_in(html)) == ["It rained.", "It snowed."] and html.count('class="in-context"') == 2


def test_simulated_times_of_contexts_reach_downloads_signals_releases_and_methods(client):
    study = context_study(DIALOGUE, DIALOGUE, task="likert", context_display=BEFORE)
    sessions = [
        visit(InProcess(), study, Persona(f"p{n}"), through=way) for n, way in enumerate(("api", "forms"))
    ]
    assert {session.status for session in sessions} == {"complete"}
    times = [row.timing.get("context_ms") for row in Judgment.objects.order_by("pk")]
    assert times[0] >= 220 and times[1] is None  # the plain form has no times
    client.force_login(cast.ada())
    rows = csv_rows(text_of(client.get("/api/v1/studies/agreement/judgments.csv?columns=raw")))
    assert [row["context_ms"] for row in rows] == [str(ms or "") for ms in times]
    evidence = evidence_frame(study)
    assert evidence["n_context_characters"].tolist() == [len("A: Who left, a < b?\nB: No idea.")] * 2
    files = build_release(study, Options()).files
    assert [row["context_ms"] for row in csv_rows(files["judgments.csv"].decode())] == [
        str(ms or "") for ms in times
    ]
    assert b"read on a separate screen before it (left by a key or button after" in files["methods.md"]


def test_options_with_different_contexts_each_have_their_own(client):
    context_study("It rained.", "It snowed.")
    html = trial_page(client, "agreement")
    assert sorted(contexts_in(html)) == ["It rained.", "It snowed."]
    assert html.count('class="in-context"') == 2 and 'id="context"' not in html
    trial = Trial.objects.get()
    shown = trial.shown
    record_answers(trial.session.token, [SentAnswer(trial.public_id, shown["options"][0]["id"])])
    client.force_login(cast.ada())
    rows = text_of(client.get("/api/v1/studies/agreement/judgments.csv?columns=raw"))
    assert '"[""It rained."", ""It snowed.""]"' in rows or '"[""It snowed."", ""It rained.""]"' in rows
    page = client.get("/studies/agreement/judgments/").content.decode()
    assert shown["options"][0]["context"] in page
    assert {option["context"] for option in shown["options"]} == {"It rained.", "It snowed."}
    content = screen_content(shown, load_protocol(trial.session.version))
    assert "context" not in content and all(option["context"]["lines"] for option in content["options"])


def test_studies_frozen_before_contexts_were_shown_do_not_show_them(client):
    study = context_study(DIALOGUE, DIALOGUE, context_display=Experiment.ContextDisplay.HIDDEN)
    version = study.current_version()
    del version.snapshot["context_display"]
    version.save()
    html = trial_page(client, "agreement")
    assert "Who" not in html and "context" not in Trial.objects.get().shown


def test_contexts_of_japanese_break_between_phrases(client):
    context_study(*["太郎が花子に会った。"] * 2, task="likert", language="ja")
    Sentence.objects.update(language="ja")
    html = trial_page(client, "agreement")
    assert "太郎が<wbr>花子に<wbr>会った。" in html and 'class="context phrases" lang="ja"' in html


def test_a_studys_own_sentences_have_the_context_of_their_line():
    for task, line in (
        ("likert", r"context: A: Who?\nB: Who? | She left. | 6-7"),
        ("forced_choice", "context: It rained. | She left. | She leave."),
    ):
        task = shown_task(task)
        rows = trials_from_lines(line, task=task, kind="catch")
        assert rows[0]["context"] in {"A: Who?\nB: Who?", "It rained."}
        assert lines_from_trials(rows, task=task) == line
        assert trial_payload(rows[0] if "text" in rows[0] else _marked(rows[0]))["context"]


def _marked(row):
    options = [{**option, "expected": index == 0} for index, option in enumerate(row["options"])]
    return {**row, "options": options}
