"""Server entry."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
usual_way = get_wsgi_application()

from config.shortest_way import ShortestWay  # noqa: E402  (models are there now)
from judgments.sessions.begun import beginnings  # noqa: E402

beginnings.waits = True
application = ShortestWay(usual_way)
