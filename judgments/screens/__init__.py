"""Participants' pages: consent, the steps of a session, fallbacks and error responses."""
