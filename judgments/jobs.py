"""Kinds of jobs of data collection, imported when a worker starts its first job."""

from judgments import deletion
from judgments.imports import jobs
from judgments.simulation import dry_run

JOB_MODULES = (dry_run, deletion, jobs)
