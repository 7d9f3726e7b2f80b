"""A local S3 over HTTP: moto's server, which can refuse requests."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3
import httpx
import pytest
from django.conf import LazySettings

from config.settings import file_storage
from tools.doubles import serving

BUCKET = "lab"
REFUSAL = (
    b"<?xml version='1.0'?><Error><Code>QuotaExceeded</Code><Message>The bucket is full.</Message></Error>"
)


@dataclass
class S3Double:
    """A server with one bucket; ``refuses`` says of a request's method and query whether it is refused."""

    address: str = ""
    refuses: Callable[[str, str], bool] = lambda method, query: False
    requests: list[str] = field(default_factory=list)

    @property
    def client(self) -> Any:
        """A client of its own, as a person would look into the bucket."""
        return boto3.client("s3", endpoint_url=self.address, region_name="us-east-1")

    def names(self) -> list[str]:
        """The objects of the bucket."""
        return [row["Key"] for row in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def unfinished_uploads(self) -> list[str]:
        """Uploads in parts that were neither completed nor discarded."""
        return [row["Key"] for row in self.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])]

    def storage(self, prefix: str, **options: Any) -> dict[str, Any]:
        """The entry of ``STORAGES`` that ``config.settings.file_storage`` makes of ``s3://lab/PREFIX``."""
        return {
            "BACKEND": "storages.backends.s3.S3Storage",
            "OPTIONS": {
                "bucket_name": BUCKET,
                "location": prefix,
                "default_acl": "private",
                "file_overwrite": True,
                "endpoint_url": self.address,
                "region_name": "us-east-1",
                **options,
            },
        }


def store_uploads(double: S3Double, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the setting ``UPLOAD_STORAGE`` name the bucket."""
    monkeypatch.setenv("UPLOAD_STORAGE", f"s3://{BUCKET}/files")
    monkeypatch.setenv("S3_ENDPOINT_URL", double.address)
    entry = file_storage("UPLOAD_STORAGE", None, overwrites=False)
    settings.STORAGES = {**settings.STORAGES, "default": entry}


@contextlib.contextmanager
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Double]:
    """Start the double on a free port, with keys in the environment."""
    pytest.importorskip("moto.server")
    from moto.moto_server.werkzeug_app import (
        DomainDispatcherApplication,
        MotoRequestHandler,
        create_backend_app,
    )
    from werkzeug.serving import make_server

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    moto = DomainDispatcherApplication(create_backend_app)
    double = S3Double()

    def application(environ: dict[str, Any], start_response: Any) -> Any:
        method, query = environ["REQUEST_METHOD"], environ["QUERY_STRING"]
        double.requests.append(f"{method} {environ['PATH_INFO']}?{query}")
        if not double.refuses(method, query):
            return moto(environ, start_response)
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start_response("403 Forbidden", [("Content-Type", "application/xml"), ("Connection", "close")])
        return [REFUSAL]

    server = make_server("127.0.0.1", 0, application, True, request_handler=MotoRequestHandler)
    double.address = f"http://127.0.0.1:{server.server_port}"
    with serving(server):
        httpx.post(f"{double.address}/moto-api/reset")  # moto keeps its objects in the process
        double.client.create_bucket(Bucket=BUCKET)
        try:
            yield double
        finally:
            double.address = ""
