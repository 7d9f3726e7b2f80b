"""The OpenAPI document when several clients request it at once."""

import time
from concurrent.futures import ThreadPoolExecutor

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings

from config.api_schema import DocumentGenerator


def test_one_document_at_a_time_is_made_in_a_process(monkeypatch):
    """drf-spectacular resolves classes while it makes the first document; two threads at once failed."""
    running, most = set(), []

    def get_schema(self, *args, **kwargs):
        running.add(self)
        most.append(len(running))
        time.sleep(0.05)
        running.remove(self)

    monkeypatch.setattr(SchemaGenerator, "get_schema", get_schema)
    assert spectacular_settings.DEFAULT_GENERATOR_CLASS is DocumentGenerator
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: DocumentGenerator().get_schema(request=None, public=True), range(4)))
    assert most == [1] * 4


def test_no_schema_is_named_like_a_type_of_the_languages_that_clients_are_generated_for():
    """A model named List hides typing.List in the client for Python, which then cannot be imported."""
    schemas = DocumentGenerator().get_schema(request=None, public=True)["components"]["schemas"]
    types = {
        "Any",
        "Array",
        "Date",
        "Dict",
        "Field",
        "List",
        "Map",
        "Object",
        "Optional",
        "Promise",
        "Set",
        "Union",
    }
    assert types & schemas.keys() == set()


def test_a_body_has_no_read_only_field():
    document = DocumentGenerator().get_schema(request=None, public=True)
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("Request"):
            read_only = [key for key, part in schema.get("properties", {}).items() if part.get("readOnly")]
            assert read_only == [], name
