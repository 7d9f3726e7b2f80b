"""A local double of Zenodo, OSF and Hugging Face: the endpoints that publishing uses, on one address.

Shapes are those of developers.zenodo.org, developer.osf.io, WaterButler's documentation and huggingface_hub.
"""

import base64
import contextlib
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import RLock, Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tools.doubles.faults import FaultKind, Faults

TOKEN = "double-token-of-a-repository"
NO_DATASET = {"error": "Repository not found"}
Reply = tuple[int, Any]


class RepositoryDouble(ThreadingHTTPServer):
    """The three repositories with their deposits, faults, and the requests that they got."""

    daemon_threads = True

    def __init__(self) -> None:
        self.faults, self.lock, self.numbers = Faults(), RLock(), itertools.count(101)
        self.requests: list[str] = []
        self.depositions: dict[str, dict[str, Any]] = {}
        self.buckets: dict[str, dict[str, bytes]] = {}
        self.nodes: dict[str, dict[str, Any]] = {}
        self.entries: dict[str, dict[str, Any]] = {}  # files and folders of OSF by id
        self.datasets: dict[str, dict[str, Any]] = {}
        self.large: dict[str, bytes] = {}  # files of the hub by SHA-256
        self.damages = False  # whether stored files differ from what was sent
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def count(self, line: str) -> int:
        """Number of requests whose method and path contain this."""
        return sum(line in request for request in self.requests)

    def fail_next(self, kind: str, **where: Any) -> None:
        """Let the next matching request fail."""
        self.faults.fail_next(kind, **where)

    def stored(self, content: bytes) -> bytes:
        """What the disk makes of a file."""
        return content + b"!" if self.damages else content

    # Zenodo

    def deposition(self, number: str) -> dict[str, Any]:
        """A deposition as its detail endpoint shows it."""
        row = self.depositions[number]
        is_public = row["submitted"]
        links = {"html": f"{self.url}/uploads/{number}", "bucket": f"{self.url}/api/files/bucket-{number}"}
        if is_public:
            links["record_html"] = f"{self.url}/records/{number}"
        reserved = {"doi": f"10.5072/zenodo.{number}", "recid": int(number)}
        concept = row["concept"]
        versions = [other for other in self.depositions.values() if other["concept"] == concept]
        is_registered = any(other["submitted"] for other in versions)
        return {
            "id": int(number),
            "conceptrecid": concept,
            **({"conceptdoi": f"10.5072/zenodo.{concept}"} if is_registered else {}),
            "submitted": is_public,
            "state": "done" if is_public else "unsubmitted",
            "doi": reserved["doi"] if is_public else "",
            "metadata": {**row["metadata"], "prereserve_doi": reserved},
            "links": links,
        }

    def zenodo(self, method: str, path: str, query: dict[str, str], body: bytes) -> Reply:
        """The API of depositions and buckets."""
        if match := re.fullmatch(r"/api/files/bucket-(\d+)/(.+)", path):
            content = self.stored(body)
            self.buckets[match[1]][unquote(match[2])] = content
            return 201, {"key": match[2], "checksum": f"md5:{hashlib.md5(content).hexdigest()}"}
        number, _, part = path.removeprefix("/api/deposit/depositions").strip("/").partition("/")
        if not number and method == "GET":
            rows = [self.deposition(each) for each in reversed(self.depositions)]
            for row in rows:
                del row["links"]["bucket"]
            return 200, rows if query.get("page", "1") == "1" else []
        if not number:
            metadata = json.loads(body)["metadata"]
            if missing := [name for name in ("title", "creators", "upload_type") if not metadata.get(name)]:
                return 400, {
                    "message": "Validation error.",
                    "errors": [{"field": missing[0], "message": "Missing."}],
                }
            number = str(next(self.numbers))
            concept = f"9{number}"
            self.depositions[number] = {"metadata": metadata, "submitted": False, "concept": concept}
            self.buckets[number] = {}
            return 201, self.deposition(number)
        if number not in self.depositions:
            return 404, {"message": "PID does not exist.", "status": 404}
        if part == "files":
            return 200, [
                {
                    "id": hashlib.sha1(name.encode()).hexdigest(),
                    "filename": name,
                    "filesize": len(content),
                    "checksum": hashlib.md5(content).hexdigest(),
                }
                for name, content in self.buckets[number].items()
            ]
        if part.startswith("files/"):
            assert method == "DELETE" and not self.depositions[number]["submitted"]
            names = [n for n in self.buckets[number] if hashlib.sha1(n.encode()).hexdigest() == part[6:]]
            for name in names:
                del self.buckets[number][name]
            return (204, None) if names else (404, {"message": "File does not exist."})
        if part == "actions/newversion":
            return self._new_version(number)
        if method == "PUT":
            self.depositions[number]["metadata"] = json.loads(body)["metadata"]
            return 200, self.deposition(number)
        if part == "actions/publish":
            self.depositions[number]["submitted"] = True
            return 202, self.deposition(number)
        return 200, self.deposition(number)

    def _new_version(self, number: str) -> Reply:
        """A copy of a published record as a draft; the answer is the record itself. One draft at a time."""
        record = self.depositions[number]
        versions = [row for row in self.depositions.values() if row["concept"] == record["concept"]]
        if not all(row["submitted"] for row in versions):
            problem = {"field": "files.enabled", "messages": ["Please remove all files first."]}
            return 400, {"message": "A validation error occurred.", "errors": [problem]}
        if record is not versions[-1]:
            return 400, {"message": "Only the newest version has a next one."}
        draft = str(next(self.numbers))
        self.depositions[draft] = {**record, "submitted": False}
        self.buckets[draft] = dict(self.buckets[number])
        answer = self.deposition(number)
        answer["links"]["latest_draft"] = f"{self.url}/api/deposit/depositions/{draft}"
        return 201, answer

    # OSF

    def osf(self, method: str, path: str, query: dict[str, str], body: bytes) -> Reply:
        """The API of projects."""
        parts = path.removeprefix("/v2/").strip("/").split("/")
        if parts[0] == "users":
            if parts[-1] == "me":
                return 200, {"data": {"attributes": {"full_name": "Ada Lab"}}}
            tag = query["filter[tags]"]
            return 200, {"data": [node for node in self.nodes.values() if tag in node["attributes"]["tags"]]}
        if parts[0] == "licenses":
            return 200, {
                "data": [{"id": "563c1cf88c5e4a3877f9e96a", "attributes": {"name": query["filter[name]"]}}]
            }
        if parts == ["nodes"]:
            number = f"ab{next(self.numbers)}"
            attributes = {"node_license": None, **json.loads(body)["data"]["attributes"]}
            links = {"html": f"{self.url}/{number}/"}
            self.nodes[number] = {"id": number, "attributes": attributes, "links": links, "identifiers": []}
            self.entries[number] = {"kind": "folder", "name": "", "children": []}
            return 201, {"data": self.nodes[number]}
        node = self.nodes.get(parts[1])
        if node is None:
            return 404, {"errors": [{"detail": "Not found."}]}
        if parts[2:] == ["files"]:
            upload = f"{self.url}/v1/resources/{parts[1]}/providers/osfstorage/"
            return 200, {"data": [{"attributes": {"provider": "osfstorage"}, "links": {"upload": upload}}]}
        if parts[2:] == ["identifiers"] and method == "POST":
            if not node["attributes"]["public"]:
                return 400, {"errors": [{"detail": "Only public projects have identifiers."}]}
            attributes = {"category": "doi", "value": f"10.5072/OSF.IO/{parts[1].upper()}"}
            node["identifiers"].append({"attributes": attributes})
            return 201, {"data": {"attributes": attributes}}
        if parts[2:] == ["identifiers"]:
            return 200, {"data": node["identifiers"]}
        if method == "PATCH":
            data = json.loads(body)["data"]
            node["attributes"].update(data["attributes"])
            node["license"] = data.get("relationships")
        return 200, {"data": node}

    def waterbutler(self, method: str, path: str, query: dict[str, str], body: bytes) -> Reply:
        """The files of projects."""
        match = re.fullmatch(r"/v1/resources/(\w+)/providers/osfstorage/(\w*)/?", path)
        assert match is not None, path
        node, number = match[1], match[2] or match[1]
        entry = self.entries[number]
        if method == "GET":
            return 200, {"data": [self._entry(node, child) for child in entry["children"]]}
        if entry["kind"] == "file":
            entry["content"] = self.stored(body)
            return 200, {"data": self._entry(node, number)}
        if query["name"] in {self.entries[child]["name"] for child in entry["children"]}:
            return 409, {"code": 409, "message": f'file or folder "{query["name"]}" already exists'}
        child = f"e{next(self.numbers)}"
        self.entries[child] = {"kind": query["kind"], "name": query["name"], "children": []}
        if query["kind"] == "file":
            self.entries[child]["content"] = self.stored(body)
        entry["children"].append(child)
        return 201, {"data": self._entry(node, child)}

    def _entry(self, node: str, number: str) -> dict[str, Any]:
        entry = self.entries[number]
        is_file = entry["kind"] == "file"
        upload = f"{self.url}/v1/resources/{node}/providers/osfstorage/{number}{'' if is_file else '/'}"
        hashes = {"sha256": hashlib.sha256(entry["content"]).hexdigest()} if is_file else {}
        attributes = {"name": entry["name"], "kind": entry["kind"], "extra": {"hashes": hashes}}
        return {"attributes": attributes, "links": {"upload": f"{upload}?kind=file"}}

    # Hugging Face

    def hub(self, method: str, path: str, query: dict[str, str], body: bytes) -> Reply:
        """Datasets of the hub."""
        if path == "/api/whoami-v2":
            return 200, {"name": "ada", "type": "user", "orgs": []}
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}
        if path == "/api/repos/create":
            values = json.loads(body)
            name = f"{values['organization']}/{values['name']}"
            if name in self.datasets:
                return 409, {"error": "You already created this dataset repo"}
            is_private = values.get("visibility") == "private" or values.get("private") is True
            self.datasets[name] = {
                "private": is_private,
                "files": {".gitattributes": b"*"},
                "commits": ["0" * 40],
            }
            return 200, {"url": f"{self.url}/datasets/{name}", "id": name, "name": name}
        if match := re.fullmatch(r"/large/(\w{64})", path):
            self.large[match[1]] = body
            return 200, {}
        match = re.match(r"/(?:api/)?datasets/([\w.-]+/[\w-]+)(?:\.git)?(/.*)?$", path)
        assert match is not None, path
        dataset, part = self.datasets.get(match[1]), match[2] or ""
        if dataset is None:
            return 404, NO_DATASET
        return self._dataset(match[1], dataset, part, body)

    def _dataset(self, name: str, dataset: dict[str, Any], part: str, body: bytes) -> Reply:
        files = dataset["files"]
        if part.startswith("/tree/"):
            return 200, [_tree_entry(path, self.stored(content)) for path, content in sorted(files.items())]
        if part.startswith("/preupload/"):
            paths = [file["path"] for file in json.loads(body)["files"]]
            modes = {path: "lfs" if path.endswith((".parquet", ".csv")) else "regular" for path in paths}
            return 200, {
                "files": [{"path": path, "uploadMode": modes[path], "shouldIgnore": False} for path in paths]
            }
        if part == "/info/lfs/objects/batch":
            rows = [
                {**row, "actions": {"upload": {"href": f"{self.url}/large/{row['oid']}", "header": {}}}}
                for row in json.loads(body)["objects"]
            ]
            return 200, {"transfer": "basic", "objects": rows}
        if part.startswith("/commit/"):
            return self._commit(name, dataset, [json.loads(line) for line in body.splitlines()])
        if part == "/settings":
            values = json.loads(body)
            dataset["private"] = values.get("visibility", "public") == "private"
            return 200, {"private": dataset["private"]}
        return 200, {"_id": "1", "id": name, "private": dataset["private"], "sha": dataset["commits"][-1]}

    def _commit(self, name: str, dataset: dict[str, Any], lines: list[dict[str, Any]]) -> Reply:
        if lines[0]["value"].get("parentCommit") != dataset["commits"][-1]:
            return 412, {"error": "A commit has happened since."}
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                dataset["files"][value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                dataset["files"][value["path"]] = self.large[value["oid"]]
            else:
                del dataset["files"][value["path"]]
        oid = hashlib.sha1(repr(lines).encode()).hexdigest()
        dataset["commits"].append(oid)
        return 200, {
            "success": True,
            "commitOid": oid,
            "commitUrl": f"{self.url}/datasets/{name}/commit/{oid}",
        }


def _tree_entry(path: str, content: bytes) -> dict[str, Any]:
    oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    entry = {"type": "file", "path": path, "size": len(content), "oid": oid}
    if path.endswith((".parquet", ".csv")):
        large = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
        return {**entry, "oid": "f" * 40, "lfs": large}
    return entry


class Handler(BaseHTTPRequestHandler):
    """Checks the token, injects faults and leads to a repository."""

    server: RepositoryDouble
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the body would wait 40 ms until the headers are acknowledged

    def do_GET(self) -> None:
        """Answer any method."""
        server, address = self.server, urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or self._chunks()
        server.requests.append(f"{self.command} {address.path}")
        fault = server.faults.next_of(self.command, address.path)
        kind = fault.kind if fault else None
        if kind == FaultKind.LOST_REQUEST:
            self.close_connection = True
            return
        if kind == FaultKind.SERVER_ERROR:
            self._reply(503, {"message": "Service unavailable"})
            return
        is_signed = address.path.startswith("/large/")  # such an address needs no token
        if not is_signed and self.headers.get("Authorization", "").split()[-1:] != [TOKEN]:
            self._reply(401, {"message": f"Unauthorized: {self.headers.get('Authorization')}"})
            return
        query = {name: values[0] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        with server.lock:
            reply = self._repository(address.path)(self.command, address.path, query, body)
        if kind == FaultKind.LOST_ANSWER:
            self.close_connection = True
            return
        self._reply(*reply)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _repository(self, path: str) -> Callable[..., Reply]:
        if path.startswith(("/api/deposit", "/api/files")):
            return self.server.zenodo
        if path.startswith("/v2/"):
            return self.server.osf
        return self.server.waterbutler if path.startswith("/v1/") else self.server.hub

    def _chunks(self) -> bytes:
        """The body of a request without a length."""
        content = b""
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline(), 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        return content

    def _reply(self, status: int, answer: Any) -> None:
        content = b"" if status == 204 else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if answer == NO_DATASET:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@contextlib.contextmanager
def running() -> Iterator[RepositoryDouble]:
    """A double that serves in a thread until the block ends."""
    server = RepositoryDouble()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
