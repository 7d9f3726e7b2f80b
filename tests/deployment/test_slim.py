"""docker/slim.sh leaves enough of the packages: the platform runs on a copy without what it removes."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from config.maintenance.sizes import locked_names
from tests.deployment.compose import DOCKER, ROOT

LARGEST = 0.8  # of what it was
USE = """
import io
import django
django.setup()
from django.core.management import call_command
import altair, boto3, pandas, pyarrow, pyarrow.parquet, scipy.stats, typst
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
    before = weight(packages)
    subprocess.run([str(DOCKER / "slim.sh"), str(tmp_path)], check=True)
    assert weight(packages) < LARGEST * before
    return packages


def weight(folder: Path) -> int:
    """Bytes of all files; a link weighs nothing."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the image is of Linux")
def test_the_platform_runs_on_what_is_left_of_its_packages(slim: Path, tmp_path: Path) -> None:
    environment = {
        name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}
    }
    environment |= {
        "PYTHONPATH": str(slim),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "VAR_DIR": str(tmp_path / "var"),
        "SECRET_KEY": "of-this-test-only-0123456789abcdef",
        "HOME": str(tmp_path),
    }
    for words in (["-m", "docker.import_all"], ["-c", USE]):
        # Without the site module nothing but the copy is on the path.
        done = subprocess.run(
            [sys.executable, "-S", *words],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
    assert "used" in done.stdout
