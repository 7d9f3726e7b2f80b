"""A platform with the demo's studies in a folder of its own, served to the fuzzers."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.soak.services import Service, children, free_port, platform
from judgments.simulation.http_client import Page

READY_TRIES = 600
N_OPEN = 6  # sessions in progress of each study
ROOT = Path(__file__).resolve().parents[2]
# Limits of their own tests would refuse nearly everything that follows.
SETTINGS = {
    "ARRIVALS_PER_MINUTE": "0",
    "API_REQUESTS_PER_MINUTE": "0",
    "UPLOAD_QUOTA_BYTES": str(10**12),
    "LOG_LEVEL": "ERROR",
    "ALLOWED_HOSTS": "127.0.0.1",
}
# The account and the identifiers that a request needs to reach more than "not found".
FACTS = """
import json, os, shutil
from pathlib import Path
import releases.jobs  # registers the kinds of jobs
from django.conf import settings
from django.core.files.base import ContentFile
from experiments.intake.uploads import save_uploads
from django.contrib.auth import get_user_model
from experiments.generation.paradigms.document import read_source
from experiments.operation.job_runner import run
from config.celery import app
from experiments.models import ApiToken, Campaign, Experiment, Job, MaterialSet
from experiments.pages.account import make_token
from experiments.generation.stored.library import save_paradigm
from experiments.generation.stored.pair_sets import create_pair_set
from experiments.webhooks import endpoints
from judgments.recruitment.credentials import add_account
from experiments.studies.creation import copy_study, create_study
from experiments.studies.lifecycle import start_pilot
from judgments.models import Session, Submission, Trial
from releases.study_templates.create import built_in_file
from releases.models import Comparison, Release
from releases.study_report.request import ReportOptions, request_report
from releases.views.deviations import current_deviations
from releases.views.models.comparisons import list_runs
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
copies = [copy_study(answered, owner) for _ in range(6)]
for study in copies[::2]:
    start_pilot(study, owner)
MaterialSet.objects.create(name="unused", slug="unused", language="en", checksum="0" * 64, owner=owner)
material_uploads = [
    save_uploads(
        owner,
        [ContentFile(b"sentence_id,sentence\\na,It is.\\nb,It was.\\n", name="fuzz.csv")],
        purpose="materials",
        options={"name": f"upload {number}", "language": "en"},
    )[0]
    for number in range(20)
]
settings.MODELS_DIR.mkdir(parents=True, exist_ok=True)
shutil.copy(Path(os.environ["VAR_DIR"], "demo", "unigram.arpa"), settings.MODELS_DIR / "fuzz.arpa")
paradigm_text = read_source("wh_island").decode().replace("wh_island", "own_island")
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
submission = Submission.objects.filter(campaign__recruiter="prolific", session__isnull=False).first()
ngram_run = list_runs(answered).filter(model__startswith="arpa:", state="done", scorer__isnull=False).first()
app.control.purge()
# Deliveries of webhooks would leave the machine.
Job.objects.filter(state="queued").update(state="failed", error="Not run by the fuzz.")
of_release = Release.objects.filter(state=Release.State.READY).order_by("pk")
print(json.dumps({
    "token": token,
    "studies": opened,
    "drafts": [draft.slug],
    "archived": archived.slug,
    **{
        name: [{"slug": study.slug}]  # each is moved by one operation only
        for name, study in zip(("closing", "pausing", "rounds"), copies[::2], strict=True)
    },
    "copies": [{"slug": study.slug} for study in copies[1::2]],
    "material_uploads": [str(upload.batch) for upload in material_uploads],
    "materials": list(MaterialSet.objects.order_by("pk").values_list("slug", flat=True)),
    "jobs": list(Job.objects.order_by("pk").values_list("pk", flat=True)[:20]),
    "runs": [{"slug": answered.slug, "id": run.pk} for run in list_runs(answered).order_by("pk")[:20]],
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
    "template": built_in_file("likert-island").decode(),
    "uploads": {
        "study": answered.slug,
        "sentence": sentence,
        "run": ngram_run.pk,
        "campaign_study": submission.campaign.experiment.slug,
        "campaign": submission.campaign_id,
        "submission": submission.external_id,
    },
    "sessions": list(Session.objects.order_by("pk").values_list("token", flat=True)[:20]),
    "trials": list(Trial.objects.order_by("pk").values_list("public_id", flat=True)[:400]),
}))
"""


@dataclass(frozen=True)
class JobRow:
    """A stored job."""

    id: int
    kind: str
    state: str
    error: str
    message: str

    @property
    def is_final(self) -> bool:
        """Whether the job has ended."""
        return self.state in ("done", "failed")


@dataclass
class Site:
    """A running server and what is stored behind it."""

    address: str
    services: dict[str, Service]
    facts: dict[str, Any]
    password: str
    folder: Path
    environment: dict[str, str]
    peaks: dict[str, int] = field(default_factory=dict)

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
        """The most memory that any process of the server, or of the worker, has held."""
        return max(self.peaks_by_service().values(), default=0)

    def peaks_by_service(self) -> dict[str, int]:
        """The most memory of one process, by service; processes that have ended count as last seen."""
        for name, service in self.services.items():
            self.peaks[name] = max([self.peaks.get(name, 0), *map(_peak, _tree(service.process.pid))])
        return self.peaks

    def restarts(self) -> list[str]:
        """Services that ended by themselves and were started again."""
        return [name for name, service in self.services.items() if service.n_starts > 1]

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Run worker and scheduler, with the commands of the platform, until the block ends."""
        services = platform(0, self.environment, self.folder, only=("worker", "beat"))
        self.services |= services
        try:
            yield
        finally:
            self.peaks_by_service()
            for name, service in services.items():
                self.services.pop(name)
                service.stop()

    def jobs(self, *, after: int = 0) -> list[JobRow]:
        """Stored jobs with a greater id."""
        path = Path(self.environment["VAR_DIR"], "obelus.sqlite3")
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as database:
            rows = database.execute(
                "SELECT id, kind, state, error, message FROM experiments_job WHERE id > ? ORDER BY id",
                [after],
            )
            return [JobRow(*row) for row in rows]

    def wait_for_jobs(self, *, after: int, seconds: float) -> list[JobRow]:
        """Wait until all jobs with a greater id have ended; those that have not are returned as well."""
        end = time.monotonic() + seconds
        while not all(job.is_final for job in self.jobs(after=after)) and time.monotonic() < end:
            time.sleep(0.2)
        return self.jobs(after=after)

    def logged(self, name: str) -> str:
        """What a service has logged, which is errors only."""
        path = self.folder / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def private_paths(self) -> list[str]:
        """Folders of the server that no response or reason of a failure may name."""
        return [str(self.folder), str(ROOT), os.path.realpath(sys.prefix)]


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for child in children(pid):
        yield from _tree(child)


def _peak(pid: int) -> int:
    """Greatest resident memory of a process in bytes; 0 where it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    peaks = [int(row.split()[1]) for row in status.splitlines() if row.startswith("VmHWM")]  # kB
    return max(peaks, default=0) * 1024


@contextmanager
def running_site(folder: Path) -> Iterator[Site]:
    """Make the demo in the folder and serve it until the block ends."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        **SETTINGS,
        "VAR_DIR": str(folder / "var"),
        "DATABASE_URL": "",
        "TMPDIR": str(temporary),  # so that the paths of temporary files are recognized in responses
    }
    with _served(folder, environment, make_demo(folder, environment)) as site:
        yield site


def make_demo(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    """Create the demo in the folder; return the identifiers of what is stored."""
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
    stored: dict[str, Any] = json.loads(facts.stdout)
    return stored


@contextmanager
def _served(folder: Path, environment: dict[str, str], facts: dict[str, Any]) -> Iterator[Site]:
    password = (folder / "var" / "demo_password").read_text(encoding="utf-8").strip()
    port = free_port()
    services = platform(port, environment, folder, only=("web",))
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address)
        facts["open_sessions"] = [begin_session(address, study) for study in facts["studies"] * N_OPEN]
        facts["sessions"] += facts["open_sessions"]
        yield Site(address, services, facts, password, folder, environment)
    finally:
        services["web"].stop()


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
