"""Build the library as source distribution and wheel, the same bytes from the same commit.

``python -m tools.distribution dist`` writes both. Their times are ``SOURCE_DATE_EPOCH``, by default that of
the commit. The wheel is built from the source distribution: no file of an earlier build can enter it.
"""

import gzip
import os
import shutil
import subprocess  # noqa: S404 - setuptools and git
import sys
import tarfile
import tempfile
from pathlib import Path

from tools.environments import ROOT

FILES = ("setup.py", "pyproject.toml", "README.md", "LICENSE")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_{}(sys.argv[1])"


def commit_time() -> str:
    """Return ``SOURCE_DATE_EPOCH``, or the time of the commit in seconds since 1970."""
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return epoch
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - git


def build(target: Path) -> list[Path]:
    """Write source distribution and wheel into a folder; return their paths."""
    target.mkdir(parents=True, exist_ok=True)
    epoch = commit_time()
    with tempfile.TemporaryDirectory(prefix="obelus-dist-") as name:
        folder = Path(name)
        source = folder / "source"
        shutil.copytree(ROOT / "analysis", source / "analysis", ignore=shutil.ignore_patterns("__pycache__"))
        for file in FILES:
            shutil.copy(ROOT / file, source)
        for path in source.rglob("*"):  # the modes of a checkout depend on its umask
            path.chmod(0o755 if path.is_dir() else 0o644)
        archive = _run("sdist", source, folder / "built", epoch=epoch)
        sdist = target / archive.name
        _normalize(archive, sdist, epoch=int(epoch))
        shutil.unpack_archive(sdist, folder)
        wheel = _run("wheel", folder / sdist.name.removesuffix(".tar.gz"), folder / "built", epoch=epoch)
        return [sdist, Path(shutil.copy(wheel, target))]


def _run(kind: str, source: Path, built: Path, *, epoch: str) -> Path:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "PYTHONHASHSEED": "0"}
    before = {*built.glob("*")}
    built.mkdir(exist_ok=True)
    command = [sys.executable, "-c", BUILD.format(kind), str(built)]
    ran = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, umask=0o022)  # noqa: S603 - our Python
    if ran.returncode:
        raise SystemExit(ran.stderr)
    (path,) = {*built.glob("*")} - before
    return path


def _normalize(archive: Path, target: Path, *, epoch: int) -> None:
    """Write a tar.gz again with its members in order, and without owner and times of this machine."""
    with (
        tarfile.open(archive) as source,
        target.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as output,
    ):
        for member in sorted(source.getmembers(), key=lambda member: member.name):
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime, member.pax_headers = epoch, {}
            output.addfile(member, source.extractfile(member) if member.isfile() else None)


def main() -> None:
    """Build into the folder of the command line."""
    for path in build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist")):
        print(path)


if __name__ == "__main__":
    main()
