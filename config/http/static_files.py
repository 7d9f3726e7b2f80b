"""Static files under names that carry their content's hash, module imports of the trial engine included.

A checkout without collected files serves its source files under their plain names.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # no stubs
    """An engine's module and the modules it imports always come from one release of the code.

    URLs are computed once in a process: a page has a dozen, and collected files do not change while it runs.
    """

    is_compressed = True  # `make run` does without: eight seconds of a core before the first page
    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = (
        "js/engine/*.js",  # ours only: other packages' scripts are left as they are
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.urls: dict[str, str] = {}

    def url(self, name: str, force: bool = False) -> str:
        """Return the URL of a file."""
        if settings.DEBUG or force or not self.hashed_files:
            url: str = super().url(name, force)
            return url
        if name not in self.urls:
            self.urls[name] = super().url(name)
        return self.urls[name]

    def stored_name(self, name: str) -> str:
        """Return the hashed name; the plain one before ``collectstatic`` has written a manifest."""
        return super().stored_name(name) if self.hashed_files else name

    def compress_files(self, paths: list[str]) -> Iterator[tuple[str, str]]:
        """Compress the files; without compression, delete the compressed copies of earlier content."""
        if self.is_compressed:
            yield from super().compress_files(paths)
            return
        for path in paths:
            for suffix in (".gz", ".br"):
                Path(self.path(path) + suffix).unlink(missing_ok=True)

    def post_process(self, *args: Any, **options: Any) -> Iterator[tuple[str, str, Any]]:
        """Hash and compress the collected files, and write them to the disk."""
        yield from super().post_process(*args, **options)
        # After a power cut, files written half a minute before may be empty, and no page works with an empty
        # manifest.
        os.sync()


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # WhiteNoise has no stubs
    """Serves the collected files, or the source files before ``collectstatic``."""

    def add_files(self, root: str | Path, prefix: str | None = None) -> None:
        """Add a folder of files; WhiteNoise reads ``use_finders`` after this call."""
        if (Path(root) / HashedStaticFiles.manifest_name).is_file():
            super().add_files(root, prefix)
        else:
            self.use_finders = True
