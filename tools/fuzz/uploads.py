"""Hostile files at every place that takes one, through previews and imports to the jobs of the worker.

Each place first gets a file that it has to accept, then every hostile file, then mutations of its own valid
file. Where a preview is offered, it is confirmed. Faults: a server error, a response or a job that takes too
long, a traceback or a path of the server in a page or in the reason of a failed job, a job that fails by an
exception that nobody explained.
"""

import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from html import unescape

import httpx

from judgments.simulation.http_client import Page
from tests.experiments.pages.page_forms import sent_by_browser
from tools.fuzz.file_inputs import FILE_INPUTS, FileInput
from tools.fuzz.hostile_files import hostile_files, mutated
from tools.fuzz.site import JobRow, Site

REQUEST_S, JOBS_S = 30, 600  # the latter for all jobs that are open at the end
PREVIEW_S = 120  # for a job that reads a large file, with one like it before
TRACEBACK = re.compile(r'Traceback \(most recent call last\)|File "[^"]+\.py", line \d+')
#: How the job runner writes an exception that is not an explained one: its class, then its text.
UNEXPLAINED = re.compile(r"[A-Z]\w*(Error|Exception|Warning|Invalid|Exit|Interrupt)\w*: ")
LOGGED_ERROR = re.compile(r"\b(error|critical)\b|Traceback", re.IGNORECASE)
TEMPLATES = "releases.views.study_templates.template"


def fuzz_uploads(site: Site, *, cases: int, seed_number: int) -> tuple[Counter[int], list[str]]:
    """Upload hostile files everywhere, then ``cases`` mutated ones; statuses and faults."""
    run = UploadFuzz(site, rng=random.Random(seed_number))
    with site.worker():
        for place in FILE_INPUTS:
            run.try_valid(place)
        hostile = list(hostile_files().items())
        for place in FILE_INPUTS:
            started = time.monotonic()
            for name, content in hostile:
                run.send(place, name, content)
            print(f"  {place.name:70} {len(hostile)} files in {time.monotonic() - started:.0f} s", flush=True)
        for name, content in hostile:
            if name.endswith(".yaml"):
                run.send_template_to_api(name, content)
        for number in range(cases):
            place = FILE_INPUTS[number % len(FILE_INPUTS)]
            name, content = place.valid(site.facts)
            run.send(place, name, mutated(content, run.rng))
        run.check_jobs()
    print(f"  previews confirmed: {run.n_confirmed}; jobs: {dict(run.jobs)}", flush=True)
    return run.statuses, run.faults


class UploadFuzz:
    """A researcher's browser and token, and what they were answered."""

    def __init__(self, site: Site, *, rng: random.Random) -> None:
        self.site, self.rng = site, rng
        self.browser = site.signed_in()
        self.api = httpx.Client(
            base_url=site.address, timeout=120, headers={"Authorization": f"Token {site.facts['token']}"}
        )
        self.first_job = max((job.id for job in site.jobs()), default=0)
        self.statuses: Counter[int] = Counter()
        self.jobs: Counter[str] = Counter()
        self.faults: list[str] = []
        self.n_sent = self.n_confirmed = 0
        self.logged = {name: len(site.logged(name)) for name in ("web", "worker")}

    def try_valid(self, place: FileInput) -> None:
        """Send the valid file, which has to be accepted, so that no place is fuzzed by refusals alone."""
        name, content = place.valid(self.site.facts)
        response = self.send(place, name, content)
        if response is None:
            return
        place_of_success = f"{response.url} {unescape(response.text)}"
        if not response.is_success or place.accepted not in place_of_success:
            self.faults.append(f"{place.name}: the valid file was answered {response.status_code}")

    def send(self, place: FileInput, name: str, content: bytes) -> httpx.Response | None:
        """Upload one file, and confirm the preview where one follows; the response to the upload."""
        self.n_sent += 1
        what = f"{place.name} {name[:60]} {content[:60]!r}"
        client = self.api if place.is_api else self.browser
        data = place.fields(self.n_sent) | ({} if place.is_api else self._token())
        files = place.files(self.site.facts, name, content)
        response = self._checked(client, place.path(self.site.facts), data, what=what, files=files)
        if response is not None:
            self._follow(place, response, what)
        self._note_memory_and_logs(what)
        return response

    def send_template_to_api(self, name: str, content: bytes) -> None:
        """Send a template as the text of a JSON body, where it is text."""
        text = content.decode("utf-8", "replace")
        started = time.monotonic()
        response = self.api.post(
            "/api/v1/study-templates/", json={"template": text}, headers={"Accept": "application/json"}
        )
        self._check(response, time.monotonic() - started, what=f"/api/v1/study-templates/ {name}")

    def check_jobs(self) -> None:
        """Wait for the jobs of these uploads; each is done, or failed with a reason for researchers."""
        for job in self.site.wait_for_jobs(after=self.first_job, seconds=JOBS_S):
            self.jobs[f"{job.kind} {job.state}"] += 1
            self.faults += job_faults(job, self.site.private_paths())
        self._note_memory_and_logs("jobs")
        self.faults += [f"{name} ended and was started again" for name in self.site.restarts()]

    def _token(self) -> dict[str, str]:
        return {"csrfmiddlewaretoken": self.browser.cookies.get("csrftoken") or ""}

    def _checked(
        self,
        client: httpx.Client,
        address: str,
        data: dict[str, str],
        *,
        what: str,
        files: dict[str, tuple[str, bytes]] | None = None,
    ) -> httpx.Response | None:
        started = time.monotonic()
        try:
            response = client.post(
                address,
                data=data,
                files=files,
                headers={"Referer": str(client.base_url)},
                follow_redirects=True,
            )
        except httpx.TransportError as error:
            self.faults.append(f"{type(error).__name__}: {what}")
            return None
        self._check(response, time.monotonic() - started, what=what)
        return response

    def _check(self, response: httpx.Response, seconds: float, *, what: str) -> None:
        self.statuses[response.status_code] += 1
        if response.status_code >= 500:
            self.faults.append(f"{response.status_code}: {what}")
        if seconds > REQUEST_S:
            self.faults.append(f"{seconds:.0f} s: {what}")
        self.faults += [f"{leak}: {what}" for leak in leaks(response.text, self.site.private_paths())]

    def _follow(self, place: FileInput, response: httpx.Response, what: str) -> None:
        """Confirm what the page offers: a preview of an upload, or that of a template."""
        if place.name == TEMPLATES and place.accepted in response.text:
            fields = sent_by_browser(response.text, None)
            self._checked(self.browser, place.address, fields | self._token(), what=f"create: {what}")
        elif re.search(r"/(materials/upload|judgments/import)/[0-9a-f-]{36}/", str(response.url)):
            self._confirm(str(response.url), what)

    def _confirm(self, address: str, what: str) -> None:
        page = self._read_preview(address, what)
        if page is None or 'value="import"' not in page:
            return
        self.n_confirmed += 1
        fields = {**sent_by_browser(page, "reading"), **_answers(address, page), "action": "import"}
        self._checked(self.browser, address, fields | self._token(), what=f"import: {what}")

    def _read_preview(self, address: str, what: str) -> str | None:
        """The preview once its job has ended; None where the files cannot be read."""
        end = time.monotonic() + PREVIEW_S
        while time.monotonic() < end:
            started = time.monotonic()
            response = self.browser.get(address)
            self._check(response, time.monotonic() - started, what=f"preview: {what}")
            state = re.search(r'data-job="\d+" data-state="(\w+)"', response.text)
            if state is None:
                return response.text
            if state[1] in ("done", "failed"):
                return response.text if state[1] == "done" else None
            time.sleep(0.3)
        self.faults.append(f"no preview after {PREVIEW_S} s: {what}")
        return None

    def _note_memory_and_logs(self, what: str) -> None:
        self.site.peaks_by_service()
        for name, length in self.logged.items():
            text = self.site.logged(name)
            self.logged[name] = len(text)
            lines = [line for line in text[length:].splitlines() if LOGGED_ERROR.search(line)]
            if lines:
                self.faults.append(f"{name} logged {lines[0][:300]} … {text[-300:]!r}, at or before {what}")


def _answers(address: str, page: str) -> dict[str, str]:
    """The first answer to each question that has to be answered before an import."""
    questions = {"guess_is_right": "yes"} if 'name="guess_is_right"' in page else {}
    for form in Page(address, 200, page).forms():
        questions |= {
            name: values[0] for name, values in form.offered.items() if name.startswith("encoding") and values
        }
    return questions


def leaks(text: str, private_paths: list[str]) -> Iterator[str]:
    """What a text tells of the server: a traceback, or its folders."""
    if TRACEBACK.search(text):
        yield "a traceback in the response"
    for path in private_paths:
        if path in text or json.dumps(path)[1:-1] in text:
            yield f"{path} in the response"


def job_faults(job: JobRow, private_paths: list[str]) -> Iterator[str]:
    """Why a job did not end as it has to: done, or failed with a reason that is explained."""
    name = f"{job.kind} {job.id}"
    if not job.is_final:
        yield f"{name} is {job.state}: {job.message}"
    if job.state == "failed" and not job.error.strip():
        yield f"{name} failed without a reason"
    if UNEXPLAINED.match(job.error):
        yield f"{name} failed unexplained: {job.error[:300]}"
    for leak in leaks(job.error, private_paths):
        yield f"{leak} of {name}: {job.error[:300]}"
