"""``manage.py demo``: create materials, studies, simulated participants, releases and comparisons."""

import time
from dataclasses import asdict
from typing import Any

from config.commands import ContractCommand
from releases.demo import login_line, make_demo


class Command(ContractCommand):
    """Create the demo once."""

    help = "Create the demo: four open studies, simulated participants, gold releases and model comparisons."
    example = "manage.py demo"

    def run(self, **options: Any) -> None:
        """Create what is missing; print how to log in if the demo is new."""
        began = time.perf_counter()
        quiet = options["json"] or options["verbosity"] == 0
        demo = make_demo((lambda line: None) if quiet else self.stdout.write)
        if options["json"]:
            self.print_json(asdict(demo))
        elif not quiet and demo.is_new:
            self.stdout.write(
                f"{len(demo.studies)} studies with {demo.judgments:,} judgments, {demo.releases} "
                f"releases and {demo.comparisons} comparisons in {time.perf_counter() - began:.0f} s."
            )
            self.stdout.write(login_line())
