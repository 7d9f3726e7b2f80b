"""A client generated from the OpenAPI document reaches studies, releases and webhooks as its user."""

import importlib
import json
import sys
from pathlib import Path

import httpx
import pytest
from django.core.management import call_command

from experiments.models import Webhook
from tests import cast
from tests.answers import answered_here

generator = pytest.importorskip("openapi_python_client", reason="a tool of developers: make test installs it")
NAME = "generated_obelus_client"
#: Operations that answer files in types that the generator does not read; each is one download by address.
FILES = {"application/x-ndjson", "application/yaml", "application/zip"}


@pytest.fixture(scope="module")
def client_package(tmp_path_factory):
    """The generated package, which is importable until the module's tests end."""
    from openapi_python_client.config import Config, ConfigFile, MetaType

    folder = tmp_path_factory.mktemp("client")
    document = folder / "openapi.json"
    call_command("spectacular", "--format", "openapi-json", "--file", str(document))
    config = Config.from_sources(
        ConfigFile(post_hooks=[]),
        MetaType.NONE,
        document_source=document,
        file_encoding="utf-8",
        overwrite=True,
        output_path=folder / NAME,
    )
    problems = [str(problem.detail or problem.header) for problem in generator.generate(config=config)]
    sys.path.insert(0, str(folder))
    yield json.loads(document.read_text()), problems
    sys.path.remove(str(folder))
    for module in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[module]


def part(name):
    return importlib.import_module(f"{NAME}.{name}")


@pytest.fixture
def api(client_package, db):
    """The client with a token of Ada's, connected to this process."""
    return part("client").AuthenticatedClient(
        base_url="http://testserver",
        token=cast.token(cast.ada()),
        prefix="Token",
        httpx_args={"transport": httpx.MockTransport(answered_here)},
    )


def test_every_operation_but_downloads_has_a_function(client_package):
    document, problems = client_package
    assert [text for text in problems if not any(kind in text for kind in FILES)] == []
    folder = part("api").__path__[0]
    operations = sum(
        "operationId" in operation
        for item in document["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
    )
    functions = [path for path in Path(folder).rglob("*.py") if path.name != "__init__.py"]
    assert len(functions) == operations


def test_the_client_reads_studies_and_adds_a_webhook(api, client_package, settings):
    settings.WEBHOOK_PRIVATE_TARGETS = True
    cast.study("agreement")
    studies = part("api.studies.studies_list").sync(client=api)
    assert [(study.slug, study.status) for study in studies.results] == [("agreement", "open")]
    models = part("models")
    events = [models.EventsEnum("release.frozen")]
    body = models.WebhookRequest(address="http://127.0.0.1:9/hook", events=events)
    created = part("api.studies.studies_webhooks_create").sync(slug="agreement", client=api, body=body)
    assert created.secret.startswith("whsec_") and Webhook.objects.get().pk == created.id
    listed = part("api.studies.studies_webhooks_list").sync(slug="agreement", client=api)
    assert [row.host for row in listed.results] == ["127.0.0.1"]


def test_a_stranger_gets_the_documented_error(api):
    cast.draft("agreement", owner=cast.ben())
    api.token = cast.token(cast.cleo())
    answer = part("api.studies.studies_retrieve").sync_detailed(slug="agreement", client=api)
    assert answer.status_code == 404
