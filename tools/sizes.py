"""Print the disk space of the base install by package: ``python -m tools.sizes``."""

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "lock" / "base.txt"
LIMIT_MB = 1150  # of the base install; see docs/benchmarks.md
N_LARGEST = 20


def locked_names(lock: Path = LOCK) -> list[str]:
    """Return the names of the packages in a lock file."""
    return re.findall(r"^([A-Za-z0-9][\w.-]*)==", lock.read_text(encoding="utf-8"), re.MULTILINE)


def size(package: Distribution) -> int:
    """Return the bytes of a package's files, with the bytecode that was written for them."""
    files = [Path(str(package.locate_file(file))) for file in package.files or ()]
    bytecode = {
        compiled
        for file in files
        if file.suffix == ".py"
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.cpython-*.pyc")
    }
    return sum(file.stat().st_size for file in {*files, *bytecode} if file.is_file())


def package_sizes() -> dict[str, int]:
    """Return bytes by package of the base install, the largest first; other packages are left out."""
    sizes = {}
    for name in locked_names():
        try:
            sizes[name] = size(distribution(name))
        except PackageNotFoundError:  # of another platform or version of Python
            continue
    return dict(sorted(sizes.items(), key=lambda entry: -entry[1]))


def main() -> int:
    """Print the table; 1 where the base install is larger than its limit."""
    sizes = package_sizes()
    total_mb = sum(sizes.values()) / 1e6
    for name, n_bytes in list(sizes.items())[:N_LARGEST]:
        print(f"{n_bytes / 1e6:8.1f} MB  {name}")
    rest = list(sizes.values())[N_LARGEST:]
    print(f"{sum(rest) / 1e6:8.1f} MB  {len(rest)} others")
    print(f"{total_mb:8.1f} MB  {len(sizes)} packages; the limit is {LIMIT_MB} MB")
    return int(total_mb > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
