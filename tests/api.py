"""Requests to the API as a program sends them: with a token and nothing else."""

import json
from typing import Any

from django.test import Client

from tests import cast

EVERY_SCOPE = ("read", "write", "people", "money")


def send(
    method: str,
    path: str,
    body: Any = None,
    *,
    who=cast.ada,
    scopes=EVERY_SCOPE,
    token: str = "",
    **headers: str,
):
    """The response to a request of a user with a token of these scopes; paths begin after /api/v1/."""
    token = token or cast.token(who(), scopes=scopes)
    client = Client(headers={"Authorization": f"Token {token}", **headers})
    reads = body is None and method in {"get", "delete"}
    options = {} if reads else {"data": json.dumps(body or {}), "content_type": "application/json"}
    return getattr(client, method)(f"/api/v1/{path}", **options)


def call(method: str, path: str, body: Any = None, *, status: int = 200, **options: Any) -> Any:
    """The JSON of a response, which has this status."""
    answer = send(method, path, body, **options)
    assert answer.status_code == status, (method, path, answer.status_code, answer.content[:2000])
    return answer.json() if answer.content else None


def call_study(slug: str, method: str, path: str, body: Any = None, **options: Any) -> Any:
    """The JSON of a response to a request below the address of a study."""
    return call(method, f"studies/{slug}/{path}", body, **options)
