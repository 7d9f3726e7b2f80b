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
