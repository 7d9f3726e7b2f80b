"""Read-only admin pages of collected data; platform ids are shown to superusers only."""

from django.contrib import admin
from django.http import HttpRequest

from experiments.admin import ReadOnly, register_read_only
from judgments import models


@admin.register(models.PlatformIdentity)
class VaultAdmin(ReadOnly):
    """Platform ids of participants, for superusers only."""

    list_display = ["participant", "experiment", "recruiter", "external_id", "purge_at"]
    list_filter = ["recruiter"]
    search_fields = ["participant__pseudonym", "experiment__slug"]

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whether platform ids are listed."""
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Whether platform ids can be viewed."""
        return request.user.is_superuser


register_read_only(
    {
        models.Participant: {
            "list_display": ["pseudonym", "experiment", "is_native", "is_simulated", "created_at"],
            "list_filter": ["is_native", "is_simulated"],
            "search_fields": ["pseudonym", "experiment__title", "experiment__slug"],
        },
        models.Session: {
            "list_display": [
                "id",
                "experiment",
                "participant",
                "list",
                "status",
                "is_test",
                "started_at",
                "completed_at",
            ],
            "list_filter": ["status", "is_test"],
            "search_fields": [
                "participant__pseudonym",
                "experiment__title",
                "experiment__slug",
                "completion_code",
            ],
            "exclude": ["token", "external_id"],
        },
        models.SessionEvent: {
            "list_display": ["at", "kind", "session"],
            "list_filter": ["kind"],
            "search_fields": ["session__participant__pseudonym", "session__experiment__slug"],
        },
        models.Trial: {
            "list_display": ["id", "session", "position", "kind", "item", "sentence", "pair", "shown_at"],
            "list_filter": ["kind"],
            "search_fields": ["session__participant__pseudonym", "session__experiment__slug", "item__key"],
        },
        models.Judgment: {
            "list_display": [
                "id",
                "trial",
                "status",
                "response",
                "value",
                "is_correct",
                "rt_ms",
                "input_type",
                "received_at",
            ],
            "list_filter": ["status", "input_type", "is_correct"],
            "search_fields": ["trial__session__participant__pseudonym", "trial__session__experiment__slug"],
        },
        models.Payment: {
            "list_display": ["at", "session", "kind", "amount_minor", "currency", "reason", "decided_by"],
            "list_filter": ["kind", "currency"],
            "search_fields": [
                "idempotency_key",
                "session__participant__pseudonym",
                "session__experiment__slug",
            ],
        },
        models.Consent: {
            "list_display": ["at", "participant", "given", "text_sha256"],
            "list_filter": ["given"],
            "search_fields": ["participant__pseudonym", "participant__experiment__slug", "text_sha256"],
        },
        models.Flag: {
            "list_display": ["raised_at", "participant", "session", "reason", "raised_by", "lifted_at"],
            "search_fields": ["participant__pseudonym", "participant__experiment__slug", "reason"],
        },
        models.Signal: {
            "list_display": ["at", "name", "version", "session", "value", "reason"],
            "list_filter": ["name"],
            "search_fields": ["session__participant__pseudonym", "session__experiment__slug", "reason"],
        },
        models.Tombstone: {
            "list_display": ["at", "experiment", "n_sessions", "n_judgments", "reason"],
            "search_fields": ["experiment__title", "experiment__slug"],
        },
    }
)
