"""``manage.py rotate_keys``: encrypt every stored secret with the current key."""

from argparse import ArgumentParser
from typing import Any

from config.commands import ContractCommand
from judgments.privacy.key_rotation import rotate


class Command(ContractCommand):
    """Encrypt the vault, platform tokens and second factors with the current key."""

    help = (
        "Encrypt what an earlier key encrypted with the current PLATFORM_KEY. Set the new key as "
        "PLATFORM_KEY and the one of before in PLATFORM_KEYS_EARLIER, restart, run this, then remove the "
        "earlier key. May run while studies are open, and may be repeated."
    )
    example = "manage.py rotate_keys --dry-run"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add a way to look first."""
        parser.add_argument("--dry-run", action="store_true", help="count, and change nothing")

    def run(self, **options: Any) -> None:
        """Rotate, and report the rows."""
        counts = rotate(dry_run=options["dry_run"])
        if options["json"]:
            self.print_json({"dry_run": options["dry_run"], **counts.as_dict(), "total": counts.total})
            return
        verb = "to encrypt with the current key" if options["dry_run"] else "encrypted with the current key"
        self.stdout.write(
            f"{verb.capitalize()}: {counts.accounts} platform accounts, {counts.identities} platform ids, "
            f"{counts.second_factors} second factors, {counts.webhooks} webhooks, "
            f"{counts.request_keys} answers of the API."
        )
