"""The job that creates the demo: its progress is on the start page, for visitors too."""

from django.db.models import Count, QuerySet

from experiments.models import Job

KIND, KEY = "releases.demo", "demo"


def find() -> QuerySet[Job]:
    """Return the demo's job, if there is one, with the number of its user's studies."""
    return Job.objects.filter(kind=KIND, key=KEY).annotate(n_studies=Count("created_by__experiments"))


def find_unfinished() -> Job | None:
    """Return the demo's job unless it is done."""
    return find().exclude(state=Job.State.DONE).first()
