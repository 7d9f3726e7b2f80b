"""The documentation inside the service is grouped as the published one, and can be searched."""

import pytest

pytestmark = pytest.mark.django_db


def test_pages_are_grouped_by_what_a_reader_wants_to_do(ada):
    text = ada.get("/manual/index.md").content.decode()
    positions = [text.index(f">{group}<") for group in ("Run a study", "Analyse", "Operate", "Reference")]
    assert positions == sorted(positions)


def test_a_search_finds_pages_with_all_words_titles_first(ada):
    text = ada.get("/manual/", {"q": "krippendorff ALPHA"}).content.decode()
    assert 'href="/manual/statistics/reliability.md"' in text.split("<article", 1)[1]
    first = ada.get("/manual/", {"q": "power"}).content.decode().split('class="results"', 1)[1]
    assert first.index("/manual/statistics/power.md") < first.index("/manual/how-to/")


def test_a_search_without_a_result_shows_a_message_and_escapes_the_query(ada):
    text = ada.get("/manual/", {"q": "<b>xyzzy"}).content.decode()
    assert "0 pages with" in text and "<b>xyzzy" not in text


def test_directives_of_the_published_documentation_are_not_shown_as_text(ada):
    text = ada.get("/manual/statistics/agreement.md").content.decode()
    assert ":::" not in text and "analysis.agreement.report.agreement_report" in text


def test_only_files_of_the_documentation_are_pages(ada):
    for name in ("n" * 300 + ".md", "../README.md", "how-to/../../SECURITY.md", "none.md", "pictures"):
        assert ada.get(f"/manual/{name}").status_code == 404, name
