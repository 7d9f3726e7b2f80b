"""Settings, URLs, middleware, Celery and the processes of the site."""

import sys

if "rich" not in sys.modules:
    # structlog imports rich where it is installed (0.13 s), for tracebacks that no log of ours uses.
    sys.modules["rich"] = None  # type: ignore[assignment]
    import structlog  # noqa: F401

    del sys.modules["rich"]
