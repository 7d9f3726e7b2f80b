"""Packages that processes have loaded before their first work: each takes time and memory at every start."""

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import closing
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STILL_S, PATIENCE_S = 3, 120
MANAGE = """
    asgiref cffi colorama cryptography django django-allauth django-csp djangorestframework
    drf-spectacular greenlet nh3 packaging rich setuptools sqlparse structlog whitenoise
"""
WEB = (
    MANAGE
    + """
    amqp anyio babel billiard botocore brotli celery certifi chardet charset-normalizer click
    cloudpickle django-filter fido2 granian httpx idna inflection jinja2 kombu lxml markdown-it-py
    markupsafe mdurl msgpack numpy pandas pillow psycopg psycopg-binary pyarrow pygments pyjwt
    python-dateutil python-dotenv pytz pyyaml qrcode requests scipy six threadpoolctl typing_extensions
    typst
    tzlocal uritemplate urllib3 vine backports.tarfile
"""
)
WORKER = (
    MANAGE
    + """
    amqp billiard brotli celery click click-didyoumean click-plugins click-repl httpx idna kombu
    markdown-it-py mdurl msgpack numpy prompt_toolkit psutil psycopg psycopg-binary pycparser pygments
    pyjwt python-dateutil pyyaml six typing_extensions tzlocal vine wcwidth backports.tarfile
"""
)
CELERY = "-m celery -A config --quiet worker --concurrency 1 --without-gossip --without-mingle"
HELP = """
from django.core.management import execute_from_command_line
for name in "agreement power compare score leaderboard figures import_materials".split():
    try:
        execute_from_command_line(["manage.py", name, "--help"])
    except SystemExit as stop:
        assert not stop.code
"""
PROCESSES = {  # as `make run` starts them, and their packages
    "manage.py help": (["manage.py", "help"], MANAGE),
    "help of commands with statistics": (["-c", HELP], MANAGE),
    "web server before its first request": (
        ["-m", "config.serve", "--port", "{port}", "--workers", "1"],
        WEB,
    ),
    "worker before its first job": (CELERY.split(), WORKER),
}
IMPORT = re.compile(r"^import time: +\d+ \| +\d+ \| +(\w+)", re.MULTILINE)


def wait_until_still(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a process has ended or imported nothing for some seconds."""
    deadline, size, since = time.monotonic() + PATIENCE_S, 0, time.monotonic()
    while process.poll() is None and (not size or time.monotonic() - since < STILL_S):
        assert time.monotonic() < deadline
        if log.stat().st_size != size:
            size, since = log.stat().st_size, time.monotonic()
        time.sleep(0.1)


@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_has_loaded_these_packages_only(name, tmp_path):
    command, expected = PROCESSES[name]
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    environment = os.environ | {"DATABASE_URL": "", "CELERY_BROKER_URL": "", "VAR_DIR": str(tmp_path)}
    environment |= {"DEBUG": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
    environment["PYTHONPROFILEIMPORTTIME"] = "1"  # each import is a line, also in processes that it starts
    log = tmp_path / "imports"
    with log.open("wb") as errors:
        words = [word.replace("{port}", str(port)) for word in command]
        process = subprocess.Popen(
            [sys.executable, *words], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=errors
        )
        try:
            wait_until_still(process, log)
            assert process.poll() == (0 if "help" in name else None), log.read_text()[-2000:]
        finally:
            process.terminate()
            process.wait(30)
    distributions = packages_distributions()
    imported = set(IMPORT.findall(log.read_text()))
    loaded = {one.lower() for module in imported for one in distributions.get(module, [])}
    assert "django" in loaded
    unexpected = sorted(loaded - set(expected.split()))
    assert not unexpected, f"import these where they are used: {', '.join(unexpected)}"
