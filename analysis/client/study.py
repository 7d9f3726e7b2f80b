"""One study and its releases, as the REST API shows them."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from ..errors import BadInput
from ..files import atomic_write
from ..notebooks import Document
from .connection import Connection, file_part

if TYPE_CHECKING:
    import pandas as pd


class Study:
    """A study.

    Reports take the choices of their addresses in ``docs/reference/api.md`` as keywords; ``exclude=""``, the
    default, is the study's current exclusion plan.
    """

    def __init__(self, connection: Connection, document: dict[str, Any]) -> None:
        self.connection, self.about = connection, document
        self.slug: str = document["slug"]
        self._path = f"studies/{self.slug}/"

    def __repr__(self) -> str:
        """Address and status, as of the last call."""
        return f"Study({self.slug!r}, {self.about['status']})"

    @property
    def link(self) -> str:
        """The participants' link."""
        return str(self.connection.http.base_url.join(f"/take/{self.about['public_slug']}/"))

    def refresh(self) -> "Study":
        """Read the study anew."""
        self.about = self._get("")
        return self

    def update(self, **settings: Any) -> "Study":
        """Change a draft; the settings are those of ``docs/reference/api.md``."""
        self.about = self._send("PATCH", "", settings)
        return self

    def design(self, *, lists: int | None = None, **choices: Any) -> Document:
        """Return rounds, lists and the proof of their balance, after changing what is given.

        ``lists`` is their number; ``kind``, ``seed``, ``order`` … are those of the API.
        """
        choices |= {} if lists is None else {"n_lists": lists}
        document = self._send("PATCH", "design/", choices) if choices else self._get("design/")
        return Document(document, title="design")

    def checklist(self) -> "pd.DataFrame":
        """What is missing before the study opens, one check a row."""
        import pandas as pd

        return pd.DataFrame(self._get("checklist/")["checks"])

    def waive(self, check: str, reason: str) -> None:
        """Waive an advisory check, named by its ``key``."""
        self.connection.send("PUT", f"{self._path}checklist/{check}/waiver/", json={"reason": reason})

    def preview(self) -> str:
        """Begin a test session, which is never counted; return the address of its first page."""
        address: str = self._send("POST", "preview/")["address"]
        return address

    def dry_run(self) -> dict[str, Any]:
        """Send simulated participants through the study; return what the job found."""
        return self.connection.finish_job(self._send("POST", "dry-run/"))

    def pilot(self) -> "Study":
        """Start a pilot, whose sessions are never counted."""
        return self._step("pilot")

    def open(self, *, reason: str = "") -> "Study":
        """Admit participants; ``reason`` waives the checks that need no reason of their own."""
        self.about = self._send("POST", "open/", {"reason": reason})
        return self

    def pause(self) -> "Study":
        """Admit no new participants."""
        return self._step("pause")

    def close(self) -> "Study":
        """Close the study for good."""
        return self._step("close")

    def judgments(self, **choices: Any) -> "pd.DataFrame":
        """Judgments, one a row, with the columns of ``docs/reference/api.md``; ids are text.

        Excluded judgments are left out, unless ``excluded="mark"``.
        """
        choices = {"excluded": "drop", **choices}
        response = self.connection.send("GET", f"{self._path}judgments.csv", params=choices)
        return _judgments(response.content)

    def agreement(self, **choices: Any) -> Document:
        """Majority and individual agreement; ``rule="blimp"`` applies an inclusion rule."""
        return self._report("agreement", choices)

    def ratings(self, **choices: Any) -> Document:
        """Mean ratings of items and conditions."""
        return self._report("ratings", choices)

    def reliability(self, **choices: Any) -> Document:
        """Reliability of participants and items."""
        return self._report("reliability", choices)

    def effects(self, **choices: Any) -> Document:
        """Effects of conditions, by participants, items and mixed models."""
        return self._report("effects", choices)

    def times(self, **choices: Any) -> Document:
        """Response times."""
        return self._report("times", choices)

    def power(self, **choices: Any) -> Document:
        """Power, with the study as a pilot."""
        return self._report("power", choices)

    def progress(self, **choices: Any) -> Document:
        """Agreement so far; asking is a look, and kept."""
        return self._report("progress", choices)

    def exclusions(self, **choices: Any) -> Document:
        """What each step of an exclusion plan excludes."""
        return self._report("exclusions", choices)

    def freeze(self, **options: Any) -> "Release":
        """Freeze a release and wait for it; ``title``, ``rule``, ``exclude`` … are those of the API."""
        release = self._send("POST", "releases/", options)
        path = f"{self._path}releases/{release['number']}/"
        return Release(self, self.connection.follow(release, path, label=f"Release {release['number']}"))

    def releases(self) -> "pd.DataFrame":
        """Releases, newest first, one a row."""
        import pandas as pd

        return pd.DataFrame(list(self.connection.rows(f"{self._path}releases/")))

    def release(self, number: int) -> "Release":
        """The release of this number."""
        return Release(self, self._get(f"releases/{number}/"))

    def models(self) -> "pd.DataFrame":
        """Scoring runs over the study's sentences, newest first, one a row."""
        import pandas as pd

        return pd.DataFrame(list(self.connection.rows(f"{self._path}scoring-runs/")))

    def _get(self, path: str) -> Any:
        return self.connection.document("GET", f"{self._path}{path}")

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        options = {} if body is None else {"json": body}
        return self.connection.document(method, f"{self._path}{path}", **options)

    def _step(self, name: Literal["pilot", "pause", "close"]) -> "Study":
        self.about = self._send("POST", f"{name}/")
        return self

    def _report(self, name: str, choices: dict[str, Any]) -> Document:
        return self.connection.report(f"{self._path}{name}/", title=name, **choices)


def _judgments(content: bytes) -> "pd.DataFrame":
    """A file of judgments as a frame."""
    from ..judgment_tables import read_judgment_file

    with TemporaryDirectory() as folder:
        path = Path(folder, "judgments.csv")
        path.write_bytes(content)
        return read_judgment_file(path)


class Release:
    """A frozen release of a study."""

    def __init__(self, study: Study, document: dict[str, Any]) -> None:
        self.study, self.about = study, document
        self.number: int = document["number"]
        self._path = f"studies/{study.slug}/releases/{self.number}/"

    def __repr__(self) -> str:
        """Study, number and state."""
        return f"Release({self.study.slug!r}, {self.number}, {self.about['state']})"

    def download(self, path: str | Path) -> Path:
        """Write the release as ZIP, only whole; return the path."""
        path = Path(path)
        content = self.study.connection.send("GET", f"{self._path}download/").content
        with atomic_write(path) as part:
            part.write_bytes(content)
        return path

    def judgments(self) -> "pd.DataFrame":
        """The release's judgments that are not excluded, as ``obelus.read_judgment_file`` gives them."""
        return _judgments(self.study.connection.send("GET", f"{self._path}files/judgments.csv").content)

    def score(
        self, *models: str, methods: Sequence[str] = ("lp",), device: Literal["cpu", "gpu"] | None = None
    ) -> list[Document]:
        """Score the release's sentences with models of the installation or the hub; return the runs.

        ``models`` are names such as ``hf-causal:gpt2`` or ``arpa:./trigram.arpa``.
        """
        body: dict[str, Any] = {"models": list(models), "methods": list(methods), "release": self.number}
        body |= {} if device is None else {"device": device}
        runs = self._study_call("POST", "model-runs/", json=body)
        return [self._finished_run(run) for run in runs]

    def add_scores(self, scores: "pd.DataFrame | str | Path", *, column: str, **about: Any) -> Document:
        """Add scores computed elsewhere: a table with ``sentence_id`` and one column for the model.

        ``name``, ``sign``, ``method`` … are those of the API.
        """
        files = {"file": file_part(scores)}
        run = self._study_call("POST", "scoring-runs/", files=files, data={"column": column, **about})
        return self._finished_run(run)

    def compare(self, runs: Sequence[Document | int] = (), **options: Any) -> Document:
        """Compare models with the participants of the release; return the report.

        Parameters
        ----------
        runs : sequence of runs or their ids
            By default all finished runs of the study; runs that failed are named in a warning.
        **options
            ``title``, ``deltas``, ``signs``, ``seed`` … of the API.
        """
        ids = [run if isinstance(run, int) else run["id"] for run in runs] or self._finished_runs()
        body = {"release": self.number, "runs": ids, **options}
        comparison = self._study_call("POST", "comparisons/", json=body)
        path = f"studies/{self.study.slug}/comparisons/{comparison['id']}/"
        comparison = self.study.connection.follow(comparison, path, label="Comparison")
        return Document(comparison["report"], title="comparison")

    def leaderboard(self, **choices: Any) -> Document:
        """All compared models in one order."""
        return self.study.connection.report(f"{self._path}leaderboard/", title="leaderboard", **choices)

    def _study_call(self, method: str, path: str, **options: Any) -> Any:
        return self.study.connection.document(method, f"studies/{self.study.slug}/{path}", **options)

    def _finished_run(self, run: dict[str, Any]) -> Document:
        path = f"studies/{self.study.slug}/scoring-runs/{run['id']}/"
        return Document(self.study.connection.follow(run, path, label=run["name"]), title=run["name"])

    def _finished_runs(self) -> list[int]:
        """Ids of the study's finished runs."""
        rows = list(self.study.connection.rows(f"studies/{self.study.slug}/scoring-runs/"))
        finished = [row["id"] for row in rows if row["state"] == "done"]
        if left_out := [row["name"] for row in rows if row["state"] != "done"]:
            warnings.warn(
                f"Not compared, because they are not finished: {', '.join(left_out)}.", stacklevel=3
            )
        if not finished:
            raise BadInput("no model has scores yet.", remedy="Use score() or add_scores() first.")
        return finished
