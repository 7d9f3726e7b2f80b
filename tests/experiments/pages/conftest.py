"""Fixtures of the tests of pages."""

import pytest


@pytest.fixture
def few_pairs(monkeypatch):
    """The linter draws few pairs, so that a check is quick."""
    from experiments.generation.stored import library

    monkeypatch.setattr(library, "CHECKED_PAIRS", 12)
    monkeypatch.setattr(library, "SAVED_PAIRS", 12)
