"""A platform with the demo's studies in a folder of its own, served to the fuzzers."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from judgments.simulation.http_client import Page
from tests.benchmarks.soak.services import children, free_port, platform

READY_TRIES = 600
N_OPEN = 6  # sessions in progress of each study
ROOT = Path(__file__).resolve().parents[2]
# Limits of their own tests would refuse nearly everything that follows.
SETTINGS = {
    "ARRIVALS_PER_MINUTE": "0",
    "API_REQUESTS_PER_MINUTE": "0",
    "PARADIGM_CHECKS_PER_MINUTE": "0",
    "LOG_LEVEL": "ERROR",
    "ALLOWED_HOSTS": "127.0.0.1",
}
# The account and the identifiers that a request needs to reach more than "not found".
FACTS = """
import json, os, shutil
from pathlib import Path
import releases.jobs  # registers the kinds of jobs
from django.conf import settings
from django.contrib.auth import get_user_model
from experiments.generation.paradigms.document import source_of
from experiments.job_runner import run
from experiments.models import ApiToken, Experiment, Job, MaterialSet
from experiments.pages.account import make_token
from experiments.paradigms.library import save_paradigm
from experiments.paradigms.pair_sets import create_pair_set
from experiments.webhooks import endpoints
from judgments.recruitment.credentials import add_account
from experiments.studies.creation import create_study
from judgments.models import Session, Trial
from releases.models import Comparison, Release
from releases.study_report.request import ReportOptions, request_report
from releases.views.deviations import current_deviations
from releases.views.models.comparisons import runs_of
from releases.views.releases import names
owner = get_user_model().objects.get(username="demo")
answered = Experiment.objects.get(slug="demo")
opened = list(Experiment.objects.filter(status="open").order_by("pk").values_list("slug", flat=True))
report = request_report(answered, ReportOptions(), user=owner)
run(report.job.pk)
report.job.refresh_from_db()
token = make_token(owner, name="fuzz", scopes=ApiToken.Scope.values, days=30)
draft = create_study(owner, title="A draft", task="likert")
archived = create_study(owner, title="A draft for the archive", task="likert")
settings.MODELS_DIR.mkdir(parents=True, exist_ok=True)
shutil.copy(Path(os.environ["VAR_DIR"], "demo", "unigram.arpa"), settings.MODELS_DIR / "fuzz.arpa")
paradigm_text = source_of("wh_island").decode().replace("wh_island", "own_island")
own_paradigms = [
    save_paradigm(owner, paradigm_text.replace("own_island", f"own_{seed}")).paradigm.pk for seed in range(20)
]
pair_sets = [
    create_pair_set(owner, name=f"set {seed}", addresses=["en:wh_island"], n=3, seed=seed).pk
    for seed in range(20)
]
webhooks = [
    endpoints.add(answered, "https://example.org/hook", events=["study.full"], by=owner) for _ in range(5)
]
deliveries = [endpoints.test(webhook, by=owner) for webhook in webhooks]
add_account(answered, platform="zenodo", label="fuzz", secrets={"token": "of-no-repository"}, by=owner)
sentence = answered.materials.sentences.first().key
of_release = Release.objects.filter(state=Release.State.READY).order_by("pk")
print(json.dumps({
    "token": token,
    "studies": opened,
    "drafts": [draft.slug],
    "archived": archived.slug,
    "materials": list(MaterialSet.objects.order_by("pk").values_list("slug", flat=True)),
    "jobs": list(Job.objects.order_by("pk").values_list("pk", flat=True)[:20]),
    "runs": [{"slug": answered.slug, "id": run.pk} for run in runs_of(answered).order_by("pk")[:20]],
    "comparisons": [
        {"slug": comparison.release.experiment.slug, "id": comparison.pk}
        for comparison in Comparison.objects.order_by("pk")
    ],
    "releases": [
        {"slug": release.experiment.slug, "number": release.number, "name": name}
        for release in of_release for name in names(release)
    ],
    "reports": [
        {"slug": answered.slug, "number": report.number, "name": file["path"]} for file in report.files
    ],
    "paradigms": [{"language": "en", "uid": uid} for uid in ("wh_island", "adjunct_island")],
    "paradigm_text": paradigm_text,
    "own_paradigms": own_paradigms[1:],  # an invented id, which is often 1, deletes the first
    "pair_sets": pair_sets[1:],
    "webhooks": [
        {"slug": answered.slug, "id": sent.webhook_id, "delivery": sent.pk} for sent in deliveries
    ],
    "deviations": [row["key"] for row in current_deviations(answered)["rows"]],
    "scores": f"sentence_id,fuzzed model\\n{sentence},-1.5\\n",
    "sessions": list(Session.objects.order_by("pk").values_list("token", flat=True)[:20]),
    "trials": list(Trial.objects.order_by("pk").values_list("public_id", flat=True)[:400]),
}))
"""


@dataclass
class Site:
    """A running server and what is stored behind it."""

    address: str
    process: int
    facts: dict[str, Any]
    password: str
    log: Path

    def signed_in(self) -> httpx.Client:
        """A researcher's browser."""
        client = httpx.Client(base_url=self.address, timeout=120)
        client.get("/accounts/login/")
        response = client.post(
            "/accounts/login/",
            data={
                "login": "demo",
                "password": self.password,
                "csrfmiddlewaretoken": client.cookies["csrftoken"],
            },
        )
        if response.status_code != 302:
            raise RuntimeError(f"signing in was answered {response.status_code}")
        return client

    def peak_bytes(self) -> int:
        """The most memory that any process of the server has held."""
        peaks = []
        for pid in (self.process, *children(self.process)):
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
            peaks += [int(row.split()[1]) * 1024 for row in status.splitlines() if row.startswith("VmHWM")]
        return max(peaks)


@contextmanager
def running_site(folder: Path) -> Iterator[Site]:
    """Make the demo in the folder and serve it until the block ends."""
    environment = {**os.environ, **SETTINGS, "VAR_DIR": str(folder / "var"), "DATABASE_URL": ""}
    for command in (["migrate", "-v0"], ["collectstatic", "-v0", "--no-input"], ["demo"]):
        subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    facts = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v0", "-c", FACTS],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    if facts.returncode:
        raise RuntimeError(facts.stderr)
    password = (folder / "var" / "demo_password").read_text(encoding="utf-8").strip()
    port = free_port()
    web = platform(port, environment, folder, only=("web",))["web"]
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address)
        stored = json.loads(facts.stdout)
        stored["open_sessions"] = [begin_session(address, study) for study in stored["studies"] * N_OPEN]
        stored["sessions"] += stored["open_sessions"]
        yield Site(address, web.process.pid, stored, password, web.log)
    finally:
        web.stop()


def begin_session(address: str, study: str) -> str:
    """Agree to a study's consent; the token of the session that begins."""
    with httpx.Client(base_url=address, follow_redirects=True, timeout=60) as browser:
        form = Page(f"/take/{study}/", 200, browser.get(f"/take/{study}/").text).forms()[0]
        ticked = {name: "yes" if "yes" in values else values[0] for name, values in form.offered.items()}
        return str(browser.post(form.action, data={**form.hidden, **ticked}).url).rpartition("/s/")[2][:32]


def _wait(address: str) -> None:
    for _ in range(READY_TRIES):
        with suppress(httpx.TransportError):
            if httpx.get(f"{address}/health/ready").is_success:
                return
        time.sleep(0.2)
    raise RuntimeError(f"no server at {address}")
