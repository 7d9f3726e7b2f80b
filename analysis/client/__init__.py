"""A client of the platform's REST API: a whole study from a notebook."""

from .connection import ApiError
from .platform import Client

__all__ = ["ApiError", "Client"]
