"""Models in a study's report: the numbers of a comparison, sentences, and their replication."""

import io
import subprocess
import sys
import zipfile
from html import unescape

import pytest
from django.core.files.base import ContentFile

from analysis.ngrams import train_model, write_arpa
from analysis.report.replicate import differences
from experiments.operation import job_runner
from judgments.models import Judgment
from releases.comparison.compare import compare, request_comparison
from releases.gold.options import Options
from releases.scoring.runs import request_scoring
from releases.study_report.build import build_report
from tests import cast
from tests.releases.study import judged_study, ready_release, scored

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("drawn_once")]


@pytest.fixture
def study(tmp_path):
    """Ratings of four pairs, scored by a bigram model and by an uploaded table."""
    study = judged_study(task="likert", people=7)
    for place, judgment in enumerate(Judgment.objects.order_by("pk")):
        judgment.value = max(1, judgment.value - place % 3)
        judgment.save(update_fields=["value"])
    words = [sentence.words.lower().rstrip(".").split() for sentence in study.materials.sentences.all()]
    write_arpa(train_model(words + words[::2], order=2), tmp_path / "two.arpa")
    model_file = ContentFile((tmp_path / "two.arpa").read_bytes(), "two.arpa")
    run = request_scoring(study, model_file, name="bigram", user=cast.ada())
    job_runner.run(run.job_id)
    scored(study, "bright")
    return study


def test_the_report_has_the_numbers_of_a_comparison_and_its_package_gives_them_again(study, tmp_path):
    built = build_report(study, Options(), has_pdf=False)
    models = built.numbers["models"]
    comparison = request_comparison(ready_release(study), study.materials.scoring_runs.all(), user=None)
    document = compare(comparison)
    expected = {**document, "depth": {part: document["depth"][part] for part in models["depth"]}}
    assert list(differences({name: expected[name] for name in models}, models)) == []
    page = unescape(built.files["report.html"].decode())
    bigram = next(row for row in models["models"] if row["model"] == "bigram")
    assert f"bigram in {100 * bigram['blimp']:.1f} %" in page
    assert "Linking functions" in page and "Ratings by surprisal" in page
    assert "Bright: The number of tokens is not known" in page
    assert "Tjuatja, L." in page and "Vázquez Martínez, H. J." in page
    with zipfile.ZipFile(io.BytesIO(built.files["replication.zip"])) as archive:
        archive.extractall(tmp_path / "package")
    program = next((tmp_path / "package").iterdir()) / "analyse.py"
    ended = subprocess.run([sys.executable, "-I", program], capture_output=True, text=True)
    assert ended.returncode == 0 and "All numbers match" in ended.stdout, ended.stdout + ended.stderr
