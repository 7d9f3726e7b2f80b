"""Headers and static files of the site."""
