"""The platform as its token sees it: materials and studies."""

import warnings
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from .connection import Connection, Table, file_part
from .study import Study

if TYPE_CHECKING:
    import pandas as pd


class Client:
    """The REST API of one installation, with a token of the page *API tokens*.

    Parameters
    ----------
    url : str
        Address of the installation, such as ``https://judgments.example.org``.
    token : str
        A token; ``read`` to look, ``people`` for single judgments, ``write`` to change.
    timeout : float
        Seconds without any byte of an answer before a request fails.
    patience : float
        Seconds to wait for long work (imports, reports, releases, scores).
    progress : bool
        Whether to show a bar while waiting.

    Examples
    --------
    >>> client = Client("https://judgments.example.org", "a-token")
    >>> client
    Client('https://judgments.example.org')
    """

    def __init__(
        self, url: str, token: str, *, timeout: float = 60, patience: float = 3600, progress: bool = True
    ) -> None:
        self.url = url.rstrip("/")
        self.connection = Connection(url, token, timeout=timeout, patience=patience, progress=progress)
        self.materials = MaterialSets(self.connection)

    def __repr__(self) -> str:
        """The address; the token is not shown."""
        return f"Client({self.url!r})"

    def token_scopes(self) -> frozenset[str]:
        """The scopes of the token: ``read``, ``write``, ``people``, ``money``."""
        return frozenset(self.connection.document("GET", "token/")["scopes"])

    def studies(self, **filters: Any) -> "pd.DataFrame":
        """Your studies, one a row; ``search``, ``status``, ``task``, ``lab`` and ``folder`` select."""
        import pandas as pd

        return pd.DataFrame(list(self.connection.rows("studies/", **filters)))

    def study(self, slug: str) -> Study:
        """The study of this address (the ``slug`` of its row)."""
        return Study(self.connection, self.connection.document("GET", f"studies/{slug}/"))

    def create_study(self, title: str, *, task: str, materials: "Materials | str", **settings: Any) -> Study:
        """Make a draft; ``settings`` are those of ``docs/reference/api.md``, such as ``consent``."""
        slug = materials if isinstance(materials, str) else materials.slug
        body = {"title": title, "task": task, "materials": slug, **settings}
        return Study(self.connection, self.connection.document("POST", "studies/", json=body))


class MaterialSets:
    """Your sets of materials."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def __call__(self, **filters: Any) -> "pd.DataFrame":
        """Your sets, one a row; ``search`` and ``language`` select."""
        import pandas as pd

        return pd.DataFrame(list(self.connection.rows("materials/", **filters)))

    def get(self, slug: str) -> "Materials":
        """The set of this address."""
        return Materials(self.connection, self.connection.document("GET", f"materials/{slug}/"))

    def upload(
        self,
        table: "Table | list[Table]",
        *,
        name: str,
        language: str,
        mapping: dict[str, str] | None = None,
        **choices: Any,
    ) -> "Materials":
        """Import a table of sentences or pairs.

        Parameters
        ----------
        table : DataFrame or path of a file, or a list of them
            One row a sentence or pair; the columns are those of ``docs/reference/material-formats.md``, or
            what ``mapping`` says.
        name, language : str
            Name of the set; language of its sentences (BCP 47).
        mapping : dict, optional
            Our column: the table's column.
        **choices
            ``source``, ``licence``, ``lab``, ``levels``, ``format``, ``leave_out`` … of the API.

        Raises
        ------
        BadInput
            The table cannot be imported as it is read: which column or row, and the remedy. Nothing of it
            is kept.

        Warns
        -----
        UserWarning
            For each finding about the table that does not keep it from being imported.
        """
        tables = table if isinstance(table, list) else [table]
        files = [("files", file_part(one)) for one in tables]
        about = {"name": name, "language": language}
        about |= {key: choices.pop(key) for key in ("source", "licence", "lab") if key in choices}
        upload = self.connection.document("POST", "material-uploads/", files=files, data=about)
        path = f"material-uploads/{upload['id']}/"
        try:
            if mapping or choices:
                upload = self.connection.document(
                    "PATCH", path, json={**choices, **({"mapping": mapping} if mapping else {})}
                )
            upload = self.connection.follow(upload, path, label="Reading")
            if upload["error"]:
                raise BadInput(upload["error"])
            for finding in upload["preview"]["report"]["findings"]:
                if finding["severity"] == "warning":
                    warnings.warn(
                        f"{finding['file']}, row {finding['row']}: {finding['message']}", stacklevel=2
                    )
            job = self.connection.document("POST", f"{path}import/")
        except BadInput:
            self.connection.send("DELETE", path)
            raise
        return self.get(self.connection.finish_job(job)["slug"])


class Materials:
    """A set of materials."""

    def __init__(self, connection: Connection, document: dict[str, Any]) -> None:
        self.connection, self.about = connection, document
        self.slug: str = document["slug"]

    def __repr__(self) -> str:
        """Name and address."""
        return f"Materials({self.slug!r})"

    def sentences(self, **filters: Any) -> "pd.DataFrame":
        """Its sentences, one a row."""
        import pandas as pd

        return pd.DataFrame(list(self.connection.rows(f"materials/{self.slug}/sentences/", **filters)))

    def pairs(self, **filters: Any) -> "pd.DataFrame":
        """Its minimal pairs, one a row."""
        import pandas as pd

        return pd.DataFrame(list(self.connection.rows(f"materials/{self.slug}/pairs/", **filters)))

    def delete(self) -> None:
        """Delete the set; refused while a study uses it."""
        self.connection.send("DELETE", f"materials/{self.slug}/")
