"""The processes of docker/compose.yml, started natively: they serve a study, run a job and end on SIGTERM."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from benchmarks.soak.people import Person, Wire
from benchmarks.soak.study import step
from tests.database import empty_database
from tests.deployment.compose import DOCKER, FILLED_IN, ROOT, SITE_HOST, compose, seconds
from tests.test_serve import serving, until

SERVER = os.environ.get("DATABASE_URL", "")
BROKER = os.environ.get("CELERY_BROKER_URL", "")
needs_services = pytest.mark.skipif(
    not (SERVER.startswith("postgres") and BROKER.startswith("amqp")),
    reason="needs DATABASE_URL=postgres://… and CELERY_BROKER_URL=amqp://…",
)
PROCESSES = ("web", "worker", "scheduler")
QUEUE_BACKUP = (
    "from experiments.operation.job_runner import enqueue; enqueue('operation.backup', {}, key='test')"
)
LAST_JOB = "from experiments.models import Job; print(Job.objects.get(key='test').state)"


class ProxiedConnection(http.client.HTTPConnection):
    """Sends what the proxy of compose.yml adds."""

    def request(self, method: str, url: str, body: Any = None, headers: Any = None, **options: Any) -> None:
        added = {"Host": SITE_HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
        super().request(method, url, body, {**(headers or {}), **added}, **options)


class ProxiedWire(Wire):
    """A browser behind the proxy."""

    def ask(self, *arguments: Any, **options: Any) -> Any:
        if self.connection is None:
            self.connection = ProxiedConnection("127.0.0.1", self.port, timeout=self.wait_s)
        return super().ask(*arguments, **options)


@pytest.fixture
def database() -> Iterator[str]:
    """An empty database on the server of the tests."""
    with empty_database(SERVER) as address:
        yield address


@pytest.fixture
def broker() -> Iterator[str]:
    """A virtual host of RabbitMQ, so that no worker of another test takes our messages."""
    name = f"compose-{uuid.uuid4().hex[:8]}"
    address = urlsplit(BROKER)

    def control(*words: str) -> bool:
        try:
            return subprocess.run(["rabbitmqctl", "-q", *words], capture_output=True).returncode == 0
        except OSError:
            return False

    if not control("add_vhost", name):
        pytest.skip("rabbitmqctl cannot make a virtual host here")
    control("set_permissions", "-p", name, address.username or "guest", ".*", ".*", ".*")
    yield address._replace(path=f"/{name}").geturl()
    control("delete_vhost", name)


@pytest.fixture
def environment(tmp_path: Path, database: str, broker: str) -> dict[str, str]:
    """The environment of the containers, with the services of this machine and folders of the test."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    of_containers = compose()["services"]["web"]["environment"]
    inherited = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **inherited,
        **of_containers,
        "PATH": f"{Path(sys.executable).parent}:{inherited['PATH']}",
        "HOME": str(tmp_path),
        "DATABASE_URL": database,
        "CELERY_BROKER_URL": broker,
        "VAR_DIR": str(tmp_path / "var"),
        "STATIC_ROOT": str(tmp_path / "collected"),
        "BACKUP_STORAGE": str(tmp_path / "backups"),
        "WEB_HOST": "127.0.0.1",
        "WEB_PORT": str(port),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def start(service: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a service of compose.yml by the entry point of its image."""
    command = compose()["services"][service]["command"]
    return subprocess.Popen([str(DOCKER / "entrypoint.sh"), *command], cwd=ROOT, env=environment)


def is_healthy(service: str, environment: dict[str, str]) -> bool:
    """Run the health check of a service."""
    kind, _, script, *words = compose()["services"][service]["healthcheck"]["test"]
    assert (kind, script) == ("CMD", "/app/docker/healthcheck.py")
    command = [sys.executable, str(DOCKER / "healthcheck.py"), *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).returncode == 0


def run_code(code: str, environment: dict[str, str]) -> str:
    """Run a line of Python by the entry point."""
    command = [str(DOCKER / "entrypoint.sh"), "shell", "--verbosity", "0", "--command", code]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


@needs_services
def test_a_study_is_taken_a_job_runs_and_every_process_ends_on_sigterm(tmp_path, environment):
    assert start("migrate", environment).wait() == 0
    step("make", environment, {"n_items": 4, "n_lists": 1})
    assert not is_healthy("web", environment) and not is_healthy("worker", environment)
    processes = {service: start(service, environment) for service in PROCESSES}
    try:
        for service in PROCESSES:
            assert until(lambda service=service: is_healthy(service, environment)), service
        person = Person("pia", "soak", int(environment["WEB_PORT"]), seed=1)
        person.wire = ProxiedWire(person.port, person.wait_s)
        person.live()
        assert (person.problem, person.turned_away) == ("", "") and person.code
        stored = step("facts", environment)["judgments"]
        assert {trial for _, trial, _ in stored} == person.acknowledged and len(stored) == 4
        run_code(QUEUE_BACKUP, environment)
        assert until(lambda: run_code(LAST_JOB, environment) == "done")
        assert {file.suffix for file in (tmp_path / "backups").iterdir()} == {
            ".backup"
        }  # the scheduler makes one, too
        for service, process in processes.items():
            process.send_signal(signal.SIGTERM)
            grace = seconds(compose()["services"][service]["stop_grace_period"])
            assert (service, process.wait(timeout=grace)) == (service, 0)
    finally:
        for process in processes.values():
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def migrated(tmp_path_factory) -> Path:
    """A data folder with the tables of this version."""
    folder = tmp_path_factory.mktemp("migrated")
    environment = {**os.environ, "VAR_DIR": str(folder), "DATABASE_URL": "", "SECRET_KEY": ""}
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
    return folder


def test_the_health_check_asks_by_the_name_that_is_served(migrated):
    """One host name, HTTPS, a proxy before it: another name would be refused, and HTTP led away."""
    settings = {"ALLOWED_HOSTS": SITE_HOST, "HTTPS": "yes", "BEHIND_PROXY": "yes", "DEBUG": ""}
    settings |= {"SECRET_KEY": FILLED_IN["SECRET_KEY"]}
    environment = {**os.environ, "VAR_DIR": str(migrated), "DATABASE_URL": "", **settings}
    with serving(migrated, **settings) as server:
        environment["WEB_PORT"] = str(server.port)
        assert until(lambda: is_healthy("web", environment))
        other = {**environment, "ALLOWED_HOSTS": "elsewhere.example.org"}
        assert not is_healthy("web", other)


def test_a_process_that_has_never_worked_is_named(migrated):
    environment = {**os.environ, "VAR_DIR": str(migrated), "DATABASE_URL": "", "SECRET_KEY": ""}
    command = [sys.executable, "manage.py", "heartbeat", "worker", "--json"]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert process.returncode == 1
    assert json.loads(process.stdout) == {
        "process": f"worker@{socket.gethostname()}",
        "age_s": None,
        "works": False,
    }
