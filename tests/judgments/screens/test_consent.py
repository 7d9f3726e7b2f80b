"""The consent page: Markdown, statements to tick, a copy to keep, contact at the foot."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
import typst
from django.test import Client
from markdown_it import MarkdownIt

from experiments.materials import markdown
from experiments.materials.markdown import as_blocks
from experiments.pages.settings import SettingsForm
from judgments.models import Consent, Session
from judgments.screens import consent_copy
from judgments.screens.arrival_views import consent_record
from judgments.sessions.protocol import load_protocol
from judgments.simulation.http_client import InProcess
from judgments.simulation.participant import Persona
from judgments.simulation.walkthrough import visit
from tests import cast
from tests.judgments.screens.walk import consent, hidden

pytestmark = pytest.mark.django_db
LINK = "/take/agreement/"
TEXT = """# What we keep

Your *answers*, see [the policy](https://example.org/privacy) or write to ethics@example.org.

- You can stop at any time.
- <script>alert(1)</script> [no](javascript:alert(1))
"""
STATEMENTS = [
    {"text": "I am 18 or older.", "required": True},
    {"text": "You may invite me again.", "required": False},
]


def a_study(**fields):
    return cast.study("agreement", consent=TEXT, consent_statements=STATEMENTS, **fields)


def filled(client, **ticks):
    html = client.get(LINK).content.decode()
    return {"arrival": hidden(html, "arrival"), "consent": "yes", **ticks}


def test_markdown_has_headings_lists_and_links_and_nothing_that_runs(client):
    a_study()
    html = client.get(LINK).content.decode()
    assert "<h2>What we keep</h2>" in html and "<li>You can stop at any time.</li>" in html
    assert (
        '<a href="https://example.org/privacy" target="_blank" rel="noopener noreferrer">the policy</a>'
        in html
    )
    assert 'href="mailto:ethics@example.org"' in html
    assert "<script>alert" not in html and 'href="javascript' not in html and "&lt;script&gt;" in html


def test_required_statements_are_ticked_and_all_are_stored_with_the_consent(client):
    study = a_study()
    refused = client.post(LINK, filled(client, statement_2="yes"))
    assert "Please tick each statement" in refused.content.decode() and not Session.objects.exists()
    assert client.post(LINK, filled(client, statement_1="yes")).status_code == 302
    stored = Consent.objects.get()
    assert [(row["text"], row["ticked"]) for row in stored.statements] == [
        ("I am 18 or older.", True),
        ("You may invite me again.", False),
    ]
    assert "I am 18 or older." in consent_record(load_protocol(study.current_version()))


def test_refusing_needs_no_statements_and_simulated_participants_tick_them(client):
    study = a_study()
    assert "formnovalidate" in client.get(LINK).content.decode()
    assert "You do not take part" in client.post(LINK, {**filled(client), "consent": "no"}).content.decode()
    assert visit(InProcess(), study, Persona("pia")).status == "complete"


def test_the_consent_copy_is_available_as_page_and_pdf(client):
    study = a_study(contact="lab@example.org", title="How natural?")
    for address in (f"{LINK}consent/", f"{LINK}consent.pdf"):
        assert address in client.get(LINK).content.decode()
    page = client.get(f"{LINK}consent/").content.decode()
    assert "☐ I am 18 or older." in page and "You agreed" not in page
    response = client.get(f"{LINK}consent.pdf")
    assert response["Content-Type"] == "application/pdf" and response.content.startswith(b"%PDF")
    session_address = client.post(LINK, filled(client, statement_1="yes"))["Location"]
    page = client.get(f"{session_address}consent/").content.decode()
    assert "☒ I am 18 or older." in page and "☐ You may invite me again." in page and "You agreed" in page
    assert client.get(f"{session_address}consent.pdf").content.startswith(b"%PDF")
    session = Session.objects.get()
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial))
    assert f"{session_address}consent.pdf" in client.get(session_address).content.decode()
    assert Client().get("/take/nowhere/consent.pdf").status_code == 404
    assert study.sessions.count() == 1


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("lab@example.org", 'href="mailto:lab@example.org"'),
        ("https://example.org/lab", 'href="https://example.org/lab"'),
        ("room <5>", "room &lt;5&gt;"),
    ],
)
def test_the_contact_is_at_the_foot_of_every_page(client, contact, link):
    study = cast.study("agreement", contact=contact, debrief="Thanks.")
    pages = [client.get(LINK), client.get(f"{LINK}consent/")]
    session_address = consent(client, LINK)
    pages += [
        client.get(session_address),
        client.get(f"{session_address}leave/"),
        client.get(f"{session_address}withdraw/"),
        client.get(f"{session_address}kept/"),
    ]
    session = study.sessions.get()
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial))
    pages.append(client.get(session_address))
    cast.study("other", contact=contact)
    form = {"arrival": hidden(Client().get("/take/other/").content.decode(), "arrival"), "consent": "no"}
    pages.append(Client().post("/take/other/", form))
    study.status = "paused"
    study.save()
    pages.append(Client().get(LINK))
    for page in pages:
        assert link in page.content.decode().partition("<footer")[2]


def test_statements_are_written_one_per_line_in_the_settings():
    study = cast.draft("agreement", consent_statements=STATEMENTS)
    form = SettingsForm(instance=study, user=cast.ada())
    lines = "I am 18 or older.\nYou may invite me again. | optional"
    assert form["consent_statements"].initial == lines


def test_fonts_of_the_machine_are_not_used(client):
    consent_copy._compile_pdf.cache_clear()
    cast.study("agreement", consent="你可以随时停止。", language="zh-Hans")
    assert client.get(f"{LINK}consent.pdf")["Content-Type"].startswith("text/html")


def test_boxes_to_tick_are_drawn_without_a_font(client):
    a_study()
    pdf = client.get(f"{LINK}consent.pdf").content
    assert set(re.findall(rb"/BaseFont ?/\w+\+([a-zA-Z]+)", pdf)) == {b"LibertinusSerif"}


@pytest.mark.parametrize(
    ("language", "text", "family"),
    [
        ("ar", "تُحفظ إجاباتك.", "Noto Naskh Arabic"),
        ("zh-Hans", "直角、骨、海。", "Noto Serif CJK SC"),
        ("zh-TW", "直角、骨、海。", "Noto Serif CJK TC"),
        ("ja", "直角、骨、海。", "Noto Serif CJK JP"),
        ("ko", "문장을 읽습니다.", "Noto Serif CJK KR"),
    ],
)
def test_a_pdf_has_the_shapes_of_the_language(client, settings, language, text, family):
    fonts = typst.Fonts()
    folders = sorted({str(Path(font.path).parent) for font in fonts.fonts() if font.family == family})
    if not folders:
        pytest.skip(f"{family} is not installed")
    settings.PDF_FONTS = folders
    consent_copy._compile_pdf.cache_clear()
    cast.study("agreement", consent=text, language=language)
    response = client.get(f"{LINK}consent.pdf")
    assert response["Content-Type"] == "application/pdf"
    assert family.replace(" ", "").lower().encode() in response.content.lower()


def test_fonts_without_serifs_or_of_one_weight_are_enough():
    study = cast.study("agreement", consent="你可以**随时**停止。", language="zh-Hans")
    source = consent_copy._source(load_protocol(study.versions.get()), None)
    assert '"Noto Serif CJK SC", "Noto Sans CJK SC"' in source
    assert "#show strong: set text(stroke:" in source
    plain = cast.study("plain", consent="You may stop at **any** time.")
    assert "stroke" not in consent_copy._source(load_protocol(plain.versions.get()), None)


def test_a_script_without_a_font_has_the_page_to_print_in_place_of_the_pdf(client):
    cast.study("agreement", consent="Only \U0010fffd draws this.", language="de", contact="lab@example.org")
    response = client.get(f"{LINK}consent.pdf")
    page = response.content.decode()
    assert response["Content-Type"].startswith("text/html") and "Das PDF kann hier nicht erstellt" in page
    assert "Only \U0010fffd draws this." in page and "mailto:lab@example.org" in page
    assert "Das PDF kann" not in client.get(f"{LINK}consent/").content.decode()


MARKDOWN = """# Study

Intro with *emphasis*, **strength**, `code`, <u>lines</u>, H<sub>2</sub>O, x<sup>2</sup>, <s>gone</s>,
<b>bold\\
and broken</b>, [a link](https://example.org "title"), <https://example.com>, me@example.org.

```
Your data are stored
in two places.
```

> As typed

3. three
4. four

   a second paragraph
***
<ruby>私<rp>(</rp><rt>w</rt><rp>)</rp></ruby> <span lang="fr" dir="ltr">oui</span>
<script>typed</script> \\* &amp; &copy;
"""


def visible_text(html):
    """The letters that a browser shows."""
    without_rp = re.sub(r"<rp>.*?</rp>", "", html)
    return re.sub(r"[\s\u200b]+", "", unescape(re.sub(r"<[^>]*>", "", without_rp)))


def pdf_text(source):
    """The letters that Typst shows; addresses of links are not among them."""
    texts = re.findall(r'#("(?:[^"\\]|\\.)*");', source)
    return re.sub(r"[\s\u200b]+", "", "".join(json.loads(text, strict=False) for text in texts))


def examples(specification):
    """The Markdown of each example of CommonMark's specification."""
    found = re.findall(r"^`{32} example\n(.*?)^\.\n.*?^`{32}$", specification, re.M | re.S)
    return [text.replace("→", "\t") for text in found]


def check_copies(texts):
    """Every text that the page shows is in the Typst source, which compiles."""
    sources = []
    for text in texts:
        html = as_blocks(text)
        source = consent_copy._typeset(html)
        assert pdf_text(source) == visible_text(html), text
        sources.append(source)
    typst.compile("\n\n#pagebreak()\n\n".join(sources).encode())


def test_the_pdf_shows_what_the_page_shows():
    assert set(consent_copy.ELEMENTS) == markdown._TAGS
    check_copies([MARKDOWN])
    source = consent_copy._typeset(as_blocks(MARKDOWN))
    for part in (
        "Your data are stored",
        "#enum(start: 3",
        "#line(",
        "#sub[",
        "#underline[",
    ):
        assert part in source, part


@pytest.mark.parametrize(
    "opened", ["<b>", "<i>a", "*a ", "<sub>a<u>", "[a](https://example.org) <s>", "> <b>"]
)
def test_the_pdf_shows_a_text_with_many_tags_in_each_other(opened):
    check_copies([opened * 300 + "end" + ("b*" * 300 if opened == "*a " else "")])


REFERENCE = '[part]: https://example.org/part "title"\n\n[part], [text][part]\n'
UNDERLINED = "Low heading\n---\n"
BROKEN = "One line  \nand the next\n"
NEEDED = {"text", "paragraph", "balance_pairs", "fragments_join"}  # no text without these


def test_the_pdf_shows_each_construct_of_the_parser_in_each_container():
    """The examples use every rule of the parser: without it, they would be another page."""
    blocks = [*MARKDOWN.split("\n\n"), REFERENCE, UNDERLINED, BROKEN]
    text = "\n\n".join(blocks)
    rules = markdown._PARSER.get_active_rules()
    for rule in {*rules["block"], *rules["inline"], *rules["inline2"]} - NEEDED:
        without = MarkdownIt("commonmark", {"html": True}).disable(["code", "image", "html_block", rule])
        assert without.render(text) != markdown._PARSER.render(text), rule
    containers = ["{}", "> {}", "- {}", "1. {}", "> - {}", "- > {}", "> > {}", "- a\n\n  - {}", "# a\n\n{}"]
    inside = [
        container.format(block.replace("\n", "\n" + " " * (len(container.split("\n")[-1]) - 2)))
        for container in containers
        for block in blocks
    ]
    check_copies([text, *inside])


def test_the_pdf_shows_every_example_of_commonmark(shared_data):
    texts = examples(shared_data("commonmark/spec.txt").read_text(encoding="utf-8"))
    assert len(texts) > 600
    check_copies(texts)
