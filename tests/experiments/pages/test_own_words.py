"""Words of researchers: who adds and sees them, what a faulty row says, which paradigms use them."""

import pytest
from django.test import Client

from experiments.generation.lexicon import read_lexicon
from experiments.generation.pages.editor import BEGINNING
from experiments.generation.stored.library import check, save_paradigm
from experiments.generation.stored.pair_sets import create_pair_set
from experiments.generation.stored.word_lists import lexicon_for, save_words
from experiments.models import WordList
from tests import cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("few_pairs")]
NEW = "/lexicon/own/new/"
ROWS = """lemma,category,class,pl
zorblatt,noun,role,zorblatts
quillifer,noun,role,quillifers
"""
ABOUT = {"name": "invented", "language": "en", "source": "Own words", "licence": "CC0-1.0"}


def as_user(user):
    client = Client()
    client.force_login(user)
    return client


def added(user=None, text=ROWS, **about):
    return save_words(user or cast.ada(), text=text, **(ABOUT | about)).word_list


def test_strangers_log_in_first():
    assert Client().get(NEW).url.startswith("/accounts/login/")


def test_added_words_are_found_on_the_page_of_the_lexicon(ada):
    assert NEW in ada.get("/lexicon/").content.decode()
    assert ada.post(NEW, ABOUT | {"text": ROWS}).status_code == 302
    row = WordList.objects.get()
    assert (row.newest.n_rows, row.source, row.licence) == (2, "Own words", "CC0-1.0")
    page = ada.get("/lexicon/", {"q": "zorblatt"}).content.decode()
    assert "1 of" in page and "invented.csv, row 2" in page and "CC0-1.0" in page
    assert "zorblatts" in ada.get(f"/lexicon/own/{row.pk}/").content.decode()
    assert "0 of" in as_user(cast.cleo()).get("/lexicon/", {"q": "zorblatt"}).content.decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "lemma,category\nzorblatt,noun\n",
            "column &#x27;pl&#x27;: no form &#x27;pl&#x27; of &#x27;zorblatt&#x27;.",
        ),
        ("lemma,category,class,pl\nbaker,noun,role,\n", "stands in nouns_person.csv, row"),
        (
            "lemma,category,class,pl\nzorb,noun,role,zorbs\nzorb,noun,role,zorbs\n",
            "row 3, column &#x27;lemma&#x27;: zorb.noun stands in invented.csv, row 2 already.",
        ),
        ("lemma,category,class,pl\nzorb,noun,rle,zorbs\n", "Did you mean &#x27;role&#x27;"),
        ("lemma,category,clas,pl\nzorb,noun,role,zorbs\n", "row 1, column &#x27;clas&#x27;"),
        (
            "lemma,category,class,pl\nzorb,noun,role,bakers\n",
            "&#x27;bakers&#x27; is a form of &#x27;baker&#x27;, too",
        ),
        (
            "lemma,category,class,pl\nabduct,noun,role,abducts\n",
            "column &#x27;homonym&#x27;: &#x27;abduct&#x27; is also a form of a verb.",
        ),
        (
            "lemma,category,class,pl\nzorb,noun,role,zorba\n",
            "&#x27;irregular&#x27;: the plural of &#x27;zorb&#x27; is &#x27;zorba&#x27;. Write plural.",
        ),
        ("lemma,category\nwhom,wh\n", "&#x27;wh&#x27; cannot be added."),
        (
            "lemma,category,frame,object,s,past,participle,ing\nzo,verb,tr,=zorbl,zos,zod,zod,zoing",
            "column &#x27;object&#x27;: unknown noun &#x27;zorbl&#x27;.",
        ),
        ("lemma,category,pl\nzorb,adj,zorbs\n", "has no form &#x27;pl&#x27;. Empty the cell."),
        ("lemma,category\nzorb,noun,x\n", "row 2: has 3 cells, the header 2."),
        ("lemma,category\n1-Mar,noun\n", "is a date."),
        ("", "has no rows."),
        ("lemma,category\n\u202ezorb,noun\n", "control character"),
    ],
)
def test_a_faulty_row_is_named_with_file_row_and_remedy(ada, text, said):
    answer = ada.post(NEW, ABOUT | {"text": text})
    assert answer.status_code == 422 and said in answer.content.decode()
    assert not WordList.objects.exists()


def test_all_faults_are_named_at_once(ada):
    text = "lemma,category,class,pl\nzorb,noun,rle,zorbs\nquil,noun,role,\n"
    page = ada.post(NEW, ABOUT | {"text": text}).content.decode()
    assert "2 lines to mend" in page and "row 2" in page and "row 3" in page


def test_source_and_licence_are_asked_for(ada):
    page = ada.post(NEW, ABOUT | {"text": ROWS, "source": "", "licence": ""}).content.decode()
    assert page.count("This field is required.") == 2 and not WordList.objects.exists()


def test_a_form_that_the_lexicon_has_need_not_be_written(ada):
    verb = "lemma,category,sense,frame,subject,object\nabduct,verb,zorb,tr,person,animal\n"
    row = added(text=verb)
    (lexeme,) = [one for one in lexicon_for(cast.ada(), "en").rows if one.file == "invented.csv"]
    assert (row.newest.n_rows, lexeme.forms["past"]) == (1, "abducted")


def test_own_paradigms_draw_from_own_words_and_sets_record_them(ada):
    words = added()
    text = BEGINNING.replace('class = "person"', 'lemma = ["zorblatt", "quillifer"]')
    assert not check(text, lexicon=read_lexicon("en"), n=10).examples
    report = check(text, lexicon=lexicon_for(cast.ada(), "en"), n=10)
    assert any("zorblatt" in good.lower() for good, _ in report.examples)
    version = save_paradigm(cast.ada(), BEGINNING)
    address = f"own:{version.paradigm_id}"
    drawn = create_pair_set(cast.ada(), name="Words", addresses=[address], n=5, seed=1)
    assert drawn.recipe[0]["lexicon"].startswith(read_lexicon("en").version + "+")
    words.delete()
    later = create_pair_set(cast.ada(), name="Words", addresses=[address], n=5, seed=1)
    assert later.recipe[0]["lexicon"] == read_lexicon("en").version


def test_a_shared_paradigm_draws_from_the_words_of_its_owner_and_of_its_lab(ada):
    lab = cast.lab(ada="manager", ben="editor")
    added()
    added(cast.ben(), name="bens", text="lemma,category,class,pl\ngrimble,noun,role,grimbles\n")
    paradigm = save_paradigm(cast.ada(), BEGINNING).paradigm
    lemmas = {row.lemma for row in lexicon_for(paradigm, "en").rows}
    assert "zorblatt" in lemmas and "grimble" not in lemmas
    WordList.objects.filter(name="bens").update(lab=lab)
    paradigm.lab = lab
    assert {"zorblatt", "grimble"} <= {row.lemma for row in lexicon_for(paradigm, "en").rows}


def test_words_are_their_owners_until_they_are_shared(ada):
    row = added()
    base = f"/lexicon/own/{row.pk}/"
    cleo = as_user(cast.cleo())
    assert {cleo.get(f"{base}{address}").status_code for address in ("", "edit/")} == {404}
    assert {cleo.post(f"{base}{address}").status_code for address in ("edit/", "share/", "delete/")} == {404}
    lab = cast.lab(ada="manager", ben="editor", cleo="viewer")
    ada.post(f"{base}share/", {"share_with": f"lab:{lab.slug}"})
    assert cleo.get(base).status_code == 200 and cleo.get(f"{base}edit/").status_code == 403
    ben = as_user(cast.ben())
    sent = ABOUT | {"text": ROWS.replace("quillifer", "quillip"), "based_on": "1"}
    assert ben.post(f"{base}edit/", sent).status_code == 302
    assert (row.newest.number, row.newest.saved_by) == (2, cast.ben())
    assert ben.post(f"{base}delete/", {"sure": "yes"}).status_code == 403
    answer = ada.post(f"{base}edit/", sent)
    assert answer.status_code == 422 and "version 2 was saved meanwhile by ben" in answer.content.decode()
    ada.post(f"{base}delete/", {"sure": "yes"})
    assert not WordList.objects.exists()
