"""The OpenAPI document: every operation states how it fails, so that the document is the whole truth."""

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

UNSAFE = {"POST", "PUT", "PATCH", "DELETE"}


class ErrorSerializer(serializers.Serializer):
    """What every error looks like; ``code`` is stable."""

    code = serializers.CharField(help_text="Stable; made for programs.")
    message = serializers.CharField(help_text="One sentence; made for people.")
    fields = serializers.DictField(required=False, help_text="With code `invalid`: messages by field.")


class Schema(AutoSchema):
    """Adds the usual failures to what a view documents itself."""

    def _get_response_bodies(self, direction: str = "response") -> dict:
        bodies = super()._get_response_bodies(direction)
        if direction == "response":
            for status in self._failures():
                bodies.setdefault(
                    status, self._get_response_for_code(ErrorSerializer, status, direction=direction)
                )
        return dict(sorted(bodies.items()))

    def _failures(self) -> list[str]:
        """Statuses this operation may answer beside its success."""
        failures = ["401", "404", "406"]
        if self.method in UNSAFE:
            failures += ["400", "403", "415", "422"]
        elif any(one["in"] == "query" for one in self._get_parameters()):
            failures += ["400", "422"]
        return failures
