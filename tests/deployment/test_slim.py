"""docker/slim.sh leaves enough of the packages: the platform runs on a copy without what it removes."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest

from tests.deployment.compose import DOCKER, ROOT
from tools.sizes import locked_names

LARGEST = 0.8  # of what it was
USE = """
import io
import django
django.setup()
from django.core.management import call_command
import altair, boto3, numpy, pandas, pyarrow, pyarrow.parquet, scipy.stats, typst
from babel import Locale
from babel.numbers import get_currency_precision
import vl_convert
from cryptography.fernet import Fernet

frame = pandas.DataFrame({"a": [1.5, 2.5], "b": ["x", "ö"]})
file = io.BytesIO()
frame.to_parquet(file)
file.seek(0)
assert pandas.read_parquet(file).equals(frame)
assert pyarrow.table(frame).num_rows == 2
assert Locale("en").territories["DE"] == "Germany" and get_currency_precision("JPY") == 0
for service in ("s3", "mturk", "sts"):
    boto3.client(service, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
assert typst.compile(b"Hello").startswith(b"%PDF")
chart = altair.Chart(frame).mark_point().encode(x="a:Q", y="b:N")
specification = chart.to_json()
assert "<svg" in vl_convert.vegalite_to_svg(specification)
assert vl_convert.vegalite_to_png(specification) and vl_convert.vegalite_to_pdf(specification)
from analysis.effects.contrasts import paired_contrast
from analysis.multiple_tests import holm
from analysis.reliability.icc import intraclass_correlation
tested = paired_contrast(numpy.array([5.0, 6, 7, 7]), numpy.array([3.0, 5, 4, 6]))
assert abs(tested.statistic - 3.6556) < 1e-4 and holm([0.01, 0.04]) == [0.02, 0.04]
ratings = [(u, r, u + (u * r) % 2) for u in range(4) for r in range(3)]
ratings = pandas.DataFrame(ratings, columns=["sentence_id", "participant", "value"])
assert intraclass_correlation(ratings).method == "anova"
assert Fernet(Fernet.generate_key()).encrypt(b"x")
assert scipy.stats.norm.cdf(0) == 0.5 and scipy.stats.beta.ppf(0.5, 2, 2) == 0.5
call_command("migrate", verbosity=0)
call_command("check")
print("used")
"""


@pytest.fixture
def slim(tmp_path: Path) -> Path:
    """A copy of the locked packages, from which docker/slim.sh has removed what it names."""
    packages = tmp_path / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    sources: dict[Path, Path] = {}
    for name in locked_names():
        try:
            files = distribution(name).files or ()
        except PackageNotFoundError:  # of another version of Python
            continue
        for file in files:
            source = Path(str(file.locate()))
            if ".." in file.parts or file.suffix == ".pyc" or not source.is_file():
                continue
            (packages / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, packages / file)
            if file.suffix == ".py":
                sources[packages / file] = source
    before = weight(packages)
    subprocess.run([str(DOCKER / "slim.sh"), str(tmp_path)], check=True)
    assert weight(packages) < LARGEST * before
    for copied, source in sources.items():  # the bytecode that this environment has spares compiling it again
        bytecode = Path(cache_from_source(str(source)))
        if copied.exists() and bytecode.exists():
            (copied.parent / "__pycache__").mkdir(exist_ok=True)
            shutil.copy2(bytecode, copied.parent / "__pycache__")
    return packages


def weight(folder: Path) -> int:
    """Bytes of all files; a link weighs nothing."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def environment_of(folder: Path, packages: Path) -> dict[str, str]:
    """What the platform needs to know; its packages come from that folder alone."""
    left_out = {"DATABASE_URL", "CELERY_BROKER_URL", "PYTHONDONTWRITEBYTECODE", "STATIC_ROOT"}
    return {name: value for name, value in os.environ.items() if name not in left_out} | {
        "PYTHONPATH": str(packages),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "VAR_DIR": str(folder / "var"),
        "SECRET_KEY": "of-this-test-only-0123456789abcdef",
        "HOME": str(folder),
    }


def run(words: list[str], **how: Any) -> str:
    """Run a program to its good end, and return what it prints."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def has_roots() -> bool:
    """Whether another root file system can be gathered and entered here."""
    programs = all(map(shutil.which, ("busybox", "dpkg-query", "ldconfig", "unshare")))
    return (
        programs
        and os.geteuid() == 0
        and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0
    )


linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the image is of Linux")


@linux_only
@pytest.mark.skipif(has_roots(), reason="the next test does the same in the image's root")
def test_the_platform_runs_on_what_is_left_of_its_packages(slim: Path, tmp_path: Path) -> None:
    environment = environment_of(tmp_path, slim)
    for words in (["-m", "docker.import_all"], ["-c", USE]):
        # Without the site module nothing but the copy is on the path.
        printed = run([sys.executable, "-S", *words], cwd=ROOT, env=environment)
    assert "used" in printed


@linux_only
@pytest.mark.skipif(not has_roots(), reason="needs Debian, busybox and the rights of root")
def test_the_platform_runs_in_the_root_file_system_of_the_image(slim: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    run([str(DOCKER / "rootfs.sh"), str(root), sys.base_prefix, str(tmp_path / "lib")])
    shutil.copytree(slim, root / "packages", copy_function=os.link)
    for name in ("manage.py", "pyproject.toml", "analysis", "config", "docker", "experiments", "judgments"):
        copy(ROOT / name, root / "app" / name)
    copy(ROOT / "releases", root / "app" / "releases")
    copy(ROOT / "static", root / "app" / "static")
    environment = environment_of(Path("/tmp"), Path("/packages")) | {"PATH": "/usr/local/bin:/usr/bin"}
    enter(root, environment, user=0, words=["python", "-m", "docker.import_all"])
    enter(
        root, environment, user=0, words=["python", "docker/drop_sources.py", "/packages", "/usr/local/lib"]
    )
    assert not (root / "packages" / "django" / "__init__.py").exists()
    # The platform's umask hides what root wrote, as in the image.
    run(["chmod", "-R", "a+rX", *(str(root / name) for name in ("app", "packages", "usr/local"))])
    printed = enter(root, environment, user=10001, words=["python", "-c", USE])
    assert "used" in printed
    status = (root / "var" / "lib" / "dpkg" / "status").read_text()
    assert "Package: libc6\n" in status and "Package: libssl3\n" in status
    assert not [name for name in ("apt-get", "perl", "gcc", "pip") if (root / "usr" / "bin" / name).exists()]


def copy(source: Path, to: Path) -> None:
    """A file or folder of the checkout, with its bytecode, which spares compiling it again."""
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, to)
    else:
        shutil.copy2(source, to)


def enter(root: Path, environment: dict[str, str], *, user: int, words: list[str]) -> str:
    """Run a program in another root: as a container does, read only unless it is the builder's (user 0)."""
    how = "rw" if user == 0 else "ro"
    script = f"""
        mount --bind {root} {root}
        mount --rbind /dev {root}/dev
        mount -t proc proc {root}/proc
        mount -t tmpfs -o mode=1777 tmpfs {root}/tmp
        mount -o remount,bind,{how} {root}
        cd {root}
        exec "$@"
    """
    command = ["unshare", "--mount", "sh", "-ec", script, "-", shutil.which("chroot") or "chroot"]
    inside = ["sh", "-c", 'cd /app && exec "$@"', "-", *words]
    return run([*command, f"--userspec={user}:{user}", str(root), *inside], env=environment)
