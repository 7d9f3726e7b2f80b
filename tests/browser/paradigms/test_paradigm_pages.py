"""Pages of paradigms in a browser: axe finds nothing, nothing scrolls sideways, the editor is live."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from experiments.generation.pages.editor import BEGINNING
from experiments.generation.stored.library import save_paradigm
from experiments.generation.stored.pair_sets import create_pair_set, strike_pair
from experiments.generation.stored.word_lists import save_words
from tests import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROWS = "lemma,category,class,pl\nzorblatt,noun,role,zorblatts\n"
MISSPELT = ('class = "person"', 'class = "persn"')


@pytest.fixture
def workbench(open_page, client, live_server):
    """A page of Ada's, who has a paradigm, words, and a set of pairs."""
    client.force_login(cast.ada())

    def opened(width, scheme):
        page = open_page(width=width, color_scheme=scheme)
        value = client.cookies["sessionid"].value
        page.context.add_cookies([{"name": "sessionid", "value": value, "url": live_server.url}])
        return page

    return opened


def addresses():
    paradigm = save_paradigm(cast.ada(), BEGINNING.replace(*MISSPELT)).paradigm
    about = {"name": "words", "language": "en", "source": "own", "licence": "CC0-1.0"}
    words = save_words(cast.ada(), text=ROWS, **about).word_list
    row = create_pair_set(cast.ada(), name="Islands", addresses=["en:wh_island"], n=8, seed=1)
    pair = row.pairs.first()
    strike_pair(pair, cast.ada(), reason="odd")
    base = f"/paradigms/sets/{row.pk}/"
    own = f"/paradigms/own/{paradigm.pk}/"
    return [
        *("/paradigms/", "/paradigms/new/", "/paradigms/built-in/en/wh_island/"),
        *(own, f"{own}edit/", f"{own}versions/1/"),
        *("/paradigms/preview/?paradigm=en:wh_island", "/paradigms/sets/"),
        *(base, f"{base}validation/", f"{base}pairs/{pair.pk}/"),
        *("/lexicon/", "/lexicon/own/new/", f"/lexicon/own/{words.pk}/"),
    ]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_every_page_of_paradigms_reads_well(workbench, width, scheme):
    page = workbench(width, scheme)
    wrong = {}
    for address in addresses():
        assert page.goto(address).status == 200, address
        results = Axe().run(page)
        if results.violations_count:
            wrong[address] = results.generate_report()
        elif page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong[address] = "scrolls sideways"
    assert wrong == {}


def test_the_editor_names_the_line_while_one_writes_and_takes_one_there(workbench):
    page = workbench(1280, "light")
    page.goto("/paradigms/new/")
    findings, text = page.locator(".findings li"), page.locator("#text")
    expect(findings).to_have_count(0)
    text.fill(BEGINNING.replace(*MISSPELT))
    expect(findings).to_have_text(re.compile(r"line 13.*Did you mean person"))
    findings.locator("a").press("Enter")
    expect(text).to_be_focused()
    chosen = text.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)")
    assert chosen.startswith("head = ") and '"persn"' in chosen
    text.fill(BEGINNING)
    first = page.locator(".pairs-read tbody td").first
    expect(first).to_have_text(re.compile(r"\w+\."))
    before = first.inner_text()
    page.get_by_role("button", name="Draw again").click()
    expect(first).not_to_have_text(before)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".messages")).to_contain_text("Saved as version 1 of my_paradigm.")
