"""What somebody deletes of their own leaves an entry in the history of their account, with what it held."""

import pytest
from django.urls import reverse

from experiments.models import AuditEntry, OwnParadigm, PairSet, WordList
from releases.models import ScoringRun
from tests import cast

pytestmark = pytest.mark.django_db


def entry_of(action: str) -> tuple[AuditEntry, str]:
    """The entry of an action and the value that it says was there before."""
    entry = AuditEntry.objects.get(action=action)
    [value] = entry.details["values"].values()
    assert value["new"] == ""
    return entry, value["old"]


def test_deleted_materials_are_named_with_the_scores_that_went_with_them(client):
    materials = cast.material_set("gone")
    ScoringRun.objects.create(material_set=materials, name="bright", method="lp", model="csv:x.csv")
    client.force_login(cast.user("root", is_staff=True))  # deletes for the owner
    address = reverse("material-delete", args=["gone"])
    client.post(address)
    assert not AuditEntry.objects.filter(action="materials deleted").exists()
    client.post(address, {"sure": "yes"})
    entry, before = entry_of("materials deleted")
    assert entry.account == cast.ada() and entry.user.username == "root"
    assert list(entry.details["values"]) == ["gone"]
    assert before.startswith("8 sentences, 4 pairs, scores of bright (lp); checksum ")
    client.force_login(cast.ada())
    assert "materials deleted" in client.get(reverse("account-history")).content.decode().lower()


def test_deleted_paradigms_and_words_are_named(client):
    client.force_login(cast.ada())
    paradigm = OwnParadigm.objects.create(owner=cast.ada(), uid="mine", language="en")
    words = WordList.objects.create(owner=cast.ada(), name="My words", language="en")
    client.post(reverse("paradigm-delete", args=[paradigm.pk]), {"sure": "yes"})
    client.post(reverse("words-delete", args=[words.pk]), {"sure": "yes"})
    for action, name in (("own paradigm deleted", "mine"), ("own words deleted", "My words")):
        entry, before = entry_of(action)
        assert list(entry.details["values"]) == [name] and before == "0 versions"
        assert entry.user == entry.account == cast.ada()


def test_a_deleted_set_of_pairs_is_named_with_their_number(ada):
    pairs = PairSet.objects.create(owner=cast.ada(), name="Islands", language="en", seed=1, n_each=10)
    ada.post(reverse("pair-set-delete", args=[pairs.pk]), {"sure": "yes"})
    entry, before = entry_of("pairs deleted")
    assert list(entry.details["values"]) == ["Islands"] and before == "0 pairs"
    assert entry.user == entry.account == cast.ada()
