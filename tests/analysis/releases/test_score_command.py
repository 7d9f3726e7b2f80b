"""``manage.py score --materials``: the sentences of a stored set."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from experiments.models import Item, MaterialSet, Sentence

pytestmark = pytest.mark.django_db


@pytest.fixture
def materials():
    stored = MaterialSet.objects.create(
        name="Two sentences", slug="two-sentences", language="en", checksum="0" * 64
    )
    item = Item.objects.create(material_set=stored, key="i1")
    for key, text in (("i1.good", "The cat sleeps."), ("i1.bad", "The cat sleep.")):
        Sentence.objects.create(material_set=stored, item=item, key=key, text=text)
    return stored


def test_sentences_of_a_stored_set_are_scored_in_its_order(materials, tmp_path):
    (tmp_path / "table.csv").write_text("sentence_id,gpt\ni1.bad,-9\ni1.good,-7\n")
    printed = StringIO()
    call_command(
        "score", f"csv:{tmp_path / 'table.csv'}", "--materials", "two-sentences",
        "--to", str(tmp_path / "out.csv"), "--json", stdout=printed,
    )  # fmt: skip
    assert json.loads(printed.getvalue())["sentences"] == 2
    assert (tmp_path / "out.csv").read_text() == "sentence_id,table:lp\ni1.good,-7.0\ni1.bad,-9.0\n"


def test_an_unknown_set_is_answered_with_near_names(materials, tmp_path):
    (tmp_path / "table.csv").write_text("sentence_id,gpt\na,1\n")
    with pytest.raises(CommandError, match="two-sentences") as refusal:
        call_command(
            "score",
            f"csv:{tmp_path / 'table.csv'}",
            "--materials",
            "two-sentence",
            "--to",
            str(tmp_path / "o.csv"),
        )
    assert refusal.value.returncode == 2
