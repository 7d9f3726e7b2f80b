"""A cluster on the test database, with a broker of its own."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests.database import database_url
from tools.cluster import Cluster, may_make_networks, until


def _redis(folder: Path) -> Iterator[str]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("hosts need a broker of this test's own: install redis-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    until(lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
    yield f"redis://127.0.0.1:{port}/0"
    server.kill()
    server.wait()


def _rabbitmq(folder: Path) -> Iterator[str]:
    control, name = shutil.which("rabbitmqctl"), f"obelus-{folder.name}-{id(folder)}"
    if control is None or subprocess.run([control, "add_vhost", name], capture_output=True).returncode:
        pytest.skip("hosts need a broker of this test's own: no right to add a virtual host to RabbitMQ")
    subprocess.run([control, "set_permissions", "-p", name, "guest", ".*", ".*", ".*"], check=True)
    yield f"amqp://guest:guest@127.0.0.1:5672/{name}"
    subprocess.run([control, "delete_vhost", name], check=True, capture_output=True)


BROKERS = {"redis": _redis, "rabbitmq": _rabbitmq}


@pytest.fixture
def cluster(request: pytest.FixtureRequest, transactional_db: None, tmp_path: Path) -> Iterator[Cluster]:
    """Hosts that share PostgreSQL, a broker (Redis, or what the test's parameter names) and a folder."""
    if connection.vendor != "postgresql":
        pytest.skip("several hosts share PostgreSQL: set DATABASE_URL to run this test")
    if not may_make_networks():
        pytest.skip(
            "hosts have networks of their own: run as root, with ip (iproute2) and network namespaces"
        )
    broker = BROKERS[getattr(request, "param", "redis")](tmp_path)
    hosts = Cluster(tmp_path, database=database_url(), broker=next(broker), secret=str(settings.SECRET_KEY))
    try:
        yield hosts
    finally:
        hosts.close()
        next(broker, None)
