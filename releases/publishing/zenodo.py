"""Zenodo: one deposition for each release, by its REST API of depositions and buckets.

References
----------
https://developers.zenodo.org
"""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import quote, urlsplit

from releases.publishing.repository import (
    KEYWORDS,
    Advance,
    Deposit,
    Description,
    LocalFile,
    Order,
    Refused,
    Repository,
    RestClient,
)

PAGE_SIZE, MAX_PAGES = 100, 3  # depositions that are searched for a marker, the newest first
MAX_FILES = 100  # of one record


class Zenodo(Repository):
    """Depositions: a draft until it is published, which gives it a DOI for good."""

    label = "Zenodo"
    is_flat = True  # the file names of a record have no folders

    def __init__(self, token: str, url: str) -> None:
        super().__init__(token, url)
        self.rest = RestClient(self.label, token, [urlsplit(url).netloc])
        self.depositions = f"{self.url}/api/deposit/depositions"

    def user_name(self) -> str:
        """Zenodo does not say whose token it is; the smallest read that needs the right to deposit."""
        self.rest.send("GET", self.depositions, params={"size": 1})
        return ""

    def find_or_create(self, order: Order) -> Deposit:
        """The stored deposition, else the one with the marker, else a new draft."""
        deposition = self._deposition(order.deposit_id) if order.deposit_id else None
        deposition = deposition or self._with_marker(order.marker)
        if deposition is None:
            body = {"metadata": metadata(order.description, marker=order.marker)}
            deposition = self.rest.send("POST", self.depositions, json=body).json()
        return _deposit(deposition)

    def _deposition(self, number: object) -> dict[str, Any] | None:
        response = self.rest.get(f"{self.depositions}/{number}")
        return response.json() if response else None

    def _with_marker(self, marker: str) -> dict[str, Any] | None:
        """The deposition of an earlier attempt whose answer was lost.

        Limit: the list comes from a search index that lags by about a second; a job starts again after 15 s.
        """
        for page in range(1, MAX_PAGES + 1):
            query = {"size": PAGE_SIZE, "page": page, "sort": "mostrecent"}
            rows = self.rest.send("GET", self.depositions, params=query).json()
            for row in rows:
                if marker in str(row.get("metadata", {}).get("notes", "")):
                    return self._deposition(row["id"])  # rows of the list have no link to the bucket
            if len(rows) < PAGE_SIZE:
                break
        return None

    def contents(self, deposit: Deposit) -> dict[str, str]:
        """Names and MD5."""
        rows = self.rest.send("GET", f"{self.depositions}/{deposit.id}/files").json()
        return {row["filename"]: f"md5:{row['checksum'].removeprefix('md5:')}" for row in rows}

    def upload(
        self, deposit: Deposit, files: Sequence[LocalFile], stale: Sequence[str], *, advance: Advance
    ) -> None:
        """PUT each file into the bucket, where it replaces one of the same name."""
        if deposit.is_public:
            raise Refused(
                "the record on Zenodo is published, so its files cannot change, and they differ from this"
                " release.",
                remedy="Compare the record with the release's checksums.",
            )
        if len(files) > MAX_FILES:
            raise Refused(f"a record of Zenodo has at most {MAX_FILES} files; this release has {len(files)}.")
        for file in files:
            advance(file.name)
            self.rest.put_file(f"{deposit.files_url}/{quote(file.name)}", file)

    def open(self, deposit: Deposit) -> Deposit:
        """Publish the record, which cannot be taken back."""
        if not deposit.is_public:
            self.rest.send("POST", f"{self.depositions}/{deposit.id}/actions/publish")
        return self.current(deposit)

    def current(self, deposit: Deposit) -> Deposit:
        """The deposition as it is now: perhaps somebody published it on Zenodo's own site."""
        deposition = self._deposition(deposit.id)
        return _deposit(deposition) if deposition else replace(deposit)


def _deposit(deposition: dict[str, Any]) -> Deposit:
    links, described = deposition.get("links", {}), deposition.get("metadata", {})
    is_public = bool(deposition.get("submitted"))
    reserved = described.get("prereserve_doi") or {}
    return Deposit(
        id=str(deposition["id"]),
        address=str(links.get("record_html" if is_public else "html") or links.get("html", "")),
        doi=str(deposition.get("doi") or described.get("doi") or reserved.get("doi", "")),
        is_public=is_public,
        files_url=str(links.get("bucket", "")),
    )


def metadata(description: Description, *, marker: str) -> dict[str, Any]:
    """The metadata of a deposition; without a licence that Zenodo knows, the files are closed.

    Notes
    -----
    Zenodo gives open deposits without a licence CC BY, which nobody chose.
    """
    licence = description.licence.spdx.lower() if description.licence else ""
    access = {"access_right": "open", "license": licence} if licence else {"access_right": "closed"}
    earlier = (
        [{"identifier": description.replaces_doi, "relation": "isNewVersionOf", "resource_type": "dataset"}]
        if description.replaces_doi
        else []
    )
    return {
        "title": description.title,
        "upload_type": "dataset",
        "description": f"<p>{escape(description.summary)}</p>",  # Zenodo reads HTML
        "creators": [{"name": name} for name in description.creators],
        "keywords": list(KEYWORDS),
        "version": str(description.number),
        "notes": marker,
        **access,
        **({"related_identifiers": earlier} if earlier else {}),
    }
