"""``manage.py demo``: materials, studies, simulated participants, releases and comparisons to look at."""

import time
from dataclasses import asdict
from typing import Any

from analysis.releases.demo import login_line, make_demo
from config.commands import ContractCommand


class Command(ContractCommand):
    """Make the demo, once."""

    help = "Make the demo: four open studies, simulated participants, gold releases and model comparisons."
    example = "manage.py demo"

    def run(self, **options: Any) -> None:
        """Make what is missing; say how to log in when it was made now."""
        began = time.perf_counter()
        quiet = options["json"] or options["verbosity"] == 0
        made = make_demo((lambda line: None) if quiet else self.stdout.write)
        if options["json"]:
            self.print_json(asdict(made))
        elif not quiet and made.is_new:
            self.stdout.write(
                f"{len(made.studies)} studies with {made.judgments:,} judgments, {made.releases} "
                f"releases and {made.comparisons} comparisons in {time.perf_counter() - began:.0f} s."
            )
            self.stdout.write(login_line())
