"""The example package, installed by pip, reaches people through the pages and commands that it extends."""

import copy
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from analysis.scoring import scorer
from experiments.models import Campaign, PlatformAccount
from judgments.models import Judgment, PlatformCall, Submission
from judgments.recruitment import campaigns, decisions, ledger
from judgments.recruitment.credentials import decrypt_secrets
from judgments.recruitment.reconcile import reconcile
from judgments.sessions.protocol import read_protocol
from tests import cast
from tests.judgments.screens.walk import answer, consent, onward

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "obelus-example"
TOKEN = "secret-token"


def install(source, target):
    """Build and install a package without an index; its folder is copied, because setuptools builds in it."""
    copied = target.parent / f"{target.name}-source"
    shutil.copytree(source, copied)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--disable-pip-version-check", "--target", str(target), str(copied)]
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    target = tmp_path_factory.mktemp("installed") / "site"
    install(EXAMPLE, target)
    return target


@pytest.fixture
def installed(target, monkeypatch, settings):
    """Settings as of a process that starts after the installation."""
    monkeypatch.syspath_prepend(target)
    templates = copy.deepcopy(settings.TEMPLATES)
    templates[0]["OPTIONS"]["loaders"][0][1][1][1].append(target / "obelus_example" / "templates")
    settings.TEMPLATES = templates
    read_protocol.cache_clear()  # versions of earlier tests have the same keys


@pytest.fixture
def pool(installed, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE / "tests")
    double = importlib.import_module("pool").Pool()
    monkeypatch.setattr(importlib.import_module("obelus_example.recruiter"), "transport", double.transport)
    return double


def printed(*arguments, **options):
    output = io.StringIO()
    call_command(*arguments, stdout=output, **options)
    return output.getvalue()


def test_every_kind_is_installed_and_in_use(installed):
    rows = json.loads(printed("plugins", json=True))["plugins"]
    assert {row["kind"]: row["problem"] for row in rows} == dict.fromkeys(
        ("tasks", "recruiters", "statistics", "figures", "readers", "scorers"), ""
    )
    assert scorer("example:characters").score(["cats", "a"]).logprob.tolist() == [-4.0, -1.0]


@pytest.mark.django_db
def test_a_study_with_its_task_is_answered_counted_and_drawn(installed, client, tmp_path):
    study = cast.study("agreement", task="example", n_lists=1)
    session = consent(client, "/take/agreement/")
    onward(client, session)
    assert "Thumb up or thumb down?" in client.get(session).content.decode()
    answer(client, session, "up")
    assert Judgment.objects.get(trial__session__experiment=study).value == 1.0
    table = json.loads(printed("statistic", "agreement", "example", json=True))
    assert table["description"] == "The share of answered trials of each participant."
    client.force_login(cast.ben())
    page = client.get("/studies/agreement/statistics/").content.decode()
    assert "/studies/agreement/statistics/example/" in page
    call_command("figures", "agreement", "--only", "example", "--out", str(tmp_path), stdout=io.StringIO())
    assert any("example" in path.name for path in tmp_path.rglob("*.svg"))


@pytest.mark.django_db
def test_a_file_is_imported_by_its_reader(installed, tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("who,what,points\na,The cat sleeps.,5\nb,The cat sleeps.,6\n", encoding="utf-8")
    printed("import_judgments", str(path), format="example", experiment="ratings", json=True)
    assert sorted(Judgment.objects.values_list("value", flat=True)) == [5.0, 6.0]


def connect(client, **fields):
    form = {"label": "Pool", "mode": "test", "currency": "EUR", "token": TOKEN, **fields}
    return client.post("/studies/agreement/campaigns/accounts/add/example/", form, follow=True)


@pytest.mark.django_db(transaction=True)
def test_its_recruiter_is_chosen_publishes_brings_people_and_pays_once(pool, client):
    study, ada = cast.study("agreement", n_lists=1), cast.ada()
    client.force_login(ada)
    accounts = client.get("/studies/agreement/campaigns/accounts/").content.decode()
    assert "Connect Example pool" in accounts and "From the plugin obelus-example 0.1.0" in accounts
    assert "“Pool” is connected. Balance: 1000.00 EUR." in connect(client).content.decode()
    account = PlatformAccount.objects.get(platform="example")
    assert account.mode == "test" and TOKEN.encode() not in bytes(account.secrets)
    assert decrypt_secrets(account) == {"token": TOKEN}
    start = client.get("/studies/agreement/campaigns/new/").content.decode()
    assert "Example pool" in start and "Calls go to the sandbox of Example pool" in start
    step = client.post("/studies/agreement/campaigns/new/", {"account": account.pk}, follow=True)
    campaign = Campaign.objects.get()
    address = f"/studies/agreement/campaigns/{campaign.pk}/setup"
    assert step.status_code == 200
    pay = {"places": 2, "reward": "1.50", "estimated_minutes": 5}
    for name, values in (
        ("pay", pay),
        ("who", {}),
        (
            "completion",
            {"title": "Ratings", "description": "Rate.", "return_link": "https://pool.invalid/done"},
        ),
    ):
        page = client.get(f"{address}/{name}/")
        version = page.context["version"]
        saved = client.post(f"{address}/{name}/", {**values, "version": version, "onward": "next"})
        assert saved.status_code == 302, saved.content.decode()
    campaign.refresh_from_db()
    assert campaigns.publish(campaign, by=ada).state == PlatformCall.State.CONFIRMED
    assert pool.hosts == {"sandbox.pool.invalid"}
    submission = pool.arrive(campaign.external_id, "p1")
    link = pool.campaigns[campaign.external_id]["link"].format(participant="p1", submission=submission)
    client.logout()
    path = link.removeprefix("http://testserver")
    assert consent(client, path).startswith("/s/")
    session = study.sessions.get()
    study.sessions.update(status="complete", completed_at=timezone.now())
    reconcile(campaign)
    row = Submission.objects.get()
    assert row.session == session
    decisions.approve(campaign, campaign.submissions.all(), by=ada)
    pool.loses_next_answer = True
    for _ in range(3):
        decisions.plan_sending(campaign, by=ada)
        ledger.send_planned(campaign)
        PlatformCall.objects.filter(sent_at__isnull=False).update(
            sent_at=timezone.now() - 2 * ledger.ASK_AFTER
        )
    assert pool.paid == {("reward", submission): 1}
    assert PlatformCall.objects.get(kind="approve").state == PlatformCall.State.CONFIRMED


@pytest.mark.django_db(transaction=True)
def test_a_failing_recruiter_is_named_and_nothing_is_sent_twice(pool, client, monkeypatch):
    module = importlib.import_module("obelus_example.recruiter")
    cast.study("agreement", n_lists=1)
    client.force_login(cast.ada())
    connect(client)
    account = PlatformAccount.objects.get(platform="example")
    client.post("/studies/agreement/campaigns/new/", {"account": account.pk})
    campaign = Campaign.objects.get()
    campaigns.change_draft(campaign, by=cast.ada(), places=2, reward_minor=150)
    monkeypatch.setattr(module.ExampleRecruiter, "_move", lambda *arguments: 1 / 0)
    call = campaigns.publish(Campaign.objects.get(), by=cast.ada())
    assert call.state == PlatformCall.State.UNKNOWN
    assert "example of the plugin obelus-example 0.1.0 failed: ZeroDivisionError" in call.problem
    money = {"amount_minor": "much", "currency": "EUR"}
    monkeypatch.setattr(module.ExampleRecruiter, "_call", lambda *arguments: money)
    page = client.post(f"/studies/agreement/campaigns/accounts/{account.pk}/test/", follow=True)
    assert "obelus-example 0.1.0 failed: ValueError: invalid literal" in page.content.decode()


@pytest.mark.django_db
def test_pages_of_a_campaign_whose_package_was_removed_name_it(pool, client, monkeypatch):
    cast.study("agreement", n_lists=1)
    client.force_login(cast.ada())
    connect(client)
    client.post("/studies/agreement/campaigns/new/", {"account": PlatformAccount.objects.get().pk})
    monkeypatch.setattr(
        sys, "path", [path for path in sys.path if "site" not in Path(path).name or "-packages" in path]
    )
    client.raise_request_exception = False
    assert client.get("/studies/agreement/campaigns/").status_code == 200
    response = client.get(f"/studies/agreement/campaigns/{Campaign.objects.get().pk}/setup/who/")
    assert "no installed package offers it" in response.content.decode() and response.status_code != 500


def test_startplugin_writes_the_example_and_refuses_to_overwrite(tmp_path, monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "obelus_example"]:
        monkeypatch.delitem(sys.modules, module)  # of the tests before
    printed("startplugin", "obelus-example", to=tmp_path)
    written = {
        path.relative_to(tmp_path / "obelus-example").as_posix(): path.read_text(encoding="utf-8")
        for path in (tmp_path / "obelus-example").rglob("*")
        if path.is_file()
    }
    original = [path for path in EXAMPLE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert written == {p.relative_to(EXAMPLE).as_posix(): p.read_text(encoding="utf-8") for p in original}
    with pytest.raises(CommandError, match="exists: nothing was written"):
        printed("startplugin", "obelus-example", to=tmp_path)


def test_a_started_package_with_another_name_passes_its_tests_and_is_accepted(tmp_path, monkeypatch):
    printed("startplugin", "obelus-thumb-up", to=tmp_path)
    folder = tmp_path / "obelus-thumb-up"
    text = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file())
    assert "example" not in text.lower()
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    install(folder, tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    rows = json.loads(printed("plugins", json=True))["plugins"]
    assert {(row["name"], row["problem"]) for row in rows} == {("thumb_up", "")} and len(rows) == 6


def test_startplugin_writes_the_chosen_kinds_only(tmp_path):
    report = json.loads(printed("startplugin", "obelus-mood", to=tmp_path, kind=["statistic"], json=True))
    assert report["files"] == [
        "README.md",
        "pyproject.toml",
        "src/obelus_mood/__init__.py",
        "src/obelus_mood/statistic.py",
        "tests/test_statistic.py",
    ]
    text = (tmp_path / "obelus-mood" / "pyproject.toml").read_text(encoding="utf-8")
    assert text.count("[project.entry-points.") == 1 and "[tool.pytest" in text


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Obelus Thumb", "cannot be the name of a package"),
        ("obelus-2", "cannot be the name of a Python module"),
        ("obelus-class", "cannot be the name of a Python module"),
        ("json", "there is a Python module json already"),
        ("obelus-likert", "likert is one of the built-in tasks"),
    ],
)
def test_startplugin_refuses_names_that_cannot_work(tmp_path, name, problem):
    with pytest.raises(CommandError, match=problem):
        printed("startplugin", name, to=tmp_path)
    assert list(tmp_path.iterdir()) == []
