"""Administration of what is planned. Versions, lists and the audit trail are read, never edited."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from experiments import models
from experiments.studies.history import record_changes, study_values


class SearchedByShownFields(admin.ModelAdmin):  # type: ignore[type-arg]  # not subscriptable at run time
    """Lists filtered by what they offer as filters only.

    Django filters by any column of a row from the address (``?external_id__startswith=5``), which finds
    ids and tokens that no page shows.
    """

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Whether the address may filter by this."""
        names = {str(name) for name in self.list_filter}
        return lookup.partition("__")[0] in names and super().lookup_allowed(lookup, value, request)


class ReadOnly(SearchedByShownFields):
    """Rows to look at; they are made and changed by the steps of the platform only."""

    show_full_result_count = False

    def get_list_select_related(self, request: HttpRequest) -> Any:
        """Foreign keys among the columns, unless the list names its own."""
        keys = [field.name for field in self.model._meta.fields if field.is_relation]
        return self.list_select_related or [name for name in keys if name in self.list_display]

    def has_add_permission(self, request: HttpRequest, *args: object) -> bool:
        """Nothing is added by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nothing is edited by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nothing is deleted by hand."""
        return False


def register_read_only(options: Mapping[type[Model], Mapping[str, Sequence[str]]]) -> None:
    """Register read-only lists of these models with their columns, filters and searched fields."""
    for model, attributes in options.items():
        admin.site.register(model, ReadOnly, **attributes)


class MemberInline(admin.TabularInline):  # type: ignore[type-arg]  # not subscriptable at run time
    """The team of a study; it changes on its own page, which notes who changed it and keeps an owner."""

    model = models.Membership
    extra = 0
    can_delete = False
    readonly_fields = ["user", "role"]

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Members are added on the team's own page."""
        return False


@admin.register(models.Experiment)
class ExperimentAdmin(SearchedByShownFields):
    """Studies; what participants see is changed on the study's own pages."""

    list_display = ["title", "slug", "task", "status", "origin", "owner", "created_at"]
    list_filter = ["status", "origin", "task"]
    search_fields = ["title", "slug", "owner__username"]
    raw_id_fields = ["owner", "materials"]
    readonly_fields = [
        "slug",
        "status",
        "origin",
        "task",
        "lab",
        "created_at",
        "updated_at",
        "opened_at",
        "closed_at",
        "archived_at",
    ]
    inlines = [MemberInline]

    def save_model(self, request: HttpRequest, obj: models.Experiment, form: Any, change: bool) -> None:
        """Store the change with old and new values in the study's history."""
        earlier = models.Experiment.objects.get(pk=obj.pk)
        super().save_model(request, obj, form, change)
        before, after = ({**study_values(row), "owner": str(row.owner or "")} for row in (earlier, obj))
        record_changes(obj, request.user, "changed in the administration", before=before, after=after)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Studies begin on the start page, with an owner and a design."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """A study takes its judgments with it; people are forgotten by erasure, which leaves a trace."""
        return False


class LabMemberInline(admin.TabularInline):  # type: ignore[type-arg]  # not subscriptable at run time
    """The members of a lab; they change on its own page, which notes who changed them."""

    model = models.LabMembership
    extra = 0
    can_delete = False
    readonly_fields = ["user", "role"]

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Members are added on the lab's own page."""
        return False


@admin.register(models.Lab)
class LabAdmin(SearchedByShownFields):
    """Labs; only their quotas of uploads are changed here."""

    list_display = ["name", "slug", "upload_quota_bytes", "created_at"]
    search_fields = ["name", "slug"]
    readonly_fields = ["name", "slug", "created_at"]
    inlines = [LabMemberInline]

    def save_model(self, request: HttpRequest, obj: models.Lab, form: Any, change: bool) -> None:
        """Store the quota with the old and the new one in the lab's history."""
        earlier = models.Lab.objects.get(pk=obj.pk).upload_quota_bytes
        super().save_model(request, obj, form, change)
        if earlier != obj.upload_quota_bytes:
            values = {"upload quota in bytes": {"old": earlier, "new": obj.upload_quota_bytes}}
            models.AuditEntry.objects.create(
                lab=obj, user_id=request.user.pk, action="quota changed", details={"values": values}
            )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Labs begin on their own page, with a manager."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Their own page deletes what has no studies."""
        return False


@admin.register(models.MaterialSet)
class MaterialSetAdmin(SearchedByShownFields):
    """Material sets: names and owners; sentences are never edited, because judgments refer to them."""

    list_display = ["name", "language", "file_format", "licence", "owner", "created_at"]
    list_filter = ["language", "file_format"]
    search_fields = ["name", "slug", "source", "checksum"]
    raw_id_fields = ["owner"]
    readonly_fields = ["slug", "checksum", "report", "file_format", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Materials come in by upload, with their checks."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Their own page deletes what no study uses."""
        return False


register_read_only(
    {
        models.ExperimentVersion: {
            "list_display": ["experiment", "number", "sha256", "created_at"],
            "search_fields": ["experiment__title", "experiment__slug", "sha256"],
        },
        models.PresentationList: {
            "list_display": ["label", "experiment", "version", "n_trials"],
            "search_fields": ["experiment__title", "experiment__slug", "label"],
            "list_select_related": ["experiment", "version__experiment"],
        },
        models.Design: {
            "list_display": ["experiment", "kind", "n_lists", "items_per_paradigm", "seed"],
            "list_filter": ["kind"],
            "search_fields": ["experiment__title", "experiment__slug"],
        },
        models.Sentence: {
            "list_display": ["key", "text", "condition", "expected", "material_set"],
            "list_filter": ["expected"],
            "search_fields": ["key", "text", "material_set__name"],
        },
        models.MinimalPair: {
            "list_display": ["key", "good", "bad", "paradigm", "discard", "material_set"],
            "list_filter": ["discard"],
            "search_fields": ["key", "good__text", "bad__text", "paradigm__name", "material_set__name"],
        },
        models.Paradigm: {
            "list_display": ["name", "phenomenon", "material_set"],
            "search_fields": ["name", "phenomenon__name", "material_set__name"],
        },
        models.Campaign: {
            "list_display": [
                "name",
                "experiment",
                "recruiter",
                "state",
                "places",
                "reward_minor",
                "currency",
            ],
            "list_filter": ["recruiter", "state"],
            "search_fields": ["name", "experiment__title"],
        },
        models.Job: {
            "list_display": [
                "kind",
                "state",
                "attempt",
                "progress",
                "total",
                "experiment",
                "created_by",
                "created_at",
            ],
            "list_filter": ["state", "kind"],
            "search_fields": ["kind", "key", "error", "experiment__title"],
        },
        models.AuditEntry: {
            "list_display": ["at", "experiment", "lab", "account", "user", "action"],
            "list_filter": ["action"],
            "search_fields": [
                "experiment__title",
                "experiment__slug",
                "lab__slug",
                "account__username",
                "user__username",
                "action",
            ],
        },
        models.Upload: {
            "list_display": ["name", "purpose", "owner", "sha256", "created_at"],
            "list_filter": ["purpose"],
            "search_fields": ["name", "sha256", "owner__username"],
        },
    }
)
