"""Requests that nobody wrote, to a running platform: no server error, no undocumented response."""
