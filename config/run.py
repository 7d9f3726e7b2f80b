"""`make run`: the whole platform on one machine, in one terminal.

1. Migrate the database, collect static files, create the demo on the first start.
2. Start web server, worker and scheduler.
3. Print the URL and the demo login once the server is ready; Ctrl-C stops all processes.
"""

import os
import shlex
import socket
import sys
import threading
import time
import urllib.request
from urllib.error import URLError

import django
from honcho.manager import Manager
from honcho.printer import Printer

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
FIRST_PORT = 8000
READY_TRIES, RETRY_S = 600, 0.2  # two minutes in all: imports are slow on a first start


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
    """Migrate the database, collect static files and create the demo, each where it is missing."""
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    print("Preparing the database ...", flush=True)
    call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
    if not settings.DEBUG:
        call_command("collectstatic", interactive=False, verbosity=0)
    call_command("demo")


def announce(port: int, login: str) -> None:
    """Wait until the server is ready and print its URL."""
    from django.conf import settings

    url = f"http://127.0.0.1:{port}/"
    for _ in range(READY_TRIES):
        try:
            with urllib.request.urlopen(f"{url}health/ready", timeout=2):  # noqa: S310 - our own address
                break
        except (URLError, OSError):
            time.sleep(RETRY_S)
    print(
        f"\n  Obelus is ready at {url}\n  {login}\n  Ctrl-C stops it; the data stay in {settings.VAR}.\n",
        flush=True,
    )


def commands(port: int) -> dict[str, str]:
    """Return the command line of every process."""
    python = shlex.quote(sys.executable)
    return {
        "web": f"{python} -m config.serve --port {port}",
        "worker": f"{python} -m celery -A config --quiet worker --concurrency 2 --loglevel warning "
        "--without-gossip --without-mingle",
        "beat": f"{python} -m celery -A config --quiet beat --loglevel warning --pidfile=",
    }


def main() -> int:
    """Run all processes until Ctrl-C."""
    port = choose_port(os.environ.get("PORT", ""))
    os.environ["PORT"] = str(port)  # of the address in mail and webhooks, which the worker sends
    prepare()
    from releases.demo import login_line

    manager = Manager(Printer(sys.stdout))
    for name, command in commands(port).items():
        manager.add_process(name, command)
    threading.Thread(target=announce, args=(port, login_line()), daemon=True).start()
    manager.loop()
    return manager.returncode or 0


if __name__ == "__main__":
    sys.exit(main())
