"""A broker of our own: RabbitMQ or Redis where it is installed, else the folder that `make run` uses."""

import os
import shutil
from pathlib import Path

from tests.benchmarks.soak.services import Service, free_port

RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


def broker(kind: str, disk: Path, folder: Path) -> tuple[Service | None, str]:
    """Start it; returns the service, None for a folder, and the address for Celery."""
    if kind == "rabbitmq" or (kind == "auto" and RABBITMQ.exists() and shutil.which("epmd")):
        return _rabbitmq(disk / "rabbitmq", folder)
    if kind == "redis" or (kind == "auto" and shutil.which("redis-server")):
        return _redis(disk / "redis", folder)
    return None, "filesystem://"


def _rabbitmq(data: Path, folder: Path) -> tuple[Service, str]:
    data.mkdir()
    port, distribution = free_port(), free_port()
    plugins = folder / "plugins"
    plugins.write_text("[].\n")
    environment = {
        **os.environ,
        "HOME": str(data),  # of the cookie
        "RABBITMQ_NODENAME": f"soak{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_MNESIA_BASE": str(data),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
    }
    service = Service("broker", [str(RABBITMQ)], environment, folder / "broker.log", cwd="/")
    return service, f"amqp://guest:guest@127.0.0.1:{port}//"


def _redis(data: Path, folder: Path) -> tuple[Service, str]:
    data.mkdir()
    port = free_port()
    options = f"--port {port} --bind 127.0.0.1 --dir {data} --appendonly yes --save".split()
    service = Service("broker", ["redis-server", *options, ""], dict(os.environ), folder / "broker.log")
    return service, f"redis://127.0.0.1:{port}/0"
