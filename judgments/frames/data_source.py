"""Sessions that the results of a study are computed from: data collection, pilot or dry run."""

from collections.abc import Iterable

from django.db.models import Q
from django.http import Http404, HttpRequest

from experiments.models import Experiment, ExperimentVersion
from judgments.models import Session

Data = Experiment.Data


def shown_data(request: HttpRequest) -> str:
    """The data that a page was asked for by ``?data=``; 404 for an unknown name."""
    data = request.GET.get("data", Data.COUNTED.value)
    if data not in Data.values:
        raise Http404("no such data")
    return data


def file_stem(study: Experiment) -> str:
    """How the names of a study's files begin: with its slug, and its data unless they count."""
    return f"{study.slug}-{study.data}".strip("-")


def data_condition(study: Experiment, prefix: str = "") -> Q:
    """Condition for the sessions of ``study.data``; ``prefix`` is the lookup that leads to the session."""

    def lookup(**values: object) -> Q:
        return Q(**{f"{prefix}{name}": value for name, value in values.items()})

    if study.data == Data.COUNTED:
        return lookup(is_test=False)
    condition = lookup(is_test=True, version__in=list(_test_versions(study)))
    if study.data == Data.DRY_RUN:
        condition &= lookup(participant__is_simulated=True)
    return condition


def _test_versions(study: Experiment) -> Iterable[int]:
    """Versions whose answers are to the present task and materials; of dry runs the newest of these."""
    is_dry_run = study.data == Data.DRY_RUN
    versions = ExperimentVersion.objects.filter(experiment=study, is_preview=is_dry_run)
    if is_dry_run:
        simulated = Session.objects.filter(experiment=study, participant__is_simulated=True)
        versions = versions.filter(pk__in=simulated.values("version"))
    checksum = study.materials.checksum if study.materials else None
    fields = ("pk", "snapshot__task", "snapshot__materials__checksum")
    alike = [
        pk
        for pk, task, judged in versions.order_by("-number").values_list(*fields)
        if task == study.task and judged in (None, checksum)
    ]
    return alike[:1] if is_dry_run else alike


def available_data(study: Experiment) -> dict[str, int]:
    """Number of sessions by data source; sources without sessions are left out, except data collection."""
    present_data = study.data
    counts = {}
    try:
        for data in Data.values:
            study.data = data
            sessions = Session.objects.filter(data_condition(study), experiment=study)
            counts[data] = sessions.exclude(status=Session.Status.WITHDRAWN).count()
    finally:
        study.data = present_data
    return {data: n for data, n in counts.items() if n or data == Data.COUNTED}
