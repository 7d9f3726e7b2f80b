"""``manage.py heartbeat``: whether a worker or the scheduler of this host works."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from config.commands import ContractCommand
from experiments.models import Heartbeat
from experiments.operation.heartbeats import SILENT_S, process_name


class Command(ContractCommand):
    """Look up the last heartbeat of a process of this host."""

    help = "Exit with 0 if a worker or the scheduler of this host has worked lately, else with 1."
    example = "manage.py heartbeat worker"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("process", choices=["worker", "scheduler"])

    def run(self, **options: Any) -> None:
        """Compare the last heartbeat with the clock."""
        name = process_name(options["process"])
        beat = Heartbeat.objects.filter(process=name).first()
        age_s = (timezone.now() - beat.at).total_seconds() if beat else None
        works = age_s is not None and age_s <= SILENT_S
        if options["json"]:
            self.print_json({"process": name, "age_s": age_s, "works": works})
        elif works:
            self.stdout.write(f"{name} worked {age_s:.0f} s ago.")
        if not works:
            last = "has never worked" if age_s is None else f"worked {age_s:.0f} s ago, too long"
            raise CommandError(f"{name} {last}.", returncode=1)
