"""Sentences whose language nobody stated are called English only where they look English."""

import csv
import io
import json

import pytest
from django.core.management import call_command

from experiments.intake.language import language_of_texts
from experiments.models import Experiment, MaterialSet
from releases.gold.build import build_release
from releases.gold.options import Options

TURKISH = ["Ali bu kitabı okumadı çünkü çok uzun.", "Kedi ve köpek bir evde uyudu."]


@pytest.mark.parametrize(
    ("texts", "tag"),
    [
        (["The cat slept.", "Who did the naïve girl see?"] * 3, "en"),
        (["s1", "s2"], "en"),
        ([], "en"),
        (TURKISH, "und"),
        (["De kat slaapt op de mat en hij heeft het boek niet gelezen."], "und"),
        (["小王把书看完了。"], "und"),
        (["Кто читал книгу?"], "und"),
    ],
)
def test_english_is_recognized_and_nothing_else_is_called_english(texts, tag):
    language, warning = language_of_texts(texts)
    assert language == tag and bool(warning) == (tag == "und")


def test_blimp_is_english(shared_data):
    for path in sorted(shared_data("blimp").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()[:200]]
        assert language_of_texts(row["sentence_good"] for row in rows)[0] == "en", path.name


def turkish_file(path):
    rows = [(f"p{p}", n, text, p + n) for p in range(1, 5) for n, text in enumerate(TURKISH, start=1)]
    sink = io.StringIO()
    csv.writer(sink).writerows([("participant", "item", "sentence", "response"), *rows])
    path.write_text(sink.getvalue())
    return path


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "tag", "words"),
    [({}, "und", "(language not stated)"), ({"language": "tr"}, "tr", "(Turkish)")],
)
def test_a_turkish_study_is_not_called_english(tmp_path, options, tag, words):
    out = io.StringIO()
    path = turkish_file(tmp_path / "tr.csv")
    call_command("import_judgments", path, experiment="Turkish", format="table", stdout=out, **options)
    assert ("do not look English" in out.getvalue()) == (tag == "und")
    study = Experiment.objects.get(slug="turkish")
    assert (study.language, study.materials.language) == (tag, tag)
    assert words in build_release(study, Options()).files["methods.md"].decode()


@pytest.mark.django_db
def test_materials_without_a_language_are_not_called_english(tmp_path, capsys):
    path = tmp_path / "tr.csv"
    path.write_text("sentence\n" + "\n".join(TURKISH) + "\n")
    call_command("import_materials", path, name="Turkish", stdout=io.StringIO())
    assert MaterialSet.objects.get(name="Turkish").language == "und"
