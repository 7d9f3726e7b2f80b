"""Answers of this process to a client of httpx."""

import httpx
from django.test import Client


def answered_here(request):
    """Answer a request in this process, on the connection of the test's database."""
    headers = {name: value for name, value in request.headers.items() if name != "content-type"}
    response = Client().generic(
        request.method,
        request.url.raw_path.decode(),
        request.read(),
        content_type=request.headers.get("content-type", "application/json"),
        headers=headers,
    )
    return httpx.Response(response.status_code, headers=dict(response.headers), content=response.getvalue())
