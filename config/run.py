"""`make run`: the whole platform on one machine, in one terminal.

1. Prepare, in a process that ends: migrate the database, collect static files, create the demo's login and
   request the demo, each where it is missing.
2. Start web server and worker, which also schedules; the worker creates the demo.
3. Print the URL and the demo login once the server is ready; Ctrl-C stops all processes.

This process stays, so it imports neither Django nor any library of the platform.
"""

import os
import shlex
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from urllib.error import URLError

from honcho.manager import Manager
from honcho.printer import Printer

FIRST_PORT = 8000
READY_TRIES, RETRY_S = 600, 0.2  # two minutes in all: imports are slow on a first start
# A worker process that has more memory after a task is replaced: with numerical libraries it has 200 MB.
WORKER_KIB = 260_000


def is_free(port: int) -> bool:
    """Whether no process listens on the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the server does: a port whose last connections are in TIME_WAIT counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def next_free(port: int) -> int:
    """Return the first free port above this one."""
    return next(candidate for candidate in range(port + 1, port + 200) if is_free(candidate))


def choose_port(requested: str) -> int:
    """Return the requested port, or the first free one from 8000; exit if the requested one is taken."""
    if requested:
        if not requested.isdigit() or not 0 < int(requested) < 65536:
            sys.exit(f"PORT is {requested!r}: give a number from 1 to 65535, for example: make run PORT=8001")
        if not is_free(int(requested)):
            free = next_free(int(requested))
            sys.exit(f"Port {requested} is taken. The next free one is {free}: make run PORT={free}")
        return int(requested)
    if is_free(FIRST_PORT):
        return FIRST_PORT
    port = next_free(FIRST_PORT)
    print(f"Port {FIRST_PORT} is taken; using the next free one, {port}. (make run PORT=N chooses another.)")
    return port


def prepare() -> None:
    """Prepare database, static files and demo; print what the user has to know, and nothing else."""
    import django  # noqa: PLC0415 (only in the process that prepares)

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.conf import settings  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415

    from config.http.static_files import HashedStaticFiles  # noqa: PLC0415
    from releases.demo.login import administrator_lines, login_line, request_demo  # noqa: PLC0415

    call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
    if not settings.DEBUG:
        HashedStaticFiles.is_compressed = False
        call_command("collectstatic", interactive=False, verbosity=0)
    request_demo()
    lines = [login_line(), *administrator_lines(), f"Ctrl-C stops it; the data are in {settings.VAR}."]
    print("".join(f"  {line}\n" for line in lines), end="")


def run_preparation() -> str:
    """Run :func:`prepare` in a process of its own and return what it printed; exit if it fails."""
    print("Preparing the database ...", flush=True)
    command = [sys.executable, "-m", "config.run", "prepare"]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own
    if process.returncode:
        sys.exit(process.returncode)
    return process.stdout


def announce(port: int, notes: str) -> None:
    """Wait until the server is ready and print its URL."""
    url = f"http://127.0.0.1:{port}/"
    for _ in range(READY_TRIES):
        try:
            with urllib.request.urlopen(f"{url}health/ready", timeout=2):  # noqa: S310 - our own address
                break
        except (URLError, OSError):
            time.sleep(RETRY_S)
    print(f"\n  Obelus is ready at {url}\n{notes}", flush=True)


def commands(port: int) -> dict[str, str]:
    """Return the command line of every process; ``exec`` saves a shell for each."""
    python = f"exec {shlex.quote(sys.executable)}"
    # SQLite has one writer: threads of one process wait for each other for less time than processes do.
    n_web = 1 if (os.environ.get("DATABASE_URL") or "sqlite").startswith("sqlite") else 2
    return {
        "web": f"{python} -m config.serve --port {port} --workers {n_web}",
        "worker": f"{python} -m celery -A config --quiet worker --beat --concurrency 2 --loglevel warning "
        f"--max-memory-per-child {WORKER_KIB} --without-gossip --without-mingle",
    }


def main() -> int:
    """Run all processes until Ctrl-C."""
    port = choose_port(os.environ.get("PORT", ""))
    os.environ["PORT"] = str(port)  # of the address in mail and webhooks, which the worker sends
    notes = run_preparation()
    manager = Manager(Printer(sys.stdout))
    for name, command in commands(port).items():
        manager.add_process(name, command)
    threading.Thread(target=announce, args=(port, notes), daemon=True).start()
    manager.loop()
    return manager.returncode or 0


if __name__ == "__main__":
    if sys.argv[1:] == ["prepare"]:
        prepare()
    else:
        sys.exit(main())
