"""Webhooks: events of a study, signed and delivered to addresses of researchers' own programs."""
