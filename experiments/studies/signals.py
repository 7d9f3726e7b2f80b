"""Signals of studies, apart from what sends them, so that receivers can be registered at start."""

from django.dispatch import Signal

#: Sent in the transaction in which a study closes, with ``study``.
study_closed = Signal()
