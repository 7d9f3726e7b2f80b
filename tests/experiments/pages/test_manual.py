"""The documentation inside the service is grouped as the published one, and can be searched."""

import re

import pytest

pytestmark = pytest.mark.django_db


def test_pages_are_grouped_by_what_a_reader_wants_to_do(ada):
    text = ada.get("/manual/index.md").content.decode()
    positions = [text.index(f">{group}<") for group in ("Run a study", "Analyse", "Operate", "Reference")]
    assert positions == sorted(positions)


FIRST_PAGES = {  # searches in newcomers' words
    "which δ": "models/comparison.md",
    "score my own model": "tutorials/score-a-model.md",
    "score my HF model": "tutorials/score-a-model.md",
    "agreement of my MTurk file": "how-to/import-judgments.md",
    "how many participants": "statistics/power.md",
    "pay workers": "how-to/participants.md",
    "delete a participant's data": "how-to/participants.md",
    "main effect": "statistics/effects.md",
    "gold labels as a pandas dataframe": "how-to/gold-release.md",
    "export to lm-eval": "how-to/open-releases.md",
    "randomize order per participant": "how-to/design.md",
    "create an administrator": "how-to/first-server.md",
    "exclude careless people": "how-to/quality.md",
    "undo": "how-to/participants.md",
    "backup": "how-to/operate.md",
    "context above the sentence": "how-to/contexts.md",
    "krippendorff ALPHA": "statistics/reliability.md",
    "my first study": "how-to/first-study.md",
    "consent template": "how-to/studies.md",
}


def test_searches_in_newcomers_words_find_their_page_first(ada):
    pages = {}
    for query in FIRST_PAGES:
        results = ada.get("/manual/", {"q": query}).content.decode().split('class="results"', 1)[1]
        pages[query] = results.split('href="/manual/', 1)[1].split('"', 1)[0]
    assert pages == FIRST_PAGES


def test_a_search_matches_stems_of_words_and_no_parts_of_them(ada):
    text = ada.get("/manual/", {"q": "undo"}).content.decode().split('class="results"', 1)[1]
    assert "/manual/statistics/agreement.md" not in text  # undone
    assert "0 pages" in ada.get("/manual/", {"q": "greement"}).content.decode()
    assert "0 pages" not in ada.get("/manual/", {"q": "excluding participant"}).content.decode()


def test_long_pages_have_contents_whose_links_exist_and_pictures(ada):
    text = ada.get("/manual/how-to/first-study.md").content.decode()
    contents = text.split('class="contents"', 1)[1].split("</nav>", 1)[0]
    anchors = re.findall(r'href="#([^"]+)"', contents)
    assert len(anchors) == 7 and all(f'id="{anchor}"' in text for anchor in anchors)
    picture = re.search(r'<img src="\.\./(pictures/[^"]+)"', text)[1]
    assert ada.get(f"/manual/{picture}")["Content-Type"] == "image/png"
    assert 'class="contents"' not in ada.get("/manual/index.md").content.decode()


def test_a_search_without_a_result_shows_a_message_and_escapes_the_query(ada):
    text = ada.get("/manual/", {"q": "<b>xyzzy"}).content.decode()
    assert "0 pages with" in text and "<b>xyzzy" not in text


def test_directives_of_the_published_documentation_are_not_shown_as_text(ada):
    text = ada.get("/manual/statistics/agreement.md").content.decode()
    assert ":::" not in text and "analysis.agreement.report.agreement_report" in text


def test_only_files_of_the_documentation_are_pages(ada):
    for name in ("n" * 300 + ".md", "../README.md", "how-to/../../SECURITY.md", "none.md", "pictures"):
        assert ada.get(f"/manual/{name}").status_code == 404, name
