"""Prolific: the client of its API, the adapter, verified arrivals and webhooks."""
