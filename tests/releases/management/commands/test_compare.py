"""``manage.py compare --materials``: the pairs of a stored set."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from experiments.models import MaterialSet, Sentence

pytestmark = pytest.mark.django_db
PAIRS = [("The keys are here.", "The keys is here."), ("A cup is here.", "A cup are here.")]


@pytest.fixture
def scores(tmp_path):
    """Two stored pairs of BLiMP's form, scored so that the first is right and the second wrong."""
    lines = [
        json.dumps({"sentence_good": good, "sentence_bad": bad, "UID": "agreement", "pairID": str(number)})
        for number, (good, bad) in enumerate(PAIRS)
    ]
    (tmp_path / "agreement.jsonl").write_text("\n".join(lines))
    call_command(
        "import_materials", str(tmp_path / "agreement.jsonl"), "--name", "Agreement", stdout=StringIO()
    )
    (tmp_path / "table.csv").write_text(
        "sentence,m\n" + "".join(f"{sentence},{-n}\n" for n, sentence in enumerate(sum(PAIRS, ())[:2]))
        + f"{PAIRS[1][0]},-9\n{PAIRS[1][1]},-8\n"
    )  # fmt: skip
    words = ["--materials", "agreement", "--to", str(tmp_path / "scores.csv")]
    call_command("score", f"csv:{tmp_path / 'table.csv'}", *words, stdout=StringIO())
    return tmp_path / "scores.csv"


def test_stored_pairs_are_compared_without_a_file_of_pairs(scores):
    printed = StringIO()
    call_command("compare", "--materials", "Agreement", "--scores", str(scores), "--json", stdout=printed)
    model = json.loads(printed.getvalue())["models"][0]
    assert (model["pairs"], model["blimp"]) == (2, 0.5)
    assert [row["paradigm"] for row in model["by_paradigm"]] == ["agreement"]


def test_columns_of_sounds_are_named_of_files_and_of_stored_sets(scores, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(
        "pair_id,good_id,bad_id,played\n"
        + "".join(f"{n},agreement:{n}:good,agreement:{n}:bad,clip{n}.wav\n" for n in range(2))
    )
    Sentence.objects.update(attributes={"drawing": "a.png"})
    for source, column in ((["--pairs", str(pairs)], "played"), (["--materials", "Agreement"], "drawing")):
        printed = StringIO()
        call_command("compare", *source, "--scores", str(scores), stdout=printed)
        assert f"warning: {column} names files. Models read the text" in printed.getvalue()


def test_a_set_without_pairs_is_named(scores):
    MaterialSet.objects.create(name="Words", slug="words", language="en", checksum="0" * 64)
    with pytest.raises(CommandError, match="'words' hold no minimal pairs.*--pairs") as refusal:
        call_command("compare", "--materials", "words", "--scores", str(scores))
    assert refusal.value.returncode == 2
