"""Configuration of the site: settings, URLs, Celery and the web server."""
