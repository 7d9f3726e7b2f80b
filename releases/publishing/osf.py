"""OSF: one project for each release, by its API version 2 and the file service WaterButler.

References
----------
https://developer.osf.io; https://waterbutler.readthedocs.io/en/latest/api.html
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from releases.publishing.repository import (
    KEYWORDS,
    Advance,
    Deposit,
    Description,
    LocalFile,
    Order,
    Repository,
    RestClient,
)

#: Names of OSF's licences, whose ids differ between its servers.
LICENCES = {
    "CC-BY-4.0": "CC-By Attribution 4.0 International",
    "CC0-1.0": "CC0 1.0 Universal",
    "MIT": "MIT License",
    "Apache-2.0": "Apache License 2.0",
    "GPL-3.0-or-later": "GNU General Public License (GPL) 3.0",
}


@dataclass(frozen=True)
class Entry:
    """A file or folder of a project."""

    url: str
    digest: str = ""


class OSF(Repository):
    """Projects: private until they are made public, after which they can have a DOI."""

    label = "OSF"

    def __init__(self, token: str, url: str) -> None:
        super().__init__(token, url)
        host = urlsplit(url).netloc
        # api.osf.io names files.osf.io, api.test.osf.io files of test.osf.io.
        self.rest = RestClient(self.label, token, [host, host.removeprefix("api.")])
        self.api = f"{self.url}/v2"
        self._entries: dict[str, Entry] = {}

    def user_name(self) -> str:
        """The name of the account."""
        answer = self.rest.send("GET", f"{self.api}/users/me/").json()
        return str(answer["data"]["attributes"].get("full_name", ""))

    def find_or_create(self, order: Order) -> Deposit:
        """The stored project, else the one with the marker as a tag, else a new private one."""
        node = self._node(order.deposit_id) if order.deposit_id else None
        node = node or self._with_marker(order.marker) or self._create(order)
        licence = order.description.licence
        if licence and licence.spdx in LICENCES and not node["attributes"].get("node_license"):
            self._set_licence(node["id"], order.description, LICENCES[licence.spdx])
        return self._deposit(node)

    def _node(self, number: str) -> dict[str, Any] | None:
        response = self.rest.get(f"{self.api}/nodes/{number}/")
        return response.json()["data"] if response else None

    def _with_marker(self, marker: str) -> dict[str, Any] | None:
        query = {"filter[tags]": marker}
        rows = self.rest.send("GET", f"{self.api}/users/me/nodes/", params=query).json()["data"]
        return next((row for row in rows if marker in row["attributes"].get("tags", [])), None)

    def _create(self, order: Order) -> dict[str, Any]:
        attributes = {
            "title": order.description.title,
            "category": "data",
            "description": order.description.summary,
            "public": False,
            "tags": [*KEYWORDS, order.marker],
        }
        body = {"data": {"type": "nodes", "attributes": attributes}}
        node: dict[str, Any] = self.rest.send("POST", f"{self.api}/nodes/", json=body).json()["data"]
        return node

    def _set_licence(self, number: str, description: Description, name: str) -> None:
        rows = self.rest.send("GET", f"{self.api}/licenses/", params={"filter[name]": name}).json()["data"]
        licence = next((row["id"] for row in rows if row["attributes"]["name"] == name), None)
        if licence is None:  # a server that has other licences
            return
        holders = {"copyright_holders": list(description.creators), "year": description.year}
        self._change(
            number,
            {"node_license": holders},
            relationships={"license": {"data": {"type": "licenses", "id": licence}}},
        )

    def _change(self, number: str, attributes: dict[str, Any], **more: Any) -> None:
        body = {"data": {"type": "nodes", "id": number, "attributes": attributes, **more}}
        self.rest.send("PATCH", f"{self.api}/nodes/{number}/", json=body)

    def _deposit(self, node: dict[str, Any]) -> Deposit:
        response = self.rest.send("GET", f"{self.api}/nodes/{node['id']}/files/").json()
        storages = [row for row in response["data"] if row["attributes"]["provider"] == "osfstorage"]
        return Deposit(
            id=node["id"],
            address=str(node["links"]["html"]),
            doi=self._doi(node["id"]),
            is_public=bool(node["attributes"]["public"]),
            files_url=str(storages[0]["links"]["upload"]),
        )

    def _doi(self, number: str) -> str:
        rows = self.rest.send("GET", f"{self.api}/nodes/{number}/identifiers/").json()["data"]
        values = [
            row["attributes"]["value"] for row in rows if row["attributes"]["category"].startswith("doi")
        ]
        return str(values[0]) if values else ""

    def contents(self, deposit: Deposit) -> dict[str, str]:
        """Paths and SHA-256, folder by folder."""
        self._entries = {"": Entry(deposit.files_url)}
        self._list("", deposit.files_url)
        return {path: entry.digest for path, entry in self._entries.items() if entry.digest}

    def _list(self, folder: str, url: str) -> None:
        for row in self.rest.send("GET", url, params={"meta": ""}).json()["data"]:
            attributes, link = row["attributes"], row["links"]["upload"]
            path = f"{folder}{attributes['name']}"
            if attributes["kind"] == "folder":
                self._entries[path] = Entry(link)
                self._list(f"{path}/", link)
            else:
                self._entries[path] = Entry(link, f"sha256:{attributes['extra']['hashes']['sha256']}")

    def upload(
        self, deposit: Deposit, files: Sequence[LocalFile], stale: Sequence[str], *, advance: Advance
    ) -> None:
        """PUT each file: a new one into its folder, another content as the next version of its file."""
        if not self._entries:
            self.contents(deposit)
        for file in files:
            advance(file.name)
            entry = self._entries.get(file.name)
            if entry is not None:
                self.rest.put_file(entry.url, file, kind="file")
            else:
                folder, _, name = file.name.rpartition("/")
                self.rest.put_file(self._folder(folder), file, kind="file", name=name)

    def _folder(self, path: str) -> str:
        """The address of a folder, which is created where it is missing."""
        if path not in self._entries:
            parent, _, name = path.rpartition("/")
            query = {"kind": "folder", "name": name}
            row = self.rest.send("PUT", self._folder(parent), params=query).json()["data"]
            self._entries[path] = Entry(row["links"]["upload"])
        return self._entries[path].url

    def open(self, deposit: Deposit) -> Deposit:
        """Make the project public and let OSF register a DOI."""
        if not deposit.is_public:
            self._change(deposit.id, {"public": True})
        doi = deposit.doi
        if not doi:
            body = {"data": {"type": "identifiers", "attributes": {"category": "doi"}}}
            answer = self.rest.send("POST", f"{self.api}/nodes/{deposit.id}/identifiers/", json=body).json()
            doi = str(answer["data"]["attributes"]["value"])
        return replace(deposit, is_public=True, doi=doi)
