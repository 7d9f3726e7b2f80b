"""Headers, static files and ids of requests."""
