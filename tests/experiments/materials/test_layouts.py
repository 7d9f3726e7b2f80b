"""Ordinary spreadsheets: title rows, a column for each condition, conditions that name several levels."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from analysis.errors import BadInput
from experiments.materials.readers.detect import read_materials
from experiments.materials.readers.layout import parse_split
from experiments.models import MaterialSet
from tests.experiments.materials.spreadsheet_files import write_xlsx
from tests.experiments.pages.page_forms import sent_by_browser

CELLS = ("g_sg", "g_pl", "u_sg", "u_pl")
TITLED = [
    ["Attraction, version 3", "", "", "", ""],
    ["", "", "", "", ""],
    ["Item", *CELLS],
    *([str(item), *(f"Sentence {item} {cell} is here." for cell in CELLS)] for item in (1, 2)),
]


def test_the_row_of_the_header_is_named_and_can_be_given(write_file, tmp_path):
    rows = [["Attraction, version 3", "", ""], ["Item", "Cond", "Sentence"], ["1", "a", "It rains."]]
    text = write_file("titled.csv", "\n".join(";".join(row) for row in rows))
    for path in (text, write_xlsx(tmp_path / "titled.xlsx", {"items": rows})):
        with pytest.raises(BadInput, match="row 2 has Item, Cond, Sentence.*--header-row 2"):
            read_materials([path])
        (sentence,) = read_materials([path], header_row=2).sentences.to_dict("records")
        assert (sentence["item"], sentence["condition"], sentence["row"]) == ("1", "a", 3)


def test_a_title_of_several_words_is_not_taken_for_a_sentence(write_file):
    table = "item,condition,sentence,expected\n1,a,It rains.,1\n1,b,It rain.,0\n2,a,She left.,1\n"
    for above, row in (("Stimuli of Experiment 1\n\n", 3), (",,text,status\n", 2)):
        with pytest.raises(BadInput, match=f"row {row} has item, condition, sentence, expected"):
            read_materials([write_file("titled.csv", above + table)])
        assert len(read_materials([write_file("titled.csv", above + table)], header_row=row).sentences) == 3
    foreign = write_file("pilot.csv", "Pilot,,\n2026,,\nNr,Satz,Status\n1,Die Sonne scheint.,1\n")
    with pytest.raises(BadInput, match="row 3 has Nr, Satz, Status.*--header-row 3"):
        read_materials([foreign])
    named = write_file("types.csv", "item,cond,sentence,type\n1,a,It rains.,item\n9,f,She left.,filler\n")
    assert len(read_materials([named]).sentences) == 2  # a cell "item" is no header


def test_a_column_for_each_condition_becomes_factors(tmp_path):
    path = write_xlsx(tmp_path / "wide.xlsx", {"items": TITLED})
    with pytest.raises(BadInput, match=r"--map sentence=g_sg\+g_pl\+u_sg\+u_pl"):
        read_materials([path], header_row=3)
    materials = read_materials(
        [path],
        header_row=3,
        mapping={"sentence": "+".join(CELLS)},
        split=parse_split("_=grammaticality,number"),
    )
    assert materials.factors == {"grammaticality": ("g", "u"), "number": ("sg", "pl")}
    assert len(materials.sentences) == 8 and set(materials.sentences["item"]) == {"1", "2"}
    with pytest.raises(BadInput, match="'g_sg' has 2 parts"):
        read_materials([path], header_row=3, mapping={"sentence": "g_sg+g_pl"}, split=parse_split("_=a,b,c"))


@pytest.mark.django_db
def test_pasted_rows_with_a_title_are_read_below_the_chosen_row(ada):
    pasted = "\n".join("\t".join(row) for row in TITLED)
    sent = ada.post(reverse("material-upload"), {"pasted": pasted, "name": "Pasted", "language": "en"})
    address = sent["Location"]
    assert "row 3 has Item" in ada.get(address).content.decode()
    form = {"name": "Pasted", "language": "en", "format": "auto", "action": "again", "header_row": "3"}
    ada.post(address, form)
    assert "several columns hold sentences" in ada.get(address).content.decode()
    columns = {"column-0": "item", **{f"column-{number}": "sentence" for number in range(1, 5)}}
    ada.post(address, {**form, **columns, "split_condition": "_=grammaticality,number"})
    ada.post(address, {**form, **columns, "split_condition": "_=grammaticality,number", "action": "import"})
    stored = MaterialSet.objects.get(name="Pasted")
    assert stored.sentences.count() == 8
    assert list(stored.levels) == ["grammaticality", "number"]
    refused = ada.post(reverse("material-upload"), {"name": "None", "language": "en"}).content.decode()
    assert "Choose files, or paste rows below." in refused


@pytest.mark.django_db
def test_the_first_rows_of_every_file_are_shown_for_the_choice_of_the_header(ada):
    titled = "Experiment {0}\nItem,condition,sentence\n1,a,She left {0}.\n1,b,She leave {0}.\n"
    files = [SimpleUploadedFile(f"{name}.csv", titled.format(name).encode()) for name in ("one", "two")]
    address = ada.post(reverse("material-upload"), {"files": files, "name": "Two", "language": "en"}).url
    page = ada.get(address).content.decode()
    for name in ("one", "two"):
        assert f"<caption>{name}.csv</caption>" in page and f"She left {name}." in page
    assert page.count('type="radio" name="header_row"') == 4
    form = {"name": "Two", "language": "en", "format": "auto", "header_row": "2"}
    ada.post(address, {**form, "action": "again"})
    ada.post(address, {**form, "action": "import"})
    assert MaterialSet.objects.get(name="Two").sentences.count() == 4


@pytest.mark.django_db
def test_read_again_keeps_the_choices_of_a_spreadsheet(ada):
    """The form of the page, sent again as it is, reads the same: header row, columns, factors, levels."""
    pasted = "\n".join("\t".join(row) for row in TITLED)
    address = ada.post(reverse("material-upload"), {"pasted": pasted, "name": "Pasted", "language": "en"}).url
    chosen = {"column-0": "item", **{f"column-{number}": "sentence" for number in range(1, 5)}}
    chosen |= {"header_row": "3", "split_condition": "_=grammaticality,number", "source": "made up"}
    about = {"name": "Pasted", "language": "en", "format": "auto", "licence": "CC0-1.0"}
    ada.post(address, {**about, "header_row": "3", "action": "again"})
    ada.post(address, {**about, **chosen, "action": "again"})
    first = ada.get(address)
    assert list(first.context["report"]["factors"]) == ["grammaticality", "number"]
    for action in ("again", "again", "import"):
        page = ada.get(address)
        assert page.context["report"] == first.context["report"]
        ada.post(address, {**sent_by_browser(page.content.decode(), "reading"), "action": action})
    stored = MaterialSet.objects.get(name="Pasted")
    assert (stored.source, stored.licence) == ("made up", "CC0-1.0")
    assert {name: len(levels) for name, levels in stored.levels.items()} == {"grammaticality": 2, "number": 2}
