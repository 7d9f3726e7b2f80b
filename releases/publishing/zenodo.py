"""Zenodo: one deposition for each release, by its REST API of depositions and buckets.

The release after a published one becomes a new version of its record: both share the concept DOI, which leads
to the newest version.

References
----------
https://developers.zenodo.org
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
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
        """The stored deposition, else the one with the marker, else a new version or a new record."""
        deposition = self._deposition(order.deposit_id) if order.deposit_id else None
        deposition = deposition or self._with_marker(order.marker) or self._new_version(order)
        if deposition is None:
            body = {"metadata": metadata(order.description, marker=order.marker)}
            deposition = self.rest.send("POST", self.depositions, json=body).json()
        return _deposit(deposition)

    def _new_version(self, order: Order) -> dict[str, Any] | None:
        """The draft of a new version of the newest earlier record that is published; None without one.

        Zenodo refuses a second draft of a record, so the draft of an attempt whose answer was lost is looked
        up first. A new draft is a copy with the notes of the version before, until it gets its own.
        """
        published = self._find_published(order.earlier_ids)
        if published is None:
            return None
        draft = self._find_draft(published)
        if draft is None:
            url = f"{self.depositions}/{published['id']}/actions/newversion"
            answer = self.rest.send("POST", url).json()  # the record itself, with a link to the draft
            number = str(answer.get("links", {}).get("latest_draft", "")).rstrip("/").rpartition("/")[2]
            draft = self._deposition(number) if number else None
        if draft is None or draft.get("submitted"):
            raise Refused(
                f"Zenodo made no new version of record {published['id']}.",
                remedy="Start one on Zenodo's site, then publish again: it is continued.",
            )
        if _notes(draft) not in {_notes(published), order.marker}:
            raise Refused(
                f"record {published['id']} on Zenodo has the draft of another new version already"
                f" ({draft.get('links', {}).get('html', draft['id'])}).",
                remedy="Publish or discard that draft, then publish again.",
            )
        body = {"metadata": metadata(order.description, marker=order.marker, is_new_version=True)}
        self.rest.send("PUT", f"{self.depositions}/{draft['id']}", json=body)
        return self._deposition(draft["id"])

    def _find_published(self, numbers: Sequence[str]) -> dict[str, Any] | None:
        """The first of these depositions that is published and belongs to this account."""
        for number in numbers:
            with suppress(Refused):  # of another account: the release gets a record of its own
                deposition = self._deposition(number)
                if deposition and deposition.get("submitted"):
                    return deposition
        return None

    def _find_draft(self, published: dict[str, Any]) -> dict[str, Any] | None:
        """The unpublished version of a record."""
        concept = published.get("conceptrecid")
        return self._search(lambda row: row.get("conceptrecid") == concept and not row.get("submitted"))

    def _deposition(self, number: object) -> dict[str, Any] | None:
        response = self.rest.get(f"{self.depositions}/{number}")
        return response.json() if response else None

    def _with_marker(self, marker: str) -> dict[str, Any] | None:
        """The deposition of an earlier attempt whose answer was lost."""
        return self._search(lambda row: marker in _notes(row))

    def _search(self, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
        """The newest of the account's depositions that is wanted.

        Limit: the list comes from a search index that lags by about a second; a job starts again after 15 s.
        """
        for page in range(1, MAX_PAGES + 1):
            query = {"size": PAGE_SIZE, "page": page, "sort": "mostrecent"}
            rows = self.rest.send("GET", self.depositions, params=query).json()
            for row in rows:
                if is_wanted(row):
                    return self._deposition(row["id"])  # rows of the list have no link to the bucket
            if len(rows) < PAGE_SIZE:
                break
        return None

    def contents(self, deposit: Deposit) -> dict[str, str]:
        """Names and MD5."""
        return {
            row["filename"]: f"md5:{row['checksum'].removeprefix('md5:')}" for row in self._files(deposit)
        }

    def _files(self, deposit: Deposit) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.rest.send("GET", f"{self.depositions}/{deposit.id}/files").json()
        return rows

    def upload(
        self, deposit: Deposit, files: Sequence[LocalFile], stale: Sequence[str], *, advance: Advance
    ) -> None:
        """PUT each file into the bucket, where it replaces one of the same name; delete stale ones."""
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
        ids = {row["filename"]: row["id"] for row in self._files(deposit)} if stale else {}
        for name in stale:
            # Missing is as good: another attempt deleted it.
            self.rest.send(
                "DELETE", f"{self.depositions}/{deposit.id}/files/{ids[name]}", is_missing_allowed=True
            )

    def open(self, deposit: Deposit) -> Deposit:
        """Publish the record, which cannot be taken back."""
        if not deposit.is_public:
            self.rest.send("POST", f"{self.depositions}/{deposit.id}/actions/publish")
        return self.current(deposit)

    def current(self, deposit: Deposit) -> Deposit:
        """The deposition as it is now; it may have been published on Zenodo's site."""
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
        concept_doi=str(deposition.get("conceptdoi") or ""),
    )


def _notes(deposition: dict[str, Any]) -> str:
    """The notes, where the marker is."""
    return str(deposition.get("metadata", {}).get("notes", ""))


def metadata(description: Description, *, marker: str, is_new_version: bool = False) -> dict[str, Any]:
    """The metadata of a deposition; without a licence that Zenodo knows, the files are closed.

    Notes
    -----
    Zenodo gives open deposits without a licence CC BY, which was not chosen.
    """
    licence = description.licence.spdx.lower() if description.licence else ""
    access = {"access_right": "open", "license": licence} if licence else {"access_right": "closed"}
    earlier = (
        [{"identifier": description.replaces_doi, "relation": "isNewVersionOf", "resource_type": "dataset"}]
        if description.replaces_doi and not is_new_version  # Zenodo names versions by itself
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
        # A new version begins with the date of the one before.
        **({"publication_date": f"{datetime.now(UTC):%Y-%m-%d}"} if is_new_version else {}),
        **access,
        **({"related_identifiers": earlier} if earlier else {}),
    }
