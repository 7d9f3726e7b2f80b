"""`make docs`: count the external links of README and documentation; ``--check-links`` requests each.

Links within the documentation, with their anchors, are checked by MkDocs (`validation` in mkdocs.yml).
External ones are requested only on demand: CI has no network, and other sites' failures are not ours.
"""

import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
ADDRESS = re.compile(r"(?:\]\(|<)(https?://[^)\s>]+)")
PAUSE = 20.0  # seconds until an address counts as unreachable
# These refuse programs or want a login, but the page is there.
PRESENT = {401, 403, 405, 429}


def external_addresses() -> dict[str, list[str]]:
    """Return each external address with the pages that link to it; addresses in code are examples."""
    addresses: dict[str, list[str]] = {}
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        text = CODE.sub("", path.read_text(encoding="utf-8"))
        for address in ADDRESS.findall(text):
            addresses.setdefault(address, []).append(path.relative_to(ROOT).as_posix())
    return addresses


def unreachable(addresses: dict[str, list[str]], client: httpx.Client) -> list[str]:
    """Request each address; return one line for each that does not answer."""
    lines = []
    for address, pages in sorted(addresses.items()):
        try:
            status = client.get(address).status_code
            fault = "" if status < 400 or status in PRESENT else f"status {status}"
        except httpx.HTTPError as error:
            fault = str(error) or type(error).__name__
        if fault:
            lines.append(f"{address} (in {', '.join(sorted(set(pages)))}): {fault}")
    return lines


def main(arguments: list[str]) -> int:
    """Print how many addresses there are, or those that do not answer."""
    addresses = external_addresses()
    if "--check-links" in arguments:
        with httpx.Client(follow_redirects=True, timeout=PAUSE) as client:
            faults = unreachable(addresses, client)
        summary = f"{len(addresses)} external links requested, {len(faults)} without an answer"
        print("\n".join([*faults, summary]))
        return 1 if faults else 0
    hosts = {urlsplit(address).netloc for address in addresses}
    how = 'make docs ARGS="--check-links" requests them'
    print(f"{len(addresses)} external links to {len(hosts)} hosts; {how}")
    if "--list-links" in arguments:
        print("\n".join(sorted(addresses)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
