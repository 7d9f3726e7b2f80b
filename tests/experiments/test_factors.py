"""Factorial tables: factors, levels and fillers by command and on the page, and half a mapping refused."""

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from experiments.lists.build import filler_stimuli, lists_by_round, target_stimuli
from experiments.models import MaterialSet, Sentence
from tests.experiments import factorial

pytestmark = pytest.mark.django_db
ABOUT = {"name": "Islands", "language": "en", "source": "", "licence": "", "format": "auto"}
MAPPED = ("--map", "condition=structure+distance", "filler=is_filler")


@pytest.fixture
def table(tmp_path, settings):
    """A factorial table as a file; uploads go beside it."""
    settings.MEDIA_ROOT = tmp_path / "media"
    path = tmp_path / "islands.csv"
    path.write_text(factorial.table(), encoding="utf-8")
    return path


def run(*arguments: object) -> str:
    out = io.StringIO()
    call_command("import_materials", *map(str, arguments), stdout=out)
    return out.getvalue()


def preview(client, table) -> str:
    sent = SimpleUploadedFile(table.name, table.read_bytes())
    return client.post(reverse("material-upload"), {**ABOUT, "files": [sent]}).url


def test_columns_become_factors_and_fillers(table):
    printed = run(table, "--name", "Islands", *MAPPED)
    assert "structure (non-island, island) × distance (short, long)" in printed and "Fillers: 6" in printed
    materials = MaterialSet.objects.get()
    assert materials.levels == factorial.LEVELS
    sentence = Sentence.objects.get(condition="island:long", item__key="2")
    assert sentence.factors == {"structure": "island", "distance": "long"} and sentence.attributes == {}
    fillers = Sentence.objects.filter(is_filler=True)
    assert fillers.count() == 6 and set(fillers.values_list("condition", flat=True)) == {""}
    # fillers numbered 1 to 6 are no sentences of item sets 1 to 4
    assert not {"1", "2", "3", "4"} & set(fillers.values_list("item__key", flat=True))
    assert materials.pairs.count() == 12 and not materials.pairs.filter(good__is_filler=True).exists()


def test_levels_are_named_and_ordered(table):
    table.write_text(table.read_text().replace(",non-island,", ",0,").replace(",island,", ",1,"))
    levels = ("--levels", "structure=1:island,0:non-island", "distance=long,short")
    document = json.loads(run(table, "--name", "Islands", *MAPPED, *levels, "--json"))
    assert document["factors"] == {"structure": ["island", "non-island"], "distance": ["long", "short"]}
    assert Sentence.objects.filter(condition="non-island:short").count() == 4


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ((), "4 sentences, which only the columns structure and distance together tell apart"),
        (
            ("--map", "condition=structure"),
            "only the column distance tells apart.*condition=structure.distance",
        ),
        (("--map", "condition=structure+distance", "filler="), "row 18, column 'structure': .*map filler to"),
        (("--map", "condition=structure+distance", "item="), "have no items.*Map item"),
        (("--map", "condition=structure+dist"), "missing column dist"),
        ((*MAPPED, "--levels", "distance=short,far"), "there is no level 'far'"),
        ((*MAPPED, "--levels", "structure=island:x,non-island:x"), "two values have the same level"),
        (("--map", "condition=distance", "filler=structure"), "does not say whether the row is a filler"),
    ],
)
def test_half_a_mapping_stores_nothing(table, mapping, message):
    with pytest.raises(CommandError, match=message) as caught:
        run(table, "--name", "Islands", *mapping)
    assert caught.value.returncode == 2 and not MaterialSet.objects.exists()


def test_a_column_may_be_stated_to_be_no_factor(table):
    run(
        table,
        "--name",
        "Islands",
        "--map",
        "condition=structure",
        "attribute=distance",
        "--map",
        "item=item_set",
    )
    sentence = Sentence.objects.filter(item__key="1").first()
    assert (sentence.condition, sentence.attributes) == ("non-island", {"distance": "short"})


def test_sets_without_factors_keep_their_checksum(tmp_path):
    path = tmp_path / "keys.csv"
    path.write_text("item,condition,sentence,expected\n1,a,The keys are here.,1\n1,b,The keys is here.,0\n")
    document = json.loads(run(path, "--name", "Keys", "--json"))
    # as computed before factors and fillers were stored
    assert document["checksum"] == "411a89bc517e6fc50aee7947d25cd54607d9a1bfde12c125d8483c222ddc6790"


def test_the_page_proposes_factors_by_their_values_and_stores_them(ada, table):
    address = preview(ada, table)
    page = ada.get(address)
    choices = {row["column"]: row["field"].initial for row in page.context["columns"].rows}
    assert choices == {
        "item_set": "item",
        "structure": "factor",
        "distance": "factor",
        "text": "sentence",
        "is_filler": "filler",
        "expected_status": "expected",
    }
    assert "by its values" in page.content.decode()
    assert page.context["grid"]["rows"][1]["cells"][1]["expected"] == "unacceptable"
    ada.post(address, {**ABOUT, **page_fields(page), "action": "import"})
    assert MaterialSet.objects.get().levels == factorial.LEVELS


def page_fields(page) -> dict[str, object]:
    """What a browser would post without touching anything."""
    fields = {row["field"].html_name: row["field"].initial for row in page.context["columns"].rows}
    for factor in page.context["factors"]:
        column = factor["column"]
        fields[f"value-{column}"] = [value for value, _ in factor["levels"]]
        fields[f"name-{column}"] = [name for _, name in factor["levels"]]
        fields[f"position-{column}"] = [str(place) for place in range(1, len(factor["levels"]) + 1)]
    return fields


def test_levels_are_ordered_and_named_on_the_page(ada, table):
    address = preview(ada, table)
    fields = page_fields(ada.get(address))
    fields |= {"position-structure": ["2", "1"], "name-structure": ["that clause", "whether clause"]}
    shown_again = ada.post(address, {**ABOUT, **fields, "action": "again"}, follow=True)
    assert shown_again.context["report"]["factors"]["structure"] == ["whether clause", "that clause"]
    ada.post(address, {**ABOUT, **page_fields(shown_again), "action": "import"})
    assert MaterialSet.objects.get().levels["structure"] == ["whether clause", "that clause"]


def test_half_a_mapping_on_the_page_is_refused_with_the_columns_that_lack(ada, table):
    address = preview(ada, table)
    fields = {**page_fields(ada.get(address)), "column-2": ""}  # distance is kept, structure the only factor
    refused = ada.post(address, {**ABOUT, **fields, "action": "import"}, follow=True).content.decode()
    assert "only the column distance tells apart" in refused and not MaterialSet.objects.exists()
    assert "Store these materials" not in refused
    stated = {**fields, "column-2": "attribute"}
    ada.post(address, {**ABOUT, **stated, "action": "import"})
    assert MaterialSet.objects.get().levels == {}


def test_two_columns_for_one_field_are_refused(ada, table):
    address = preview(ada, table)
    fields = {**page_fields(ada.get(address)), "column-5": "item"}
    page = ada.post(address, {**ABOUT, **fields, "action": "import"}, follow=True).content.decode()
    assert "are both item" in page and not MaterialSet.objects.exists()


def test_fillers_of_the_materials_are_shown_between_the_targets(tmp_path):
    study = factorial.study(tmp_path)
    assert len(target_stimuli(study)) == 16 and len(filler_stimuli(study, study.design)) == 6
    for trials in lists_by_round(study)[0]:
        kinds = [trial.kind for trial in trials]
        assert (kinds.count("target"), kinds.count("filler")) == (4, 6)
        assert len({trial.condition for trial in trials if trial.kind == "target"}) == 4
