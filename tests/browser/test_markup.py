"""Inline markup in the engine: the same elements as on the plain page, and never a script."""

import random

import pytest
from playwright.sync_api import Dialog, Page

from experiments.materials.markup import as_html, plain
from experiments.models import Sentence
from judgments.screens.trial_screen import sentence_context
from tests.browser.playing import finish, shown_trial
from tests.cast import begin, material_set, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
MARKED = (
    "<em>She</em> saw <u>him</u>, <ruby>私<rt>わたし</rt></ruby> &lt; "
    f'<span lang="ar" dir="rtl">هو</span> {EVIL}'
)
PLAIN = f"a < b & c &amp; <em>as typed</em> Cafe\u0301 ə̃ 👩🏽‍🚀 “l'eau” {EVIL}"
PIECES = [
    *(
        "<em>",
        "</em>",
        "<u>",
        "</u>",
        "<br>",
        "<",
        ">",
        "&",
        "&lt;",
        "&eacute;",
        "<script>",
        "<sub>",
        "</sub>",
        "<!--",
    ),
    *(
        "<ruby>",
        "<rt>",
        "</rt>",
        "</ruby>",
        '<span lang="ar" dir="rtl">',
        "</span>",
        EVIL,
        "<a href='javascript:x'>",
    ),
    *(
        "Cafe\u0301",
        "ə̃",
        "[ˈt͡ʃɪɫ]",
        "👩🏽‍🚀",
        "🏳️‍🌈",
        "“l'eau”",
        "don’t",
        '"',
        "'",
        "`x`",
        "ذهبت",
        "הוא",
        "می‌خواهم",
        "𐤀",
    ),
    *("  ", "\u00a0", "\u2067", "{{ x }}", "%(n)s", "𠮷", "a", "B", " "),
]
BUILD = """async ({ cases }) => {
  const { sentence } = await import("/static/js/engine/dom.js");
  return cases.map((one) => {
    const element = sentence(one);
    return [element.innerHTML, element.textContent];
  });
}"""


def a_session(**fields):
    materials = material_set(n_items=1, texts=(MARKED, PLAIN))
    Sentence.objects.filter(condition="good").update(attributes={"markup": "inline"})
    return begin(study(materials=materials, n_lists=1, instructions="", **fields))


def refuse_dialogs(page: Page) -> list[str]:
    """Dialogs that a script opened."""
    messages: list[str] = []

    def note(dialog: Dialog) -> None:
        messages.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    return messages


def rendered_sentences(page: Page) -> list[tuple[str, str]]:
    """Markup and words of the sentences on the screen, the marked one first."""
    rendered = page.locator(".sentence").evaluate_all(
        "all => all.map(one => [one.innerHTML, one.textContent])"
    )
    return sorted(map(tuple, rendered), reverse=True, key=lambda pair: "<em>" in pair[0])


def test_the_engine_and_the_plain_page_show_the_same_elements(open_page, check_page):
    session = a_session()
    plain_page, page = open_page(plain=True), open_page()
    dialogs = refuse_dialogs(plain_page) + refuse_dialogs(page)
    for tab in (plain_page, page):
        tab.goto(f"/s/{session.token}/")
    shown_trial(page)
    assert rendered_sentences(page) == rendered_sentences(plain_page)
    (marked, words), (_, typed) = rendered_sentences(page)
    assert words.startswith("She saw him, 私わたし < هو <script>") and typed == PLAIN
    assert page.locator(".sentence em, .sentence u, .sentence ruby rt, .sentence [lang=ar]").count() == 4
    assert page.locator(".sentence script, .sentence img").count() == 0
    check_page(page)
    finish(page)
    assert dialogs == []


@pytest.mark.parametrize("has_markup", [True, False])
def test_sentences_of_any_signs_come_out_as_they_went_in(has_markup, open_page):
    chance = random.Random(20261120)
    texts = ["".join(chance.choices(PIECES, k=chance.randint(1, 12))) for _ in range(400)]
    cases = [sentence_context({"text": text, "language": "ar", "markup": has_markup}) for text in texts]
    page = open_page()
    page.goto("/accounts/login/")
    dialogs = refuse_dialogs(page)
    built = page.evaluate(BUILD, {"cases": cases})
    parse = """all => all.map(one =>
        Object.assign(document.createElement("template"), { innerHTML: one }).innerHTML)"""
    if has_markup:
        assert [html for html, _ in built] == page.evaluate(parse, [as_html(text) for text in texts])
        readings = ["<rt>" in text or "<br>" in text for text in texts]
        words = [words for (_, words), apart in zip(built, readings, strict=True) if not apart]
        assert words == [plain(text) for text, apart in zip(texts, readings, strict=True) if not apart]
    else:
        assert [words for _, words in built] == texts
    assert dialogs == []
