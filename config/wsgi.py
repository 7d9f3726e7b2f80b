"""Server entry."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

from judgments.sessions.begun import beginnings  # noqa: E402  (models are there now)

beginnings.waits = True
