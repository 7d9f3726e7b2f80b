"""Look for what requests reach (SQL, HTML, files, addresses) by the rules in ``tools/semgrep.yml``.

Run ``python -m tools.semgrep``. Nothing is sent or asked for.
"""

import os
import subprocess
import sys

from tools.environments import ROOT, find_programs

FOLDERS = ["analysis", "config", "experiments", "judgments", "releases", "static", "manage.py", "setup.py"]


def main() -> int:
    """Scan the source; exit status 1 where a rule is broken."""
    programs = find_programs("semgrep")
    # semgrep starts programs of its own by name
    path = f"{programs}:{os.environ['PATH']}"
    options = ["--config", "tools/semgrep.yml", "--metrics", "off", "--error", "--quiet"]
    status = subprocess.run(
        [programs / "semgrep", "scan", *options, *FOLDERS],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "SEMGREP_ENABLE_VERSION_CHECK": "0"},
    ).returncode
    if status == 0:
        print("No rule is broken.")
    return status


if __name__ == "__main__":
    sys.exit(main())
