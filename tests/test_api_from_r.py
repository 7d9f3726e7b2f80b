"""The page for R runs: a whole study with httr2 against a live server."""

import os
import re
import shutil
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from celery import current_app

from experiments.models import Experiment
from tests import cast
from tests.test_api_study import ROWS, run_queued_jobs

RSCRIPT = shutil.which("Rscript")
PAGE = Path(__file__).parent.parent / "docs/how-to/automate-r.md"
LIMIT_S = 60


def has_httr2() -> bool:
    """Whether R is here with the package of the page."""
    if RSCRIPT is None:
        return False
    program = 'quit(status = !all(c("httr2", "curl") %in% rownames(installed.packages())))'
    return subprocess.run([RSCRIPT, "-e", program], capture_output=True).returncode == 0


@pytest.mark.django_db(transaction=True)
def test_the_page_for_r_runs_against_a_live_server(live_server, tmp_path):
    if not has_httr2():
        pytest.skip("R with httr2 is not installed (R_LIBS may name its folder)")
    current_app.loader.import_default_modules()
    functions, materials, opening, end = re.findall(r"```r\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "sentences.csv").write_text("\n".join(ROWS))
    token = cast.token(cast.ada(), scopes=("read", "write", "people"))
    environment = {**os.environ, "OBELUS": live_server.url, "TOKEN": token}

    def run(*blocks: str) -> str:
        """Run blocks in R, with a worker beside it."""
        (tmp_path / "page.R").write_text("\n".join(blocks).replace("seconds = 2", "seconds = 0.1"))
        with (tmp_path / "output").open("w+") as output:
            process = subprocess.Popen(
                [RSCRIPT, "page.R"], cwd=tmp_path, env=environment, stdout=output, stderr=subprocess.STDOUT
            )
            begin = time.monotonic()
            while process.poll() is None and time.monotonic() - begin < LIMIT_S:
                run_queued_jobs()
                time.sleep(0.05)
            process.kill()
            output.seek(0)
            text = output.read()
        assert process.returncode == 0, text
        return text

    printed = run(functions, materials, opening)
    study = Experiment.objects.get()
    assert (study.status, study.materials.sentences.count(), study.design.n_lists) == ("open", 8, 2)
    assert f"/take/{study.public_slug}/" in printed
    for name in ("pia", "quentin"):
        cast.sit(study, name)
    printed = run(functions, f'path <- "studies/{study.slug}/"', end)
    assert zipfile.is_zipfile(tmp_path / "release.zip")
    assert "acceptable" in printed and "unacceptable" in printed
    study.refresh_from_db()
    assert study.status == "closed"
