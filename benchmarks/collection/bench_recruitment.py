"""Own time of recruitment: submissions listed, decided, sent and reconciled; an event; the campaign's pages.

Run ``python benchmarks/collection/bench_recruitment.py`` for SQLite in a temporary folder, and with
``BENCH_POSTGRES=postgres://USER@HOST/DATABASE`` for PostgreSQL as well, in a database of its own. The
platform is in memory, so that every second is ours; sessions, trials and answers are rows as a study leaves
them, and each page was visited once before.

Bounds: 500 submissions read, listed, decided, planned and reconciled within 5 s; every event of Prolific
answered within 50 ms; each page of a campaign with 10,000 submissions within 1 s. Ends with 1 where one is
missed. Sending is a job in the background, with two commits for each call: its seconds are printed beside.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.analysis import stored_choices  # noqa: E402

DATABASE = "bench_recruitment"
FEW, MANY, PEOPLE_AT_ONCE = 500, 10_000, 1_000
CYCLE_S, EVENT_S, PAGE_S = 5.0, 0.050, 1.0
N_EVENTS, N_VISITS = 100, 5
SECRET = "a-secret-of-the-workspace"
STUDY = "/studies/agreement/campaigns/"


def measure(step: Callable[[], Any]) -> float:
    """Seconds of one step by the clock."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def measure_both(step: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of one step by the clock, and of this process's own computing."""
    computing = time.process_time()
    return measure(step), time.process_time() - computing


class Setting:
    """A study with a campaign whose platform is in memory, and Ada in her browser."""

    def __init__(self) -> None:
        from django.test import Client

        from judgments.recruitment import credentials, recruiter
        from tests import cast
        from tools.doubles.memory import MemoryRecruiter, Platform

        self.platform = Platform()

        def attach(adapter: Any, account: Any = None) -> None:
            adapter.account, adapter.platform, adapter.prepares_bonuses = account, self.platform, True
            adapter.bonuses_per_call = 200

        MemoryRecruiter.__init__ = attach  # type: ignore[method-assign]
        recruiter.BUILT_IN["prolific"] = "tools.doubles.memory.MemoryRecruiter"
        self.study = cast.study("agreement", n_lists=2, reward_minor=150, currency="GBP")
        self.account = credentials.add_account(
            self.study, platform="prolific", label="Bench", secrets={"token": "t" * 40}, by=cast.ada()
        )
        credentials.add_secret(self.account, "webhook_secret", SECRET)
        self.session = cast.sit(self.study, "template", recruiter="prolific")
        self.browser = Client()
        self.browser.force_login(cast.ada())

    def campaign(self, name: str, n: int) -> Any:
        """A running campaign with so many people who finished and submitted."""
        campaign = self.study.campaigns.create(
            name=name,
            recruiter="prolific",
            account=self.account,
            places=n,
            reward_minor=150,
            currency="GBP",
            estimated_minutes=9,
            state="running",
            external_id=name,
        )
        self.platform.campaigns[name] = {"state": "running", "places": n}
        for start in range(0, n, PEOPLE_AT_ONCE):
            self._arrive(campaign, range(start, min(start + PEOPLE_AT_ONCE, n)))
        return campaign

    def _arrive(self, campaign: Any, numbers: range) -> None:
        from django.db import transaction

        from judgments.models import Judgment, Participant, PlatformIdentity, Session, Trial

        study, template = self.study, self.session
        with transaction.atomic():
            people = Participant.objects.bulk_create(
                Participant(experiment=study, pseudonym=f"{campaign.name}-{number}") for number in numbers
            )
            PlatformIdentity.objects.bulk_create(
                PlatformIdentity(
                    participant=person,
                    experiment=study,
                    recruiter="prolific",
                    external_id=f"person-{person.pk}",
                    is_verified=True,
                )
                for person in people
            )
            sessions = []
            for person in people:
                submission = self.platform.arrive(campaign.external_id, f"person-{person.pk}")
                self.platform.submit(submission)
                sessions.append(_copy(template, participant=person, campaign=campaign, token=f"t{person.pk}"))
                sessions[-1].external_id = submission
            Session.objects.bulk_create(sessions)
            trials, answers = [], []
            for session in sessions:
                for trial in self._trials:
                    trials.append(_copy(trial, session=session))
                    answers.append(_copy(trial.judgment, trial=trials[-1]))
            Trial.objects.bulk_create(trials, batch_size=2_000)
            Judgment.objects.bulk_create(answers, batch_size=2_000)

    @property
    def _trials(self) -> list[Any]:
        return list(self.session.trials.select_related("judgment"))


def _copy(row: Any, **changes: Any) -> Any:
    """A new row with the values of another one."""
    values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    values.pop(row._meta.pk.attname)
    for name in changes:
        values.pop(row._meta.get_field(name).attname)
    return type(row)(**values, **changes)


def cycle(setting: Setting) -> dict[str, tuple[float, float]]:
    """500 submissions from the platform's list to the last confirmed payment."""
    from judgments.models import PlatformCall, Submission
    from judgments.recruitment import decisions, ledger
    from judgments.recruitment.reconcile import reconcile
    from tests import cast

    campaign = setting.campaign("few", FEW)
    here = f"{STUDY}{campaign.pk}/submissions/"
    _visit(setting.browser, here)
    form = {"scope": "passing", "action": "approve", "newest": str(10**9)}
    times = {
        "read": measure_both(lambda: reconcile(campaign)),
        "listed": measure_both(lambda: _pages(setting.browser, here, FEW // 50)),
        "previewed": measure_both(
            lambda: _post(setting.browser, f"{here}decide/", {**form, "preview": "yes"}, 200)
        ),
        "decided": measure_both(lambda: _post(setting.browser, f"{here}decide/", form, 302)),
        "planned": measure_both(lambda: decisions.plan_sending(campaign, by=cast.ada())),
        "sent": measure_both(lambda: ledger.send_planned(campaign)),
        "reconciled": measure_both(lambda: reconcile(campaign)),
    }
    approved = Submission.objects.filter(campaign=campaign, status="approved", mismatches=[])
    confirmed = PlatformCall.objects.filter(campaign=campaign, state="confirmed")
    assert approved.count() == confirmed.count() == FEW, (approved.count(), confirmed.count())
    assert set(setting.platform.money.values()) == {1} and len(setting.platform.money) == FEW
    return times


def _pages(browser: Any, address: str, n: int) -> None:
    for page in range(1, n + 1):
        response = browser.get(address, {"page": page})
        assert response.status_code == 200 and response.content.count(b'class="pick"') == 50


def _post(browser: Any, address: str, form: dict[str, str], status: int) -> None:
    response = browser.post(address, form)
    assert response.status_code == status, response.status_code


def events(setting: Setting) -> list[float]:
    """Deliveries of Prolific, each of another event."""
    from django.test import Client

    from judgments.models import PlatformEvent

    times, sender = [], Client()  # without a cookie, as Prolific
    for number in range(N_EVENTS):
        body = json.dumps(
            {"event_type": "submission.status.change", "resource_id": f"few-s{number}"}
        ).encode()
        moment = str(int(time.time()))
        digest = hmac.new(SECRET.encode(), moment.encode() + body, hashlib.sha256).digest()
        headers = {
            "X-Prolific-Request-Timestamp": moment,
            "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
            "X-Event-ID": f"event-{number}",
        }

        def deliver(body: bytes = body, headers: dict[str, str] = headers) -> None:
            response = sender.post(
                f"/hooks/prolific/{setting.account.pk}/", body, "application/json", headers=headers
            )
            assert response.status_code == 204, (response.status_code, response.content)

        times.append(measure(deliver))
    assert PlatformEvent.objects.count() == N_EVENTS
    return times


def pages(setting: Setting) -> dict[str, float]:
    """The slowest of some visits of each page of a campaign with 10,000 submissions."""
    from judgments.models import Submission
    from judgments.recruitment.reconcile import reconcile

    campaign = setting.campaign("many", MANY)
    reconcile(campaign)
    _analyze()
    one = Submission.objects.filter(campaign=campaign).first()
    assert one is not None
    here = f"{STUDY}{campaign.pk}/"
    addresses = {
        "campaigns": STUDY,
        "campaign": here,
        "submissions": f"{here}submissions/",
        "last page of submissions": f"{here}submissions/?page={MANY // 50}",
        "without a remark": f"{here}submissions/?show=passing",
        "one submission": f"{here}submissions/{one.pk}/",
        "send": f"{here}send/",
        "payments": f"{STUDY}payments/",
    }
    for address in addresses.values():
        _visit(setting.browser, address)
    return {
        name: max(measure(lambda address=address: _visit(setting.browser, address)) for _ in range(N_VISITS))
        for name, address in addresses.items()
    }


def _analyze() -> None:
    """Renew the planner's statistics, as PostgreSQL does by itself a minute after rows were inserted."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _visit(browser: Any, address: str) -> None:
    response = browser.get(address)
    assert response.status_code == 200, (address, response.status_code)


def run() -> None:
    """Measure on the database of the environment; prints one JSON document."""
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    setting = Setting()
    # Jobs run in workers: here they only have to be stored.
    print(json.dumps({"cycle": cycle(setting), "events": events(setting), "pages": pages(setting)}))


@contextmanager
def environments() -> Iterator[list[tuple[str, dict[str, str]]]]:
    """Each database with the environment that leads to it."""
    with tempfile.TemporaryDirectory() as folder:
        shared = {"VAR_DIR": folder, "DJANGO_SETTINGS_MODULE": "config.settings"}
        databases = [("SQLite", {**shared, "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3"})]
        server = os.environ.get("BENCH_POSTGRES")
        if server:
            _recreate(server)
            address = f"{server.rsplit('/', 1)[0]}/{DATABASE}"
            databases.append(("PostgreSQL", {**shared, "DATABASE_URL": address}))
        try:
            yield databases
        finally:
            if server:
                stored_choices.psql(server, f'DROP DATABASE IF EXISTS "{DATABASE}"')


def _recreate(server: str) -> None:
    stored_choices.psql(server, f'DROP DATABASE IF EXISTS "{DATABASE}"')
    stored_choices.psql(server, f'CREATE DATABASE "{DATABASE}"')


def main() -> None:
    """Measure on each database and compare with the bounds."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    is_missed = False
    with environments() as databases:
        for name, environment in databases:
            process = subprocess.run(
                [sys.executable, __file__, "run"],
                env=os.environ | environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if process.returncode:
                sys.exit(process.stderr)
            is_missed |= report(name, json.loads(process.stdout.splitlines()[-1]))
    sys.exit(is_missed)


def report(name: str, measured: dict[str, Any]) -> bool:
    """Print one database's figures; returns whether a bound is missed."""
    sent, sent_computing = measured["cycle"].pop("sent")
    total = sum(by_clock for by_clock, _ in measured["cycle"].values())
    computing = sum(own for _, own in measured["cycle"].values())
    steps = ", ".join(f"{step} {by_clock:.2f}" for step, (by_clock, _) in measured["cycle"].items())
    print(
        f"{name}: {FEW} submissions in {total:.2f} s ({steps}), of which {computing:.2f} s of computing;"
        f" bound {CYCLE_S:.0f} s; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print(
        f"{name}: {FEW} calls sent in {sent:.2f} s, of which {sent_computing:.2f} s of computing:"
        f" {sent / FEW * 1000:.1f} ms a call beside the platform's own time"
    )
    median, slowest = statistics.median(measured["events"]), max(measured["events"])
    print(
        f"{name}: an event answered in {median * 1000:.1f} ms (slowest of {N_EVENTS}:"
        f" {slowest * 1000:.1f} ms); bound {EVENT_S * 1000:.0f} ms"
    )
    for page, seconds in measured["pages"].items():
        print(f"{name}: {MANY} submissions, {page}: {seconds:.2f} s; bound {PAGE_S:.0f} s")
    return total > CYCLE_S or slowest > EVENT_S or max(measured["pages"].values()) > PAGE_S


if __name__ == "__main__":
    run() if "run" in sys.argv[1:2] else main()
