"""The plugins of this installation, for administrators."""

from django.conf import settings
from django.utils.module_loading import import_string

from analysis.plugins.registry import plugin_rows


def installed_plugins() -> list[dict[str, str]]:
    """Load the plugins of all kinds and return them as rows; ``problem`` is empty for those in use."""
    return plugin_rows([import_string(path) for path in settings.PLUGIN_REGISTRIES])
