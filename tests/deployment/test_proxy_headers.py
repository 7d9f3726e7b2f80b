"""Configurations of the proxies, and the deployment check, against forged headers; see test_proxies.py."""

import socket
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from config.checks import check_proxy_headers
from tools.doubles import serving

DOCKER = Path(__file__).parents[2] / "docker"
CADDYFILE = DOCKER / "proxy" / "Caddyfile"


def free_port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def directives(text):
    """Lines of a configuration without comments and indentation."""
    return {line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")}


def test_the_configuration_of_each_proxy_drops_headers_with_underscores():
    """Also where Caddy and nginx are not installed."""
    assert {"header_up -X_*", "header_up -X-Forwarded_*"} <= directives(CADDYFILE.read_text())
    nginx = directives((DOCKER / "proxy" / "nginx.conf").read_text())
    assert "underscores_in_headers off;" in nginx and "ignore_invalid_headers off;" not in nginx
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in nginx  # set, not appended
    assert "proxy_set_header X-Forwarded-Proto https;" in nginx
    ingress = (DOCKER / "kubernetes" / "web.yaml").read_text()
    assert not any("underscores" in line or "snippet" in line for line in directives(ingress))


@pytest.fixture
def site(settings):
    """A site behind a proxy that passes on the headers of these names only."""
    passed = set()

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self):
            pretends_http = any(self.headers.get(name) == "http" for name in passed)
            self.send_response(301 if pretends_http else 200)
            self.send_header("Location", "https://judgments.example.org/health/live")
            self.end_headers()

        def log_message(self, *args):
            """Write nothing."""

    server = HTTPServer(("127.0.0.1", 0), Proxy)
    settings.BEHIND_PROXY = settings.HTTPS = True
    settings.SITE_ADDRESS = f"http://127.0.0.1:{server.server_port}"
    with serving(server):
        yield passed


def test_the_deployment_check_asks_the_site_whether_its_proxy_drops_them(site, settings):
    assert check_proxy_headers() == []
    site.add("X-Forwarded_Proto")
    [warning] = check_proxy_headers()
    assert warning.id == "obelus.W003" and "passes on X-Forwarded_Proto:" in warning.msg
    settings.BEHIND_PROXY = False
    assert check_proxy_headers() == []


def test_the_deployment_check_says_where_it_could_not_ask(settings):
    settings.BEHIND_PROXY = settings.HTTPS = True
    settings.SITE_ADDRESS = f"http://127.0.0.1:{free_port()}"
    [warning] = check_proxy_headers()
    assert warning.id == "obelus.W003" and "is unknown" in warning.msg and "refused" in warning.msg
