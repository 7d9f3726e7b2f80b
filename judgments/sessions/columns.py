"""Tables and columns as SQL written out here names and reads them, the same on PostgreSQL and SQLite."""

import json
from datetime import UTC, datetime
from typing import Any

from experiments.models import Experiment, ExperimentVersion, MinimalPair
from judgments.models import Judgment, Session, Trial

TABLES = {
    model.__name__.lower(): f'"{model._meta.db_table}"'
    for model in (Session, Trial, Judgment, Experiment, ExperimentVersion, MinimalPair)
}


def flag(value: Any) -> bool | None:
    """A truth value; SQLite keeps 0 and 1."""
    return None if value is None else bool(value)


def document(value: Any) -> Any:
    """A JSON document, which may come as text."""
    return json.loads(value) if isinstance(value, str) else value


def moment(value: Any) -> datetime | None:
    """A moment; SQLite keeps text in UTC."""
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found
