"""Installed packages extend the platform, and broken ones are named and left out."""

import copy
import io
import json
import sys
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from analysis.errors import BadInput, UnknownName
from analysis.figures import Evidence, applicable, draw, find_figure
from analysis.plugins.registry import task_folders
from experiments.models import Job, Sentence
from experiments.operation import job_runner
from experiments.operation.counters import totals
from experiments.tasks.registry import get_task
from judgments.imports.readers import read_judgments
from judgments.models import Alert, Judgment, SessionEvent
from judgments.pages.import_views import UploadForm
from judgments.recruitment.alerts.conditions import LOCAL_RULES
from judgments.recruitment.alerts.evaluation import evaluate
from judgments.sessions.protocol import read_protocol
from releases import jobs
from tests import cast
from tests.judgments.screens.walk import action, consent, onward

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

TASK = """
from experiments.tasks.base import BETWEEN, Answer, BadResponse, Datum, Parameter, Task
class Thumb(Task):
    name = "thumb"
    label = "Thumb"
    parameters = (Parameter("question", "Up or down?", "The question."), *BETWEEN)
    data = (Datum("value", "1 for up."),)
    def scale(self, settings):
        return 0.0, 1.0
    def parse(self, response, settings, *, options):
        if response not in ("up", "down"):
            raise BadResponse("Please choose one of the two answers.")
        return Answer(response, float(response == "up"))
"""
THUMB_TEMPLATE = "<h1>{{ question }}</h1><button name='response' value='up'>Up</button>"
STATISTIC = '''
def share_answered(judgments):
    """The share of answered trials <of each participant>.

    More about it.
    """
    answered = judgments["value"].notna()
    return answered.groupby(judgments["participant"]).mean().rename("share").reset_index()
def nothing(judgments):
    return 1 / 0
'''


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


def install_task(install, settings, *, template=THUMB_TEMPLATE, source=TASK):
    """Install a task with its template; settings as of a process that starts after that."""
    package = install(source, distribution="obelus-thumb", tasks={"thumb": "parts:Thumb"})
    folder = next(folder for folder in task_folders() if folder.name == package) / "templates"
    if template:
        (folder / "judgments" / "tasks").mkdir(parents=True)
        (folder / "judgments" / "tasks" / "thumb.html").write_text(template)
        (folder / "judgments" / "_problem.html").write_text("one of ours is replaced")
    assert package not in sys.modules
    templates = copy.deepcopy(settings.TEMPLATES)
    templates[0]["OPTIONS"]["loaders"][0][1][1][1].append(folder)
    settings.TEMPLATES = templates
    read_protocol.cache_clear()  # versions of earlier tests have the same keys


def test_a_task_without_a_template_is_not_used(install, settings):
    install_task(install, settings, template="")
    assert "has no templates/judgments/tasks/thumb.html" in listed()
    with pytest.raises(BadInput, match="package that offers thumb"):
        get_task("thumb")


SCREEN_FAILS = (
    TASK
    + """
    def screen(self, settings, *, arrangement):
        return {"points": {1}}
"""
)
PARSE_FAILS = (
    TASK.replace("    def parse", "    def parse_later").rstrip()
    + """
    def parse(self, response, settings, *, options):
        return {"value": self.later}
    def read_response(self, form):
        return form["points"]
"""
)


@pytest.mark.django_db
def test_an_answer_that_a_plugin_cannot_parse_is_kept_and_the_participant_goes_on(
    install, settings, client, caplog
):
    install_task(install, settings, source=PARSE_FAILS)
    study = cast.study("agreement", task="thumb", n_lists=1)
    session = consent(client, "/take/agreement/")
    onward(client, session)
    failures = totals()["plugin_failures_total"]
    page = client.get(session).content.decode()
    assert client.post(action(page), {"response": "up"}).status_code == 302
    assert client.post(action(page), {"response": "up"}).status_code == 302  # sent again: one answer
    judgment = Judgment.objects.get(trial__session__experiment=study)
    assert (judgment.status, judgment.response, judgment.value) == ("missing", "response=up", None)
    assert client.get(session).status_code == 200
    assert "AttributeError" in caplog.text and "obelus-thumb 1.0 failed" in caplog.text
    assert totals()["plugin_failures_total"] > failures
    evaluate(study, LOCAL_RULES, now=timezone.now())
    alert = Alert.objects.get(kind="plugin")
    assert "thumb of the plugin obelus-thumb 1.0 failed: AttributeError" in alert.text
    assert "1 answer could not be read" in alert.text
    client.force_login(cast.ada())
    assert "The plugin of the task failed" in client.get("/studies/agreement/campaigns/").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("display", ["above", "before"])
def test_a_task_of_a_plugin_has_contexts_above_or_before_its_own_page(install, settings, client, display):
    install_task(install, settings, source=TASK)
    materials = cast.material_set("agreement", n_items=1)
    Sentence.objects.update(attributes={"context": "It rained."})
    cast.study(materials=materials, task="thumb", n_lists=1, instructions="", context_display=display)
    session = consent(client, "/take/agreement/")
    page = client.get(session).content.decode()
    assert ">It rained.<" in page
    assert ("<h1>Up or down?" in page) == (display == "above")  # the plan has it, too
    if display == "before":
        onward(client, session)
        page = client.get(session).content.decode()
        assert "<h1>Up or down?" in page and ">It rained.<" not in page
    assert client.post(action(page), {"response": "up"}).status_code == 302
    assert Judgment.objects.get().value == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("source", "template"),
    [(SCREEN_FAILS, THUMB_TEMPLATE), (TASK, "{% include 'nothing/here.html' %}"), (TASK, "{% thumb %}")],
)
def test_a_page_that_a_plugin_cannot_render_asks_the_participant_to_try_again(
    install, settings, client, source, template
):
    install_task(install, settings, source=source, template=template)
    study = cast.study("agreement", task="thumb", n_lists=1)
    client.raise_request_exception = False
    session = consent(client, "/take/agreement/")
    onward(client, session)
    response = client.get(session)
    assert response.status_code == 503 and "One moment, please" in response.content.decode()
    client.get(session)
    event = SessionEvent.objects.get(session__experiment=study, kind="plugin")
    assert event.details["reason"].startswith("thumb of the plugin obelus-thumb 1.0 failed")


@pytest.mark.django_db
def test_a_study_whose_package_was_removed_asks_participants_to_wait(install, settings, client, monkeypatch):
    install_task(install, settings)
    cast.study("agreement", task="thumb", n_lists=1)
    session = consent(client, "/take/agreement/")
    client.raise_request_exception = False
    read_protocol.cache_clear()
    monkeypatch.setattr(sys, "path", sys.path[1:])
    response = client.get(session)
    assert response.status_code == 503 and "One moment, please" in response.content.decode()
    refused = client.get(reverse("api-session-plan", args=[session.strip("/").split("/")[-1]]))
    assert (refused.status_code, refused.json()["code"]) == (503, "try_again")


@pytest.mark.django_db
def test_a_statistic_of_a_plugin_is_a_command_and_a_page(install, client, settings, tmp_path, monkeypatch):
    assert jobs.REPORT in job_runner.KINDS
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr(job_runner, "send", lambda job_id: None)
    cast.sit(cast.study("agreement"))
    address = "/studies/agreement/statistics/"
    client.force_login(cast.ben())
    assert address not in client.get("/studies/agreement/agreement/").content.decode()
    install(STATISTIC, statistics={"share": "parts:share_answered", "nothing": "parts:nothing"})
    assert f'href="{address}"' in client.get("/studies/agreement/agreement/").content.decode()
    page = client.get(address).content.decode()
    assert "The share of answered trials &lt;of each participant&gt;." in page and f"{address}share/" in page
    output = io.StringIO()
    call_command("statistic", "agreement", "share", json=True, stdout=output)
    report = json.loads(output.getvalue())
    assert report["columns"] == ["participant", "share"] and [row[1] for row in report["rows"]] == [1.0]
    assert "Being computed" in client.get(f"{address}share/").content.decode()
    job_runner.run(Job.objects.get(kind="releases.report").pk)
    page = client.get(f"{address}share/").content.decode()
    assert "<td>1.0</td>" in page and "obelus-survey 1.0" in page
    assert json.loads(client.get(f"{address}share.json").getvalue())["rows"] == report["rows"]
    with pytest.raises(CommandError, match="obelus-survey 1.0 failed: ZeroDivisionError"):
        call_command("statistic", "agreement", "nothing")
    assert client.get(f"{address}other/").status_code == 404
    client.force_login(cast.cleo())
    assert {client.get(f"{address}{end}").status_code for end in ("", "share/", "share.json")} == {404}
    client.logout()
    assert {client.get(f"{address}{end}").status_code for end in ("", "share/", "share.json")} == {302}
