"""Dataset folders of Hugging Face are read as they lie on disk, without the library, and from a ZIP."""

import json
import zipfile
from io import StringIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from experiments.materials.readers.dataset_folders import dataset_names, is_dataset
from experiments.materials.readers.detect import read_materials
from experiments.materials.readers.sheets import read_sheet
from experiments.models import MaterialSet
from judgments.models import Judgment

PAIRS = [("It rains.", "It rain."), ("We left.", "We leaved."), ("Dogs bark.", "Dogs barks.")]


def pairs(*numbers) -> list[dict]:
    return [{"sentence_good": PAIRS[n][0], "sentence_bad": PAIRS[n][1], "UID": "verbs"} for n in numbers]


def jsonl(path, rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def parquet(path, rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def saved(folder, rows, *, features=None, **state) -> None:
    """A folder as ``Dataset.save_to_disk`` writes it."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows)
    if features:
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    name = "data-00000-of-00001.arrow"
    with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    document = {"_data_files": [{"filename": name}], "_split": "train", **state}
    (folder / "state.json").write_text(json.dumps(document))
    (folder / "dataset_info.json").write_text(json.dumps({"features": features or {}}))


def card(folder, configs: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(f"---\nlicense: mit\n{configs}---\n\n# A dataset\n")


def packed(folder, place, *, below="") -> None:
    with zipfile.ZipFile(place, "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, f"{below}{path.relative_to(folder).as_posix()}")
    return place


CARD = """configs:
- config_name: verbs
  data_files:
  - split: train
    path: verbs/part-*.jsonl
  - split: test
    path: [verbs/held.jsonl]
- config_name: other
  data_files: other.csv
  default: true
"""


@pytest.fixture
def dataset(tmp_path):
    """Two configurations by the card, one with two splits."""
    folder = tmp_path / "set"
    card(folder, CARD)
    jsonl(folder / "verbs/part-0.jsonl", pairs(0))
    jsonl(folder / "verbs/part-1.jsonl", pairs(1))
    jsonl(folder / "verbs/held.jsonl", pairs(2))
    (folder / "other.csv").write_text("sentence_id,sentence\na,Birds sing.\n")
    return folder


def test_the_tables_of_a_card_are_configurations_and_splits(dataset):
    assert is_dataset(dataset)
    assert dataset_names(dataset) == ["verbs", "verbs/train", "verbs/test", "other"]
    assert read_sheet(dataset).frame["sentence"].tolist() == ["Birds sing."]
    test = read_sheet(dataset, sheet="verbs/test")
    assert test.frame["sentence_good"].tolist() == ["Dogs bark."] and "split" not in test.frame


def test_rows_of_several_files_are_numbered_on_and_their_files_named(dataset):
    table = read_sheet(dataset, sheet="verbs")
    assert table.frame["sentence_good"].tolist() == [good for good, _ in PAIRS]
    assert table.frame["split"].tolist() == ["train", "train", "test"]
    assert table.frame.index.tolist() == [1, 2, 3]
    assert table.source.notes == (
        "row 1 is verbs/part-0.jsonl",
        "row 2 is verbs/part-1.jsonl",
        "row 3 is verbs/held.jsonl",
    )


def test_materials_are_read_from_a_configuration(dataset):
    materials = read_materials([dataset], sheet="verbs/train")
    assert materials.sentences["text"].tolist() == [text for pair in PAIRS[:2] for text in pair]
    assert len(materials.pairs) == 2


def test_without_a_card_splits_are_found_by_the_names_of_the_files(tmp_path):
    folder = tmp_path / "set"
    parquet(folder / "data/train-00000-of-00002.parquet", pairs(0))
    parquet(folder / "data/train-00001-of-00002.parquet", pairs(1))
    parquet(folder / "data/dev.parquet", pairs(2))
    parquet(folder / "data/spare.parquet", pairs(2))
    assert dataset_names(folder) == ["default", "default/train", "default/validation"]
    table = read_sheet(folder, sheet="validation")
    assert table.frame["sentence_good"].tolist() == ["Dogs bark."]
    assert "files of no split, not read: data/spare.parquet" in table.source.notes


def test_files_without_a_split_are_all_of_train(tmp_path):
    jsonl(tmp_path / "set/data/a.jsonl", pairs(0))
    jsonl(tmp_path / "set/data/b.jsonl", pairs(1))
    assert len(read_sheet(tmp_path / "set").frame) == 2


def test_a_folder_of_files_that_is_no_dataset_is_read_as_before(tmp_path):
    jsonl(tmp_path / "set/one.jsonl", pairs(0))
    (tmp_path / "set/README.md").write_text("# Notes\n")
    assert not is_dataset(tmp_path / "set")
    assert read_materials([tmp_path / "set"]).format == "blimp"


def test_a_folder_of_save_to_disk_is_read_with_the_names_of_its_classes(tmp_path):
    rows = [{"sentence": "It rains.", "expected": 1}, {"sentence": "It rain.", "expected": 0}]
    classes = {"expected": {"names": ["unacceptable", "acceptable"], "_type": "ClassLabel"}}
    saved(tmp_path / "set", rows, features=classes)
    frame = read_sheet(tmp_path / "set").frame
    assert frame["expected"].tolist() == ["acceptable", "unacceptable"]
    saved(tmp_path / "wrong", [{"sentence": "It rains.", "expected": 4}], features=classes)
    with pytest.raises(BadInput, match=r"row 1, column 'expected': 4 is none of the 2 classes"):
        read_sheet(tmp_path / "wrong")


def test_splits_of_save_to_disk_are_its_folders(tmp_path):
    folder = tmp_path / "set"
    saved(folder / "train", pairs(0, 1))
    saved(folder / "test", pairs(2))
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    assert dataset_names(folder) == ["default", "default/train", "default/test"]
    assert read_sheet(folder).frame["split"].tolist() == ["train", "train", "test"]
    assert len(read_sheet(folder, sheet="test").frame) == 1


def test_what_the_library_saves_is_read_alike(tmp_path):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed: make install-validators")
    label = datasets.ClassLabel(names=["unacceptable", "acceptable"])
    features = datasets.Features({"sentence": datasets.Value("string"), "expected": label})
    made = datasets.Dataset(
        pa.table({"sentence": ["It rains.", "It rain."], "expected": [1, 0]}), fingerprint="a" * 16
    ).cast(features)
    datasets.DatasetDict({"train": made, "test": made.select([1])}).save_to_disk(str(tmp_path / "set"))
    frame = read_sheet(tmp_path / "set").frame
    assert frame["expected"].tolist() == ["acceptable", "unacceptable", "unacceptable"]
    assert frame["split"].tolist() == ["train", "train", "test"]


@pytest.mark.parametrize("below", ["", "set-main/"])
def test_a_zip_is_read_like_its_folder(dataset, tmp_path, below):
    place = packed(dataset, tmp_path / "set.zip", below=below)
    assert dataset_names(place) == dataset_names(dataset)
    assert read_sheet(place, sheet="verbs/test").frame["sentence_good"].tolist() == ["Dogs bark."]


def test_a_zip_that_unpacks_to_too_much_is_refused(tmp_path):
    place = tmp_path / "set.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"a\n" * 30_000_000)
    with pytest.raises(BadInput, match="unpacks to 60 MB"):
        read_sheet(place)


def test_a_zip_cannot_write_outside_its_folder(tmp_path):
    place = tmp_path / "inner" / "set.zip"
    place.parent.mkdir()
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("../../escaped.csv", "sentence\nIt rain.\n")
        archive.writestr("train.csv", "sentence\nIt rains.\n")
    assert read_sheet(place).frame["sentence"].tolist() == ["It rains."]
    assert not list(tmp_path.rglob("escaped.csv"))


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ("configs:\n- config_name: [\n", r"README.md, row \d: the metadata of the card is no YAML"),
        ("configs:\n- config_name: a\n", "has no data_files"),
        ("configs:\n- config_name: a\n  data_files: no.csv\n", "no file of the folder is 'no.csv'"),
        ("configs:\n- config_name: a\n  data_files: ../a.csv\n", "is not in the folder. Download"),
        ("configs:\n- config_name: a\n  data_files: hf://datasets/a.csv\n", "is not in the folder. Download"),
        ("configs:\n- config_name: a\n  data_files: [a.csv, b.jsonl]\n", "of several kinds: a.csv, b.jsonl"),
    ],
)
def test_a_card_that_cannot_be_followed_is_explained(tmp_path, configs, message):
    card(tmp_path / "set", configs)
    (tmp_path / "set/a.csv").write_text("sentence\nIt rains.\n")
    jsonl(tmp_path / "set/b.jsonl", pairs(0))
    with pytest.raises(BadInput, match=message) as error:
        read_sheet(tmp_path / "set")
    assert error.value.remedy


def test_an_open_choice_and_a_wrong_one_name_the_tables(tmp_path, dataset):
    card(dataset, CARD.replace("  default: true\n", ""))
    with pytest.raises(BadInput, match=r"several configurations: verbs, other\. Choose one \(--sheet NAME"):
        read_sheet(dataset)
    with pytest.raises(BadInput, match=r"no configuration 'nouns'\. Choose one of verbs, other"):
        read_sheet(dataset, sheet="nouns")
    with pytest.raises(BadInput, match=r"verbs has no split 'dev'\. Choose one of train, test"):
        read_sheet(dataset, sheet="verbs/dev")


def test_damaged_folders_are_explained(tmp_path):
    saved(tmp_path / "selected", pairs(0), _indices_data_files=[{"filename": "indices.arrow"}])
    with pytest.raises(BadInput, match="flatten_indices"):
        read_sheet(tmp_path / "selected")
    saved(tmp_path / "torn", pairs(0))
    (tmp_path / "torn/data-00000-of-00001.arrow").write_bytes(b"no arrow")
    with pytest.raises(BadInput, match="data-00000-of-00001.arrow: not an Arrow file"):
        read_sheet(tmp_path / "torn")
    (tmp_path / "torn/data-00000-of-00001.arrow").unlink()
    with pytest.raises(BadInput, match="is not there. Give the whole folder"):
        read_sheet(tmp_path / "torn")
    (tmp_path / "no.zip").write_bytes(b"PK no zip")
    with pytest.raises(BadInput, match="no ZIP that can be unpacked"):
        read_sheet(tmp_path / "no.zip")
    jsonl(tmp_path / "bad/data/train.jsonl", pairs(0))
    with (tmp_path / "bad/data/train.jsonl").open("a") as file:
        file.write("{no json\n")
    with pytest.raises(BadInput, match=r"train.jsonl, row 2: not JSON"):
        read_sheet(tmp_path / "bad")


def test_a_list_of_objects_in_json_and_lines_called_json_are_read(tmp_path):
    (tmp_path / "set/data").mkdir(parents=True)
    (tmp_path / "set/data/train.json").write_text(json.dumps(pairs(0, 1)))
    assert len(read_sheet(tmp_path / "set").frame) == 2
    jsonl(tmp_path / "set/data/train.json", pairs(0, 1, 2))
    assert len(read_sheet(tmp_path / "set").frame) == 3
    (tmp_path / "set/data/train.json").write_text("[1]")
    with pytest.raises(BadInput, match="row 1: is no JSON object"):
        read_sheet(tmp_path / "set")


@pytest.mark.django_db
def test_the_command_stores_materials_of_a_dataset_folder(dataset):
    call_command("import_materials", dataset, name="Verbs", sheet="verbs", stdout=StringIO())
    stored = MaterialSet.objects.get(name="Verbs")
    assert stored.pairs.count() == 3
    with pytest.raises(CommandError, match="no configuration"):
        call_command("import_materials", dataset, name="No", sheet="nouns", stdout=StringIO())
    assert not MaterialSet.objects.filter(name="No").exists()


@pytest.mark.django_db
def test_the_command_stores_judgments_of_a_dataset_folder_once(tmp_path):
    rows = [
        {"participant": person, "item": item, "sentence": PAIRS[0][item], "value": 2 + item}
        for person in ("p1", "p2")
        for item in (0, 1)
    ]
    saved(tmp_path / "ratings", rows)
    for _ in range(2):
        call_command(
            "import_judgments", tmp_path / "ratings", experiment="R", format="table", stdout=StringIO()
        )
    assert Judgment.objects.count() == 4


@pytest.mark.django_db
def test_the_page_offers_the_tables_of_a_zip(ada, dataset, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    place = packed(dataset, tmp_path / "set.zip")
    sent = {"files": SimpleUploadedFile("set.zip", place.read_bytes()), "name": "Verbs", "language": "en"}
    address = ada.post("/materials/upload/", sent).url
    page = ada.get(address)
    assert [name for name, _ in page.context["form"].fields["sheet"].choices][1:] == dataset_names(place)
    chosen = {"name": "Verbs", "language": "en", "format": "auto", "sheet": "verbs", "action": "import"}
    ada.post(address, chosen)
    assert MaterialSet.objects.get(name="Verbs").pairs.count() == 3


@pytest.mark.django_db
def test_the_import_page_reads_judgments_from_a_zip(ada, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    rows = [{"participant": "p1", "item": 1, "sentence": "It rains.", "value": 5}]
    parquet(tmp_path / "set/data/train-00000-of-00001.parquet", rows)
    place = packed(tmp_path / "set", tmp_path / "set.zip")
    sent = {"file": SimpleUploadedFile("set.zip", place.read_bytes()), "experiment": "R", "format": "auto"}
    page = ada.get(ada.post("/judgments/import/", sent).url)
    assert page.context["report"]["judgments"] == 1 and "dataset, default: train" in page.content.decode()
