"""``manage.py restore``: restore a backup into an empty installation, or try it in a temporary one."""

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from analysis.errors import BadInput
from config.commands import ContractCommand
from experiments.operation.backup import backup_key, missing_files_text
from experiments.operation.backup_storage import local_copy
from experiments.operation.restore import restore_backup

HELP = "a file that manage.py backup wrote, the name of one in BACKUP_STORAGE, or newest for its last one"


class Command(ContractCommand):
    """Restore an installation."""

    help = "Restore a backup into an empty installation, on SQLite or PostgreSQL, and compare every checksum."
    example = "manage.py restore obelus-20260901T030000Z-1f2e3d4c.backup --key /etc/obelus/backup.key"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("file", metavar="FILE", help=HELP)
        parser.add_argument("--key", metavar="FILE", default="", help="the key that encrypted it")
        parser.add_argument(
            "--drill", action="store_true", help="restore into a temporary SQLite database, and delete it"
        )

    def run(self, **options: Any) -> None:
        """Restore, and name what differs from the installation of the backup."""
        with local_copy(options["file"]) as path:
            if options["drill"]:
                document = _drill(path, options["key"])
            else:
                key, progress = backup_key(options["key"]), self._progress(options)
                report = restore_backup(path, key=key, progress=progress)
                document = {**asdict(report), "rows": report.backup.n_rows}
        if options["json"]:
            self.print_json(document)
            return
        where = "a temporary database (deleted again)" if options["drill"] else document["database"]
        self.stdout.write(f"{document['rows']} rows and {document['backup']['files']} files in {where};")
        self.stdout.write("every table has the checksum of the backup.")
        if missing := missing_files_text(document["backup"]["missing_files"]):
            self.stdout.write(missing)
        for name in () if options["drill"] else document["other_keys"]:
            self.stdout.write(
                f"{name} is another one than in the backup: tokens of platforms, links and second factors"
                f" that it protects cannot be read. Set {name} to the former value."
            )

    def _progress(self, options: dict[str, Any]) -> Any:
        return lambda step: self.stderr.write(f"{step} ...") if self.wants_progress(options) else None


def _drill(path: Path, key: str) -> dict[str, Any]:
    """Restore in a process of its own, whose database, files and secrets are temporary."""
    with tempfile.TemporaryDirectory() as folder:
        surroundings = {
            **{name: value for name, value in os.environ.items() if not name.endswith("_STORAGE")},
            "DATABASE_URL": f"sqlite:///{folder}/drill.sqlite3",
            "VAR_DIR": folder,
            "MEDIA_ROOT": f"{folder}/media",
        }
        command = [sys.executable, "manage.py", "restore", str(path.resolve()), "--json"]
        command += ["--key", str(Path(key).resolve())] if key else []
        root = Path(__file__).resolve().parents[3]
        process = subprocess.run(command, cwd=root, env=surroundings, capture_output=True, text=True)  # noqa: S603 - our own command
    if process.returncode:
        raise BadInput(process.stderr.strip().removeprefix("CommandError: "))
    document: dict[str, Any] = json.loads(process.stdout)
    return document
