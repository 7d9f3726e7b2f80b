"""The page of the lexicon: who sees it, what a search finds, what a wrong condition says."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
PAGE = "/lexicon/"


def page(client, **query):
    answer = client.get(PAGE, query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_strangers_log_in_first():
    assert Client().get(PAGE).url.startswith("/accounts/login/")


def test_a_form_finds_its_lemma(ada, client):
    text = page(client, q="overthrew")
    assert "1 of" in text and "overthrow" in text and "verbs_transitive.csv, row" in text


def test_conditions_select_as_paradigms_do(ada, client):
    text = page(client, category="refl", where="gender=f|m number=sg")
    assert "2 of" in text and "herself" in text and "himself" in text and "themselves" not in text
    assert "No row fits." in page(client, category="noun", where="class=person", q="ladder")


def test_a_wrong_condition_names_near_names(ada, client):
    assert "Did you mean &#x27;frame&#x27;" in page(client, category="verb", where="frme=tr")
    assert "is no condition. Write column=value." in page(client, category="verb", where="tr")
    assert "conditions need a category. Choose one." in page(client, where="frame=tr")


def test_another_language_has_rows_of_its_own(ada, client):
    text = page(client, language="zh", q="马", category="noun")
    assert 'lang="zh"' in text and "匹" in text
    assert "weave" in page(client, language="xx", q="weave")


def test_pages_keep_the_search(ada, client):
    text = page(client, category="noun")
    assert "?category=noun&amp;page=2" in text and "Page 1 of" in text


def test_markup_in_a_search_is_text(ada, client):
    assert "<b>x</b>" not in page(client, q="<b>x</b>")
