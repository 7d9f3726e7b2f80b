"""``manage.py purge_platform_ids``: delete platform ids whose day has come."""

from typing import Any

from analysis.text import plural
from config.commands import ContractCommand
from judgments.privacy.purge import purge_due


class Command(ContractCommand):
    """Delete platform ids whose day has come, as the scheduler does each hour."""

    help = "Delete the platform ids of closed studies whose day has come and whose pay is settled."
    example = "manage.py purge_platform_ids"

    def run(self, **options: Any) -> None:
        """Delete, and report the number."""
        n_deleted = purge_due()
        if options["json"]:
            self.print_json({"deleted": n_deleted})
        else:
            self.stdout.write(f"Deleted {plural(n_deleted, 'platform id')}.")
