"""Lint docker/Dockerfile; validate compose.yml and the Kubernetes manifests against their schemas.

Run ``python -m tools.deployment_files``. The schemas are part of the packages.
"""

import subprocess
import sys

from tools.environments import ROOT, find_programs


def main() -> int:
    """Run the three linters; exit status 1 where one of them finds a fault."""
    programs = find_programs("deployment")
    manifests = sorted(str(path) for path in (ROOT / "docker" / "kubernetes").glob("*.yaml"))
    commands = [
        ["hadolint", "docker/Dockerfile"],
        ["check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker/compose.yml"],
        ["kubernetes-validate", "--strict", *manifests],
    ]
    statuses = [
        subprocess.run([programs / program, *words], cwd=ROOT).returncode for program, *words in commands
    ]
    if not any(statuses):
        print("No rule is broken.")
    return int(any(statuses))


if __name__ == "__main__":
    sys.exit(main())
