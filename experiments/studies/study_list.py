"""The list of a user's studies: search, filters, and folders.

A folder is a name that a study has. It exists as long as a study has it, and members of the study see it.
"""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from django_filters import rest_framework as filters

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment
from experiments.teams.roles import may_edit

LONGEST_FOLDER = 80
MOST_WORDS = 10  # of a search; each is a scan of the user's studies
NONE = "-"  # in a filter: without a lab, without a folder
ARCHIVED, ALL = "archived", "all"
SEARCHED = (
    "title",
    "slug",
    "public_slug",
    "description",
    "folder",
    "lab__name",
    "owner__username",
    "owner__first_name",
    "owner__last_name",
)


class StudyFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Filters of the list of studies; archived studies are in it where the state asks for them."""

    search = filters.CharFilter(
        method="with_words",
        label="Search",
        help_text="Words in title, short name, description, folder, lab or owner; each must occur.",
    )
    status = filters.ChoiceFilter(
        method="in_state",
        label="State",
        choices=[*Experiment.Status.choices, (ARCHIVED, "archived"), (ALL, "all, archived ones too")],
        empty_label="all but archived",
        help_text="A state, `archived`, or `all`; archived studies are left out otherwise.",
    )
    lab = filters.CharFilter(
        method="of_lab", label="Lab", help_text="Short name of a lab; `-`: without a lab."
    )
    folder = filters.CharFilter(
        method="in_folder", label="Folder", help_text="Name of a folder; `-`: without a folder."
    )
    task = filters.CharFilter(help_text="Name of a task.")

    class Meta:
        model = Experiment
        fields: list[str] = []

    def filter_queryset(self, rows: QuerySet[Experiment]) -> QuerySet[Experiment]:
        """Apply the filters; without a state, leave the archive out."""
        filtered: QuerySet[Experiment] = super().filter_queryset(rows)
        has_state = self.form.cleaned_data.get("status")
        return filtered if has_state else filtered.filter(archived_at__isnull=True)

    def with_words(self, rows: QuerySet[Experiment], name: str, text: str) -> QuerySet[Experiment]:
        """Studies in which each word occurs."""
        for word in text.split()[:MOST_WORDS]:
            anywhere = Q()
            for field in SEARCHED:
                anywhere |= Q(**{f"{field}__icontains": word})
            rows = rows.filter(anywhere)
        return rows

    def in_state(self, rows: QuerySet[Experiment], name: str, state: str) -> QuerySet[Experiment]:
        """Studies of one state that are not archived, the archived ones, or all."""
        if state == ALL:
            return rows
        is_archived = state == ARCHIVED
        rows = rows.filter(archived_at__isnull=not is_archived)
        return rows if is_archived else rows.filter(status=state)

    def of_lab(self, rows: QuerySet[Experiment], name: str, slug: str) -> QuerySet[Experiment]:
        """Studies of a lab."""
        return rows.filter(lab__isnull=True) if slug == NONE else rows.filter(lab__slug=slug)

    def in_folder(self, rows: QuerySet[Experiment], name: str, folder: str) -> QuerySet[Experiment]:
        """Studies in a folder."""
        return rows.filter(folder="" if folder == NONE else folder)


def list_folders(studies: QuerySet[Experiment]) -> list[str]:
    """Names of the folders of these studies, in alphabetical order."""
    names = studies.exclude(folder="").order_by().values_list("folder", flat=True).distinct()
    return sorted(names, key=str.casefold)


def folder_name(text: str) -> str:
    """The name as it is stored; raises ``BadInput``."""
    name = " ".join(text.split())
    if len(name) > LONGEST_FOLDER:
        raise BadInput(
            f"the name of the folder has {len(name)} characters.",
            column="folder",
            remedy=f"Take at most {LONGEST_FOLDER}.",
        )
    if name == NONE:
        raise BadInput(f"{NONE} stands for no folder.", column="folder", remedy="Take another name.")
    return name


@transaction.atomic
def move_to_folder(study: Experiment, folder: str, *, by: User) -> bool:
    """Put the study into a folder, or into none (""), in any state; False where it is there already."""
    if not may_edit(by, study):
        raise PermissionDenied("Viewers of a study cannot change it.")
    name = folder_name(folder)
    locked = Experiment.objects.select_for_update().get(pk=study.pk)
    if locked.folder == name:
        return False
    details = {"from": locked.folder, "to": name}
    locked.folder = name
    locked.save(update_fields=["folder"])
    AuditEntry.objects.create(experiment=locked, user=by, action="folder changed", details=details)
    study.folder = name
    return True
