"""The library of paradigms and its editor: who sees, writes and shares what, and what is refused."""

import pytest
from django.test import Client

from experiments import limits
from experiments.generation.pages.editor import BEGINNING
from experiments.generation.paradigms import shipped_paradigms
from experiments.generation.stored.library import built_in, save_paradigm
from experiments.models import AuditEntry, Membership, OwnParadigm
from experiments.studies.history import old_and_new
from tests import cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("few_pairs")]
HOME = "/paradigms/"
NEW = "/paradigms/new/"


def page(client, address, status=200, **query):
    answer = client.get(address, query)
    assert answer.status_code == status
    return answer.content.decode()


def written(user=None, uid="doubled_clerk", text=BEGINNING):
    return save_paradigm(user or cast.ada(), text.replace("my_paradigm", uid)).paradigm


def as_user(user):
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("address", ["", "new/", "preview/", "sets/", "built-in/en/wh_island/", "own/1/"])
def test_strangers_log_in_first(address):
    assert Client().get(f"{HOME}{address}").url.startswith("/accounts/login/")


def test_the_list_is_reached_from_materials_and_has_every_paradigm(ada):
    assert f'href="{HOME}"' in page(ada, "/materials/")
    text = page(ada, HOME)
    assert all(f"/paradigms/built-in/en/{uid}/" in text for uid in shipped_paradigms())
    assert "BLiMP" in text and "island effects" in text and "Chinese, simplified" in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_figures_of_the_list_are_those_of_the_files(language):
    current = [row for row in built_in(language) if row.figures]
    # A paradigm that changed shows none until `lint_paradigm all --figures` is run again.
    assert len(current) >= len(built_in(language)) - 5
    assert all(row.figures["capacity"] >= 20_000 and 0 <= row.figures["words"] <= 1 for row in current)


def test_a_built_in_paradigm_shows_examples_of_a_seed_and_its_file(ada):
    first = page(ada, f"{HOME}built-in/en/wh_island/", seed=1)
    assert first.count("<tr>") > 8 and "seed 1" in first and "format = 1" in first
    assert page(ada, f"{HOME}built-in/en/wh_island/", seed=2) != first
    page(ada, f"{HOME}built-in/en/nothing/", status=404)
    page(ada, f"{HOME}built-in/en/wh_island/", seed="nine")


def test_a_copy_of_a_built_in_paradigm_begins_under_another_name(ada):
    text = page(ada, NEW, **{"from": "en:wh_island"})
    assert "uid = &quot;wh_island_own&quot;" in text and "no errors" in text


def test_a_saved_text_becomes_the_next_version(ada):
    assert ada.post(NEW, {"text": BEGINNING}).status_code == 302
    row = OwnParadigm.objects.get()
    assert (row.uid, row.owner, row.newest.number, row.newest.n_errors) == ("my_paradigm", cast.ada(), 1, 0)
    changed = BEGINNING.replace("tonight", "again")
    address = f"{HOME}own/{row.pk}/edit/"
    ada.post(address, {"text": changed, "based_on": "1"})
    ada.post(address, {"text": changed, "based_on": "2"})
    assert [version.number for version in row.versions.all()] == [2, 1]
    assert "tonight" in page(ada, f"{HOME}own/{row.pk}/versions/1/")
    assert "tonight" in page(ada, address, version=1)
    assert "Version 1" in page(ada, f"{HOME}own/{row.pk}/")


def test_a_text_saved_meanwhile_is_not_overwritten(ada):
    row = written()
    save_paradigm(cast.ada(), BEGINNING.replace("my_paradigm", "doubled_clerk") + "\n", paradigm=row)
    answer = ada.post(f"{HOME}own/{row.pk}/edit/", {"text": BEGINNING, "based_on": "1"})
    assert answer.status_code == 422
    assert "version 2 was saved meanwhile by ada" in answer.content.decode().lower()
    assert row.versions.count() == 2


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('frame = "tr"', 'frame = "tr"', ""),
        ("[draw]", "[drow]", "line 9</a>|Did you mean draw or own?"),
        ('class = "person"', 'class = "persn"', "line 13</a>|Did you mean person"),
        ("{time} the {head}", "{tim} the {head}", "line 22</a>|{tim} is no slot."),
        ("format = 1", "format = ", "line 1</a>|not TOML"),
    ],
)
def test_the_editor_names_line_and_remedy(ada, before, after, said):
    answer = ada.post("/paradigms/check/", {"text": BEGINNING.replace(before, after)})
    text = answer.content.decode()
    assert answer.status_code == 200 and "<html" not in text
    assert all(part in text for part in said.split("|"))
    assert ("Examples, seed 0" in text) == (before == after)


def test_an_uploaded_file_takes_the_place_of_the_text(ada, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(BEGINNING.replace("my_paradigm", "uploaded"), encoding="utf-8")
    with file.open("rb") as stream:
        ada.post(NEW, {"text": "", "file": stream})
    assert OwnParadigm.objects.get().uid == "uploaded"
    file.write_bytes(b"format = 1 # \xff")
    with file.open("rb") as stream:
        answer = ada.post(NEW, {"text": "", "file": stream})
    assert "The text is not UTF-8" in answer.content.decode() or "not UTF-8" in answer.content.decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * 100_001, "100,001 characters"),
        ("format = 1", "has no name"),
        (BEGINNING.replace("my_paradigm", "wh_island"), "the platform has a paradigm named wh_island"),
        (BEGINNING.replace("my_paradigm", "../etc"), "has no name"),
        (BEGINNING.replace('"en"', '"xx"'), "unknown language"),
        ("not toml", "not TOML"),
        (BEGINNING + "\0", "NUL"),
    ],
)
def test_what_cannot_be_saved_stays_in_the_editor(ada, text, said):
    answer = ada.post(NEW, {"text": text})
    assert answer.status_code == 422 and said.lower() in answer.content.decode().lower()
    assert not OwnParadigm.objects.exists()


def test_a_text_with_errors_is_saved_and_not_drawn_from(ada):
    row = written(text=BEGINNING.replace("{time} the", "{tim} the"))
    assert row.newest.n_errors == 1
    answer = ada.get("/paradigms/preview/", {"paradigm": f"own:{row.pk}"})
    assert "{tim} is no slot." in answer.content.decode()


def test_too_many_values_and_frames_are_refused_at_once(ada):
    many = "[draw]\n" + "".join(f'v{n} = ["a", "b"]\n' for n in range(40))
    text = ada.post("/paradigms/check/", {"text": BEGINNING.replace("[draw]\n", many)}).content.decode()
    assert "combinations of values" in text
    frames = '[[frames]]\ngood = "the {head} {be} {adj}."\n' * 50
    text = ada.post("/paradigms/check/", {"text": BEGINNING.replace("[contrast]", f"{frames}[contrast]")})
    assert "52 frames." in text.content.decode()
    macros = "".join(f's{n} = {{ use = "np.person" }}\n' for n in range(5))
    mentioned = " ".join(f"{{s{n}}}" for n in range(5))
    many = BEGINNING.replace("[slots]\n", f"[slots]\n{macros}").replace("{adj}.", f"{{adj}} {mentioned}.")
    assert "variants so far." in ada.post("/paradigms/check/", {"text": many}).content.decode()


def test_markup_in_a_text_is_text(ada):
    text = BEGINNING.replace("agrees with its subject", "<script>alert(1)</script>")
    row = written(text=text)
    for address in (f"own/{row.pk}/", f"own/{row.pk}/edit/", ""):
        assert "<script>alert(1)" not in page(ada, f"{HOME}{address}")


def test_a_paradigm_is_its_owners_until_it_is_shared(ada):
    row = written()
    cleo = as_user(cast.cleo())
    for address in ("", "edit/", "versions/1/"):
        assert cleo.get(f"{HOME}own/{row.pk}/{address}").status_code == 404
    for address in ("edit/", "share/", "delete/"):
        assert cleo.post(f"{HOME}own/{row.pk}/{address}", {"text": BEGINNING}).status_code == 404
    assert "doubled_clerk" not in page(cleo, HOME)
    assert (
        "There is no paradigm"
        in cleo.get("/paradigms/preview/", {"paradigm": f"own:{row.pk}"}).content.decode()
    )
    assert "doubled_clerk" not in page(cleo, NEW, **{"from": f"own:{row.pk}"})


def test_a_lab_shares_it_by_the_roles_of_its_members(ada):
    row = written()
    lab = cast.lab(ada="manager", ben="editor", cleo="viewer")
    ada.post(f"{HOME}own/{row.pk}/share/", {"share_with": f"lab:{lab.slug}"})
    ben, cleo = as_user(cast.ben()), as_user(cast.cleo())
    assert "shared with the lab" in page(cleo, f"{HOME}own/{row.pk}/")
    assert cleo.get(f"{HOME}own/{row.pk}/edit/").status_code == 403
    assert cleo.post(f"{HOME}own/{row.pk}/edit/", {"text": BEGINNING}).status_code == 403
    text = BEGINNING.replace("my_paradigm", "doubled_clerk").replace("tonight", "again")
    assert ben.post(f"{HOME}own/{row.pk}/edit/", {"text": text, "based_on": "1"}).status_code == 302
    assert row.newest.saved_by == cast.ben()
    assert ben.post(f"{HOME}own/{row.pk}/share/", {"share_with": ""}).status_code == 403
    ada.post(f"{HOME}own/{row.pk}/share/", {"share_with": f"lab:{lab.slug}"})  # as before: no entry
    entry = AuditEntry.objects.get(action="own paradigm shared")
    assert entry.account == entry.user == cast.ada()
    assert old_and_new(entry.details) == {"doubled_clerk": ("nobody", f"the lab {lab}")}
    assert ben.post(f"{HOME}own/{row.pk}/delete/", {"sure": "yes"}).status_code == 403


def test_a_study_shares_it_by_the_roles_of_its_team(ada):
    row = written()
    study = cast.draft("agreement")
    Membership.objects.get_or_create(experiment=study, user=cast.ada(), defaults={"role": "owner"})
    ada.post(f"{HOME}own/{row.pk}/share/", {"share_with": f"study:{study.slug}"})
    ben = as_user(cast.ben())
    assert "shared with the team of" in page(ben, f"{HOME}own/{row.pk}/")
    assert ben.get(f"{HOME}own/{row.pk}/edit/").status_code == 403
    assert as_user(cast.cleo()).get(f"{HOME}own/{row.pk}/").status_code == 404


def test_nobody_shares_with_a_lab_of_others(ada):
    row, lab = written(), cast.lab("Theirs", ben="manager")
    text = ada.post(
        f"{HOME}own/{row.pk}/share/", {"share_with": f"lab:{lab.slug}"}, follow=True
    ).content.decode()
    row.refresh_from_db()
    assert "Not shared" in text and row.lab is None


def test_deleting_asks_first(ada):
    row = written()
    assert "Delete doubled_clerk?" in ada.post(f"{HOME}own/{row.pk}/delete/").content.decode()
    ada.post(f"{HOME}own/{row.pk}/delete/", {"sure": "yes"})
    assert not OwnParadigm.objects.exists()


def test_checks_of_one_user_are_limited(ada, monkeypatch):
    def refuse(*args, **options):
        raise limits.LimitReached(12)

    monkeypatch.setattr(limits, "count", refuse)
    text = ada.post("/paradigms/check/", {"text": BEGINNING}).content.decode()
    assert "More than 60 checks in a minute. Wait 12 s." in text
