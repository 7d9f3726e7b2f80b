"""Inline markup on a session's pages: the study's texts, and sentences that say they carry it."""

import pytest

from analysis.errors import BadInput
from experiments.intake.store import MaterialSetInfo, store_materials
from experiments.lists.build import trial_payload
from experiments.lists.extra_trials import checked_trials, lines_from_trials, trials_from_lines
from experiments.materials.readers.detect import read_materials
from experiments.models import Design, Sentence
from experiments.studies.lifecycle import open_study
from experiments.tasks.registry import shown_task
from judgments.models import Session, Trial
from tests import cast
from tests.judgments.screens.walk import action, consent, hidden, onward

pytestmark = pytest.mark.django_db
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
SAFE = "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;"
MARKED = '<em>She</em> saw <u>him</u> &lt; <span lang="de">sich</span>.'


def marked_study(good=MARKED, bad="a < b & c", **fields):
    """A study whose good member carries markup; the bad one is plain text."""
    materials = cast.material_set(n_items=1, texts=(good.replace("{", "{{"), bad))
    Sentence.objects.filter(condition="good").update(attributes={"markup": "inline"})
    return cast.study("agreement", materials=materials, n_lists=1, instructions="", **fields)


def test_a_marked_sentence_is_shown_with_its_markup_and_a_plain_one_as_typed(client):
    marked_study()
    html = client.get(consent(client, "/take/agreement/")).content.decode()
    assert '<em>She</em> saw <u>him</u> &lt; <span lang="de">sich</span>.</span>' in html
    assert ">a &lt; b &amp; c</span>" in html


def test_the_plan_holds_the_words_and_the_parts_of_a_marked_sentence(client):
    marked_study()
    token = consent(client, "/take/agreement/").strip("/").split("/")[-1]
    (trial,) = client.get(f"/api/v1/sessions/{token}/plan/").json()["trials"]
    marked, plain = sorted(trial["options"], key=lambda option: "nodes" not in option)
    assert marked["text"] == "She saw him < sich." and plain["text"] == "a < b & c"
    assert marked["nodes"][0] == {"tag": "em", "nodes": ["She"]} and "nodes" not in plain
    texts = {option["text"] for option in Trial.objects.get().shown["options"]}
    assert texts == {MARKED, "a < b & c"}  # the trial keeps what was shown, tags and all


def test_tags_in_a_sentence_without_markup_are_shown_as_typed(client):
    marked_study(bad="<b>bold</b>")
    html = client.get(consent(client, "/take/agreement/")).content.decode()
    assert "&lt;b&gt;bold&lt;/b&gt;" in html


PAIR_LINES = {
    "practice": "markup: inline | <em>Cats</em> sleep. | <em>Cats</em> sleeps. | Right: <b>plural</b>.",
    "catch_trials": "<em>Dogs</em> bark. | Bark dogs.",
}


def test_a_studys_own_sentences_have_markup_where_their_line_declares_it(client):
    task = shown_task("forced_choice")
    extras = {name: trials_from_lines(line, task=task, kind="catch") for name, line in PAIR_LINES.items()}
    study = cast.draft("agreement", **extras)
    Design.objects.create(experiment=study, n_lists=2)
    open_study(study, cast.ada())
    address = consent(client, "/take/agreement/")
    onward(client, address)
    html = client.get(address).content.decode()
    assert "<em>Cats</em> sleep.</span>" in html and "<em>Cats</em> sleeps.</span>" in html
    token = address.strip("/").split("/")[-1]
    trials = client.get(f"/api/v1/sessions/{token}/plan/").json()["trials"]
    options = [option for trial in trials for option in trial["options"]]
    assert {option["text"] for option in options if "nodes" in option} == {"Cats sleep.", "Cats sleeps."}
    assert "<em>Dogs</em> bark." in {option["text"] for option in options if "nodes" not in option}
    assert [lines_from_trials(rows, task=task) for rows in extras.values()] == list(PAIR_LINES.values())


@pytest.mark.parametrize("name", ["likert", "best_worst"])
def test_lines_of_other_tasks_carry_markup_too_and_come_back_as_they_were(name):
    task = shown_task(name)
    line = "markup: inline | <i>a</i> | " + ("6-7" if name == "likert" else "b | c")
    (row,) = trials_from_lines(line, task=task, kind="practice")
    assert row["markup"] == "inline" and trial_payload(row)["markup"] == "inline"
    assert lines_from_trials([row], task=task) == line


def test_another_word_for_markup_is_refused():
    with pytest.raises(BadInput, match="markup 'html'"):
        checked_trials([{"text": "x", "markup": "html"}], task=shown_task("likert"), kind="practice")


def test_a_script_in_a_marked_sentence_is_text(client):
    marked_study(good="<em>x</em> " + EVIL)
    html = client.get(consent(client, "/take/agreement/")).content.decode()
    assert f"<em>x</em> {SAFE}" in html and "<script>alert" not in html and "<img src=x" not in html


def test_a_model_scores_the_words(client):
    marked_study()
    assert {sentence.words for sentence in Sentence.objects.all()} == {"She saw him < sich.", "a < b & c"}


TEXT = "One <em>clear</em> text & more.\n\nSecond <b>paragraph</b> " + EVIL
SHOWN = f"<p>One <em>clear</em> text &amp; more.</p>\n<p>Second <b>paragraph</b> {SAFE}</p>"


def test_every_text_of_a_study_keeps_its_inline_tags_and_nothing_else(client):
    question = {"name": "q", "label": f"Do you <em>speak</em> it? {EVIL}", "type": "choice", "required": True}
    question |= {"choices": ["<u>yes</u>", f"no {EVIL}"], "help": f"<b>Any</b> dialect {EVIL}"}
    quiz = [{"question": f"What <b>counts</b>? {EVIL}", "right": "<em>sound</em>", "wrong": [EVIL]}]
    texts = {"consent": TEXT, "instructions": TEXT, "debrief": TEXT}
    study = cast.study("agreement", n_lists=1, **texts, questionnaire=[question], quiz=quiz)
    pages = [client.get("/take/agreement/").content.decode()]
    session = consent(client, "/take/agreement/")
    pages.append(client.get(session).content.decode())
    client.post(action(pages[-1]), {"q": "<u>yes</u>"})
    pages.append(client.get(session).content.decode())
    client.post(action(pages[-1]), {"mark": hidden(pages[-1], "mark")})
    pages.append(client.get(session).content.decode())
    finished = cast.sit(study, "quentin")
    pages.append(client.get(f"/s/{finished.token}/").content.decode())
    assert [SHOWN in page for page in pages] == [True, False, True, False, True]
    assert f"Do you <em>speak</em> it? {SAFE}" in pages[1] and f"<b>Any</b> dialect {SAFE}" in pages[1]
    assert "<span><u>yes</u></span>" in pages[1] and f"<span>no {SAFE}</span>" in pages[1]
    assert f"What <b>counts</b>? {SAFE}" in pages[3] and "<em>sound</em>" in pages[3]
    assert not any("<script>alert" in page or "<img" in page for page in pages)
    assert Session.objects.get(pk=finished.pk).participant.background == {}
    plan = client.get(f"/api/v1{session.replace('/s/', '/sessions/')}plan/").json()
    assert plan["instructions"] == TEXT
    assert plan["instructions_nodes"][0] == ["One ", {"tag": "em", "nodes": ["clear"]}, " text & more."]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "pairs.jsonl",
            '{"sentence_good": "<em>a</em> b", "sentence_bad": "b a", "UID": "x", "markup": "inline"}',
        ),
        ("pairs.csv", "good,bad,Markup\n<em>a</em> b,b a,Inline\n"),
        ("one.csv", "sentence_id,sentence,markup\n1,<em>a</em> b,inline\n2,b a,\n"),
    ],
)
def test_a_column_of_the_file_declares_markup(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    store_materials(read_materials([tmp_path / name]), MaterialSetInfo("marked"))
    assert Sentence.objects.get(text="<em>a</em> b").words == "a b"


def test_instructions_and_debrief_are_markdown_with_their_line_breaks(client):
    text = f"# Keys\n\n**F**: left\nJ: right\n\n- one\n- [two](https://example.org)\n\n{EVIL} *The cat sleep."
    study = cast.study("agreement", n_lists=1, instructions=text, debrief=text)
    session = consent(client, "/take/agreement/")
    first = client.get(session).content.decode()
    onward(client, session)
    during = client.get(session).content.decode()
    for trial in study.sessions.get().trials.select_related("session__experiment"):
        cast.record(study.sessions.get(), trial.public_id, cast.answer_to(trial))
    last = client.get(session).content.decode()
    for html, level in ((first, 2), (during, 2), (last, 3)):
        assert f"<h{level}>Keys</h{level}>\n<p><strong>F</strong>: left<br>\nJ: right</p>" in html
        assert '<li><a href="https://example.org"' in html
        assert SAFE in html and EVIL not in html and "*The cat sleep." in html
