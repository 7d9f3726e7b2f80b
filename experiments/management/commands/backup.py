"""``manage.py backup``: back up database and files while people take part."""

from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings

from config.commands import ContractCommand
from experiments.operation.backup import back_up_to, backup_key, record_backup, verify_backup


class Command(ContractCommand):
    """Back up an installation."""

    help = "Write database and files, as at one moment, to one verified file; nobody has to stop."
    example = "manage.py backup --to /mnt/backups --key /etc/obelus/backup.key"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("--to", metavar="FOLDER", default="", help="folder; default: BACKUP_STORAGE")
        parser.add_argument("--key", metavar="FILE", default="", help="encrypt by the key in this file")
        parser.add_argument("--verify", metavar="FILE", help="verify this backup and write none")

    def run(self, **options: Any) -> None:
        """Write or verify a backup."""
        key = backup_key(options["key"])
        with self.working(options, "Backing up ..."):
            if options["verify"]:
                report = verify_backup(Path(options["verify"]), key=key)
            else:
                report = back_up_to(options["to"], key=key, keep=settings.BACKUP_KEEP)
                record_backup(report)
        if options["json"]:
            self.print_json({**asdict(report), "rows": report.n_rows})
            return
        sealed = "encrypted" if report.is_encrypted else "not encrypted"
        content = f"{report.n_rows} rows, {report.files} files, {report.size} bytes"
        self.stdout.write(f"{report.file}: {content}, {sealed}, verified")
