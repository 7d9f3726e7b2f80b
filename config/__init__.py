"""Settings, URLs, middleware, Celery and the processes of the site."""

import os
import sys

# Programs beside manage.py may call django.setup() at once.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

if "rich" not in sys.modules:
    # structlog imports rich where it is installed (0.13 s), for tracebacks that no log of ours uses.
    sys.modules["rich"] = None  # type: ignore[assignment]
    import structlog  # noqa: F401

    del sys.modules["rich"]
