"""The people of a study as one table: state, signals, both decisions and the code, for whoever pays them."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from experiments.pages.access import get_study
from judgments.models import Participant, Payment
from judgments.pages.participants_views import FilterForm, Sitting, people_of, with_sittings

COLUMNS = [
    "participant",
    "session",
    "list",
    "state",
    "is_test",
    "started_at",
    "completed_at",
    "minutes",
    "answered",
    "planned",
    "catch",
    "catch_right",
    "instructions",
    "instructions_right",
    "signals",
    "excluded_by_hand",
    "pay",
    "pay_entries",
    "completion_code",
]
AT_ONCE = 500


@login_required
def download(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """A row per session, narrowed as the page is; for editors, as codes are in it; without platform ids."""
    study = get_study(request.user, slug, editing=True)
    form = FilterForm(request.GET)
    people = people_of(study, form.cleaned_data if form.is_valid() else {}, sees_ids=True)
    answer = StreamingHttpResponse(_lines(people), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{study.slug}-participants.csv"'
    return answer


def _lines(people: QuerySet[Participant]) -> Iterator[str]:
    yield _csv(COLUMNS)
    keys = list(people.values_list("pk", flat=True))
    for start in range(0, len(keys), AT_ONCE):
        chunk = Participant.objects.filter(pk__in=keys[start : start + AT_ONCE]).order_by("-pk")
        for one in with_sittings(list(chunk)):
            flags = "; ".join(flag.reason for flag in one["flags"] if flag.lifted_at is None)
            for sitting in one["sittings"]:
                yield _csv(_row(sitting, pseudonym=one["person"].pseudonym, flags=flags))


def _row(sitting: Sitting, *, pseudonym: str, flags: str) -> list[Any]:
    session = sitting.session
    standing = [one for one in sitting.entries if not one.is_undone and one.kind != Payment.Kind.REVERSAL]
    return [
        pseudonym,
        session.pk,
        session.list.label if session.list else "",
        session.status,
        session.is_test,
        session.started_at.isoformat(timespec="seconds") if session.started_at else "",
        session.completed_at.isoformat(timespec="seconds") if session.completed_at else "",
        "" if sitting.minutes is None else f"{sitting.minutes:.2f}",
        sitting.n_answered,
        sitting.n_planned,
        sitting.n_catch,
        sitting.n_catch_right,
        sitting.n_instructions,
        sitting.n_instructions_right,
        "; ".join(f"{one['label']}: {one['reason']}" for one in sitting.signals),
        flags,
        sitting.pay,
        "; ".join(one.words for one in standing),
        session.completion_code,
    ]


def _csv(cells: Any) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
