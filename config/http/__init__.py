"""Headers, static files and health addresses of the site."""
