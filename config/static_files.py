"""Static files under names that carry their content's hash, module imports of the trial engine included."""

from typing import Any

from django.conf import settings
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """An engine's module and the modules it imports always come from one release of the code.

    Addresses are worked out once in a process: a page has a dozen, and their files do not change under it.
    """

    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = (
        "js/engine/*.js",  # ours only: other packages' scripts are left as they are
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.addresses: dict[str, str] = {}

    def url(self, name: str, force: bool = False) -> str:
        """Address of a file, by its name."""
        if settings.DEBUG or force:
            return super().url(name, force)
        if name not in self.addresses:
            self.addresses[name] = super().url(name)
        return self.addresses[name]
