"""List the packages of lock files with their hashes as CycloneDX, in ``var/obelus.cdx.json``.

``python -m tools.sbom base models torch-cpu`` names the lock files of one installation. cyclonedx-py
validates the document against CycloneDX's schema; here it is compared with the lock files.
"""

import json
import subprocess  # noqa: S404 - cyclonedx-py alone
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.environments import ROOT, find_programs
from tools.locks import LOCKS, Pin, read_lock


def pins_of(locks: list[Path]) -> list[Pin]:
    """Return the pins of one installation, each once.

    Raises
    ------
    ValueError
        If two files pin different versions of a package, so that they cannot be installed together.
    """
    pins: dict[tuple[str, str], Pin] = {}
    for path in locks:
        for pin in read_lock(path):
            first = pins.setdefault((pin.name, pin.marker), pin)
            if first.version != pin.version:
                raise ValueError(f"{path.name} has {pin.name} {pin.version}, another lock {first.version}")
    return sorted(pins.values(), key=lambda pin: (pin.name, pin.version))


def missing(document: dict[str, Any], pins: list[Pin]) -> list[str]:
    """Return the pins that a CycloneDX document does not list with all their hashes."""
    listed: dict[tuple[str, str], set[str]] = {}
    for component in document.get("components", []):
        hashes = listed.setdefault((component["name"], component.get("version", "")), set())
        for reference in component.get("externalReferences", []):
            hashes.update(hash_["content"] for hash_ in reference.get("hashes", []))
    return [
        f"{pin.name} {pin.version}"
        for pin in pins
        if not pin.hashes or not set(pin.hashes) <= listed.get((pin.name, pin.version), set())
    ]


def write_sbom(program: str, output: Path, locks: list[Path]) -> list[Pin]:
    """Write the document of lock files, and return what it lists.

    Raises
    ------
    ValueError
        If lock files contradict each other, or the document lacks a pin or a hash.
    subprocess.CalledProcessError
        If cyclonedx-py fails; it validates what it writes.
    """
    pins = pins_of(locks)
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "requirements.txt"
        requirements.write_text("".join(f"{pin.text}\n" for pin in pins), encoding="utf-8")
        words = [program, "requirements", str(requirements), "--pyproject", str(ROOT / "pyproject.toml")]
        words += ["--output-reproducible", "--validate", "-o", str(output)]
        subprocess.run(words, check=True)  # noqa: S603 - cyclonedx-py with paths of ours
    if lacking := missing(json.loads(output.read_text(encoding="utf-8")), pins):
        raise ValueError(f"{output} lacks {', '.join(lacking)}")
    return pins


def main() -> int:
    """Write the document of the lock files that the arguments name, or of ``base``."""
    output, names = ROOT / "var" / "obelus.cdx.json", sys.argv[1:] or ["base"]
    program = str(find_programs("sbom") / "cyclonedx-py")
    output.parent.mkdir(exist_ok=True)
    try:
        pins = write_sbom(program, output, [LOCKS / f"{name}.txt" for name in names])
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        print(f"No parts list: {error}", file=sys.stderr)
        return 1
    print(f"Wrote {output}: {len(pins)} pins of {', '.join(names)}, all with hashes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
