"""Serializer fields shared by the API of results."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

EXCLUDE = (
    "A plan's name, name@version, a comma list of steps, or none. Empty: the study's current exclusion plan."
)
ANYTHING = {"type": "object", "additionalProperties": True}

# A stored file in its own format; JSON is an exact type because a document may describe it.
FILE = {(200, "application/json"): OpenApiTypes.ANY, (200, "*/*"): OpenApiTypes.BINARY}


@extend_schema_field(ANYTHING)
class AnyObject(serializers.JSONField):
    """An object as stored."""
