"""Installed packages extend the platform, and broken ones are named and left out."""

import io
import json
import sys
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from analysis.errors import BadInput, UnknownName
from analysis.figures import Evidence, applicable, draw, find_figure
from judgments.imports.readers import read_judgments
from judgments.pages.import_views import UploadForm

NUMBERS = count(1)
READER = """
from judgments.imports.readers import SourceOptions, read_judgments
def read_survey(path, options):
    mapping = {"participant": "who", "sentence": "what", "value": "points"}
    return read_judgments(path, "table", options=SourceOptions(mapping=mapping, task="likert"))
def read_nothing(path, options):
    raise KeyError("points")
def read_number(path, options):
    return 5
"""
FIGURE = """
import altair as alt
import pandas as pd
from analysis.figures.drawing import Drawing
def chart(evidence):
    return alt.layer(alt.Chart(pd.DataFrame({"statement": ["drawn"]})).mark_text())
def entry(name, draw, lacking=lambda evidence: ""):
    return Drawing(name, 99, "Words", "A word", "nothing", "study", lacking, draw)
words = entry("words", chart)
halves = entry("halves", lambda evidence: 1 / 0)
thirds = entry("thirds", chart, lambda evidence: 1 / 0)
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Leave a package with entry points on the search path as pip would."""

    def install(source, *, distribution="obelus-survey", init="OBELUS_API = 1\n", **points):
        number = next(NUMBERS)  # modules stay imported after a test
        folder, package = tmp_path / str(number), f"plugin_{number}"
        info = folder / f"{distribution}-1.0.dist-info"
        info.mkdir(parents=True)
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text(init)
        (folder / package / "parts.py").write_text(source)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        lines = []
        for kind, targets in points.items():
            lines += [f"[obelus.{kind}]", *(f"{name} = {package}.{path}" for name, path in targets.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(folder)
        return package

    return install


def listed(**options):
    output = io.StringIO()
    call_command("plugins", stdout=output, **options)
    return output.getvalue()


def test_without_plugins_the_list_says_so():
    assert listed() == "No plugin is installed.\n"


@pytest.mark.django_db
def test_a_reader_of_a_plugin_reads_files_and_is_offered_for_imports(install, tmp_path):
    install(READER, readers={"survey": "parts:read_survey"})
    path = tmp_path / "answers.csv"
    path.write_text("who,what,points\na,The cat sleeps.,5\nb,The cat sleeps.,6\n")
    assert read_judgments(path, "survey").judgments["value"].tolist() == [5, 6]
    choices = dict(UploadForm(user=User.objects.create_user("researcher")).fields["format"].choices)
    assert choices["survey"] == "survey (plugin obelus-survey)"
    assert "readers survey (obelus-survey 1.0, plugin_" in listed()
    assert listed().endswith("in use\n")


def test_errors_of_a_reader_name_its_package(install, tmp_path):
    install(READER, readers={"nothing": "parts:read_nothing", "number": "parts:read_number"})
    with pytest.raises(BadInput, match="nothing of the plugin obelus-survey 1.0 failed: KeyError: 'points'"):
        read_judgments(tmp_path / "answers.csv", "nothing")
    with pytest.raises(BadInput, match="failed: TypeError: it returned int"):
        read_judgments(tmp_path / "answers.csv", "number")


def test_a_figure_of_a_plugin_is_drawn_and_broken_ones_show_the_reason(install):
    install(FIGURE, figures={name: f"parts:{name}" for name in ("words", "halves", "thirds")})
    assert find_figure("words").title == "Words"
    assert draw("words", Evidence()).data["statement"].tolist() == ["drawn"]
    reason = "halves of the plugin obelus-survey 1.0 failed: ZeroDivisionError: division by zero."
    assert draw("halves", Evidence()).data["statement"].tolist() == [f"Nothing to draw: {reason}"]
    drawable, others = applicable(Evidence())
    assert [drawing.name for drawing in drawable] == ["halves", "words"]
    assert {drawing.name: text for drawing, text in others}["thirds"].startswith("thirds of the plugin")


def test_broken_plugins_are_named_with_the_reason_and_the_others_stay(install, tmp_path):
    install(READER, readers={"good": "parts:read_survey", "table": "parts:read_survey"})
    install("raise SystemExit(3)", distribution="quits", readers={"quits": "parts:read"})
    install("", distribution="empty", readers={"empty": "parts:read"}, figures={"plain": "parts:__name__"})
    install(READER, distribution="silent", init="", readers={"silent": "parts:read_survey"})
    install("1 / 0", distribution="later", init="OBELUS_API = 2", readers={"later": "parts:read_survey"})
    install(READER, distribution="zz", readers={"good": "parts:read_number", "Bad.Name": "parts:read_survey"})
    rows = json.loads(listed(json=True))["plugins"]
    reasons = {(row["package"], row["name"]): row["problem"] for row in rows}
    assert reasons["obelus-survey", "good"] == ""
    assert reasons["obelus-survey", "table"] == "its name is taken by the platform"
    assert reasons["quits", "quits"] == "cannot be imported: SystemExit: 3"
    assert reasons["empty", "empty"].startswith("cannot be imported: AttributeError")
    assert reasons["empty", "plain"].endswith("TypeError: a figure is a Drawing, not str")
    assert "does not declare OBELUS_API = 1" in reasons["silent", "silent"]
    assert reasons["later", "later"].startswith("is written for version 2")
    assert reasons["zz", "good"] == "its name is taken by obelus-survey"
    assert reasons["zz", "Bad.Name"].startswith("its name has to begin")
    with pytest.raises(BadInput, match="offers quits: cannot be imported: SystemExit: 3"):
        read_judgments(tmp_path / "x.csv", "quits")
    with pytest.raises(UnknownName, match="Did you mean 'good'"):
        read_judgments(tmp_path / "x.csv", "goods")


@pytest.mark.django_db
def test_administrators_see_the_plugins_and_their_problems(install, client):
    install(READER, readers={"survey": "parts:read_survey", "jspsych": "parts:read_survey"})
    client.force_login(User.objects.create_user("admin", is_staff=True))
    page = client.get("/operation/").content.decode()
    assert "obelus-survey 1.0" in page
    assert "<strong>Not used:</strong> its name is taken by the platform." in page


def test_only_packages_that_offer_plugins_are_imported(install):
    package = install(READER, other={"survey": "parts:read_survey"})
    listed()
    assert package not in sys.modules
