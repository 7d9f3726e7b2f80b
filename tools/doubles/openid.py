"""A local double of an OpenID Connect provider: discovery, keys, tokens and claims over HTTP."""

import contextlib
import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tools.doubles import serving

CLIENTS = {"obelus": "obelus-secret", "obelus-orcid": "obelus-orcid-secret"}
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class OpenIDProvider:
    """People log in here as ``claims`` says; ``requests`` are the addresses that were asked for."""

    address: str
    claims: dict[str, Any] = field(default_factory=dict)
    audience: str = ""  # of tokens; empty for the client that asks
    is_down: bool = False
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def discovery(self) -> dict[str, Any]:
        """What the provider publishes about itself."""
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "userinfo_endpoint": f"{self.address}/userinfo",
            "jwks_uri": f"{self.address}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def authorize(self, address: str) -> str:
        """The person agrees: the address to come back to, with a code for what was asked for."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["client_id"] in CLIENTS and asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?code={code}&state={asked['state']}"

    def token(self, sent: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The tokens for a code, once."""
        asked = self.codes.pop(sent.get("code", ""), None)
        is_client = CLIENTS.get(sent.get("client_id", "")) == sent.get("client_secret")
        if asked is None or not is_client or sent.get("redirect_uri") != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        audience = self.audience or asked["client_id"]
        claims = {"iss": self.address, "aud": audience, "iat": time.time(), "exp": time.time() + 60}
        id_token = jwt.encode({**claims, **self.claims}, KEY, "RS256", headers={"kid": "1"})
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": id_token}


def _handler(provider: OpenIDProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            documents = {
                "/.well-known/openid-configuration": provider.discovery(),
                "/userinfo": provider.claims,
                "/keys": {"keys": [{**RSAAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": "1"}]},
            }
            self._send(200 if self.path in documents else 404, documents.get(self.path, {}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._send(*provider.token({name: values[0] for name, values in parse_qs(body).items()}))

        def _send(self, status: int, document: dict[str, Any]) -> None:
            provider.requests.append(self.path)
            content = json.dumps(document).encode()
            self.send_response(503 if provider.is_down else status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            """Write nothing."""

    return Handler


@contextlib.contextmanager
def running() -> Iterator[OpenIDProvider]:
    """A provider on a free port of this machine."""
    provider = OpenIDProvider("")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.address = f"http://127.0.0.1:{server.server_port}"
    with serving(server):
        yield provider
