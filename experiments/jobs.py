"""Kinds of jobs of the planning side, imported when a worker starts its first job."""

from experiments.generation.stored import pair_sets
from experiments.intake import previews
from experiments.operation import backup
from experiments.pages.materials import reading
from experiments.webhooks import delivery

JOB_MODULES = (backup, previews, pair_sets, reading, delivery)
