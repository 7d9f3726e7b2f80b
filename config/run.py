"""`make run`: everything of the platform on one machine, in one terminal.

1. Migrate, gather static files, make the demo once.
2. Start web server, worker and scheduler together.
3. Print the address and the demo login when the page answers; Ctrl-C stops all.
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


def is_free(port: int) -> bool:
    """Whether nobody listens on the port here."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def next_free(port: int) -> int:
    """The first free port after this one."""
    return next(p for p in range(port + 1, port + 200) if is_free(p))


def choose_port(asked: str) -> int:
    """The port asked for, or the first free one from 8000; a taken one is named, with the next free one."""
    if asked:
        if not asked.isdigit() or not 0 < int(asked) < 65536:
            sys.exit(f"PORT is {asked!r}: give a number from 1 to 65535, for example: make run PORT=8001")
        if not is_free(int(asked)):
            free = next_free(int(asked))
            sys.exit(f"Port {asked} is taken. The next free one is {free}: make run PORT={free}")
        return int(asked)
    if is_free(FIRST_PORT):
        return FIRST_PORT
    port = next_free(FIRST_PORT)
    print(f"Port {FIRST_PORT} is taken; using the next free one, {port}. (make run PORT=N chooses another.)")
    return port


def prepare() -> None:
    """Bring database, static files and demo up to date; quick when they are."""
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    print("Preparing the database ...", flush=True)
    call_command("migrate", interactive=False, verbosity=0)
    if not settings.DEBUG:
        call_command("collectstatic", interactive=False, verbosity=0)
    call_command("demo")


def announce(port: int, login: str) -> None:
    """Wait for the page, then say where it is."""
    address = f"http://127.0.0.1:{port}/"
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{address}health/ready", timeout=2):
                break
        except (URLError, OSError):
            time.sleep(0.2)
    print(
        f"\n  Obelus is ready at {address}\n  {login}\n  Ctrl-C stops it; the data stay in var/.\n",
        flush=True,
    )


def commands(port: int) -> dict[str, str]:
    """The processes of one machine."""
    python = shlex.quote(sys.executable)
    return {
        "web": f"{python} -m config.serve --port {port}",
        "worker": f"{python} -m celery -A config --quiet worker --concurrency 2 --loglevel warning "
        "--without-gossip --without-mingle",
        "beat": f"{python} -m celery -A config --quiet beat --loglevel warning --pidfile=",
    }


def main() -> int:
    """Run until Ctrl-C."""
    port = choose_port(os.environ.get("PORT", ""))
    prepare()
    from analysis.releases.demo import login_line

    manager = Manager(Printer(sys.stdout))
    for name, command in commands(port).items():
        manager.add_process(name, command)
    threading.Thread(target=announce, args=(port, login_line()), daemon=True).start()
    manager.loop()
    return manager.returncode or 0


if __name__ == "__main__":
    sys.exit(main())
