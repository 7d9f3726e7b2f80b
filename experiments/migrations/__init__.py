"""Migrations, and an operation that creates many models in one step."""

from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation


class CreateModels(Operation):
    """Create the models of an app at once.

    After each ``CreateModel`` Django builds the classes of all related models anew: 66 models in a row take
    four times as long as all other migrations together.
    """

    def __init__(self, models: list[CreateModel]) -> None:
        self.models = models

    def describe(self) -> str:
        """Return the line that ``migrate --plan`` prints."""
        return f"Create {len(self.models)} models"

    def state_forwards(self, app_label, state) -> None:
        """Add the models to a state without classes, which Django builds when a table is created."""
        if "apps" in vars(state):  # a cached property
            del state.apps
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state) -> None:
        """Create the tables."""
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state) -> None:
        """Delete the tables, last first."""
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)
