"""``manage.py backup``: back up database and files while sessions run."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.conf import settings

from config.commands import ContractCommand
from experiments.operation.backup import (
    back_up_to,
    backup_key,
    missing_files_text,
    record_backup,
    verify_backup,
)
from experiments.operation.backup_storage import local_copy, stored_backups


class Command(ContractCommand):
    """Back up an installation."""

    help = "Write database and files, as one snapshot, to one verified file, while the platform runs."
    example = "manage.py backup --to /mnt/backups --key /etc/obelus/backup.key"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("--to", metavar="FOLDER", default="", help="folder; default: BACKUP_STORAGE")
        parser.add_argument("--key", metavar="FILE", default="", help="encrypt by the key in this file")
        instead = parser.add_mutually_exclusive_group()
        instead.add_argument(
            "--verify", metavar="FILE", help="verify this file, or backup of BACKUP_STORAGE, and write none"
        )
        instead.add_argument(
            "--list", action="store_true", dest="lists", help="list the backups of BACKUP_STORAGE"
        )

    def run(self, **options: Any) -> None:
        """Write, verify or list backups."""
        if options["lists"]:
            self._list(as_json=options["json"])
            return
        key = backup_key(options["key"])
        with self.working(options, "Backing up ..."):
            if options["verify"]:
                with local_copy(options["verify"]) as path:
                    report = verify_backup(path, key=key)
            else:
                report = back_up_to(options["to"], key=key, keep=settings.BACKUP_KEEP)
                record_backup(report)
        if report.later_migrations:
            names = ", ".join(report.later_migrations)
            self.stderr.write(
                f"The database has migrations of a later version ({names}): what their columns and tables "
                "hold is not in this backup. Back up with that version to have it."
            )
        if options["json"]:
            self.print_json({**asdict(report), "rows": report.n_rows})
            return
        sealed = "encrypted" if report.is_encrypted else "not encrypted"
        content = f"{report.n_rows} rows, {report.files} files, {report.size} bytes"
        self.stdout.write(f"{report.file}: {content}, {sealed}, verified")
        if missing := missing_files_text(report.missing_files):
            self.stdout.write(missing)

    def _list(self, *, as_json: bool) -> None:
        backups = stored_backups()
        if as_json:
            self.print_json({"storage": settings.BACKUP_STORAGE, "backups": [asdict(row) for row in backups]})
            return
        for row in backups:
            self.stdout.write(f"{row.name}  {row.created_at}  {row.size} bytes")
        if not backups:
            self.stdout.write(f"{settings.BACKUP_STORAGE} has no backup.")
