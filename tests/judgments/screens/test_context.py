"""Contexts on a session's pages: above the sentences in every task, as models read them."""

import re

import pytest
from django.utils.html import strip_tags

from experiments.lists.build import trial_payload
from experiments.lists.extra_trials import lines_from_trials, trials_from_lines
from experiments.models import Experiment, Sentence
from experiments.tasks.registry import shown_task
from judgments.models import Trial
from judgments.screens.trial_screen import screen_content
from judgments.sessions.payload import SentAnswer
from judgments.sessions.recording import record_answers
from tests import cast
from tests.judgments.screens.walk import consent

pytestmark = pytest.mark.django_db
DIALOGUE = "A: **Who** left, a < b?\nB: No idea."
ABOVE = Experiment.ContextDisplay.ABOVE
TASKS = ("forced_choice", "likert", "yes_no", "magnitude_estimation", "slider", "best_worst")


def context_study(*contexts: str, slug: str = "agreement", **fields):
    """A study of one item whose good and bad sentence have these contexts."""
    materials = cast.material_set(slug, n_items=1)
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
    content = screen_content(shown)
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
