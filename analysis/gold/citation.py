"""Citation of a release: its licence, ``CITATION.cff`` and the metadata of DataCite."""

import re
from dataclasses import dataclass
from typing import Any

from .facts import Facts
from .writers import quoted_yaml

RESOURCE = "acceptability judgments"


@dataclass(frozen=True)
class Licence:
    """A licence by SPDX identifier (empty if it is not one of ours), title and address."""

    spdx: str
    title: str
    path: str = ""

    @property
    def name(self) -> str:
        """The identifier, or one of the form that SPDX reserves for other licences."""
        slug = re.sub(r"[^A-Za-z0-9.-]+", "-", self.title).strip("-")
        return self.spdx or f"LicenseRef-{slug or 'other'}"


_CC, _OSI = "https://creativecommons.org", "https://opensource.org/license"
LICENCES = (
    Licence("CC-BY-4.0", "Creative Commons Attribution 4.0 International", f"{_CC}/licenses/by/4.0/"),
    Licence("CC-BY-SA-4.0", "Creative Commons Attribution ShareAlike 4.0", f"{_CC}/licenses/by-sa/4.0/"),
    Licence("CC-BY-NC-4.0", "Creative Commons Attribution NonCommercial 4.0", f"{_CC}/licenses/by-nc/4.0/"),
    Licence(
        "CC-BY-NC-SA-4.0",
        "Creative Commons Attribution NonCommercial ShareAlike 4.0",
        f"{_CC}/licenses/by-nc-sa/4.0/",
    ),
    Licence("CC-BY-ND-4.0", "Creative Commons Attribution NoDerivatives 4.0", f"{_CC}/licenses/by-nd/4.0/"),
    Licence("CC-BY-3.0", "Creative Commons Attribution 3.0 Unported", f"{_CC}/licenses/by/3.0/"),
    Licence("CC0-1.0", "Creative Commons Zero 1.0 Universal", f"{_CC}/publicdomain/zero/1.0/"),
    Licence("ODC-By-1.0", "Open Data Commons Attribution License 1.0", "https://opendatacommons.org/licenses/by/"),
    Licence("MIT", "MIT License", f"{_OSI}/mit"),
    Licence("Apache-2.0", "Apache License 2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
    Licence("GPL-3.0-or-later", "GNU General Public License 3 or later", "https://www.gnu.org/licenses/gpl-3.0"),
)  # fmt: skip


def recognize_licence(text: str) -> Licence | None:
    """Recognize a licence by its identifier, title or address; None where none is stated.

    Examples
    --------
    >>> recognize_licence("cc by 4.0").name
    'CC-BY-4.0'
    >>> recognize_licence("Ask the authors").name
    'LicenseRef-Ask-the-authors'
    """
    stated = text.strip()
    if not stated:
        return None
    for licence in LICENCES:
        if _letters(stated) in {_letters(licence.spdx), _letters(licence.title), _letters(licence.path)}:
            return licence
    return Licence("", stated)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "", text.lower().replace("http:", "https:"))


def citation_file(facts: Facts) -> str:
    """Write ``CITATION.cff``, version 1.2.0 of the Citation File Format."""
    licence = recognize_licence(facts.licence)
    lines = [
        "cff-version: 1.2.0",
        "message: Please cite this dataset if you use it.",
        "type: dataset",
        f"title: {quoted_yaml(facts.title)}",
        *([f"abstract: {quoted_yaml(facts.description)}"] if facts.description.strip() else []),
        "authors:",
        *(
            f"  - family-names: {quoted_yaml(family)}\n    given-names: {quoted_yaml(given_names)}"
            for family, given_names in facts.authors
        ),
        *([] if facts.authors else [f"  - name: {quoted_yaml(collective_author(facts))}"]),
        *([f"license: {licence.spdx}"] if licence and licence.spdx else []),
        *([f"date-released: {facts.last_answer[:10]}"] if facts.last_answer else []),
        "keywords:",
        "  - acceptability judgments",
        "  - minimal pairs",
    ]
    return "\n".join(lines) + "\n"


def datacite_record(facts: Facts) -> dict[str, Any]:
    """Describe the release by the attributes of DataCite's metadata schema, version 4.5.

    Notes
    -----
    Without a DOI, which the repository that publishes the release assigns.
    """
    licence = recognize_licence(facts.licence)
    creators = [
        {
            "name": f"{family}, {given_names}",
            "nameType": "Personal",
            "familyName": family,
            "givenName": given_names,
        }
        for family, given_names in facts.authors
    ]
    rights = {"rights": licence.title} if licence else {}
    if licence and licence.spdx:
        rights |= {"rightsUri": licence.path, "rightsIdentifier": licence.spdx.lower()}
        rights |= {"rightsIdentifierScheme": "SPDX", "schemeUri": "https://spdx.org/licenses/"}
    record: dict[str, Any] = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": RESOURCE},
        "creators": creators or [{"name": collective_author(facts), "nameType": "Organizational"}],
        "titles": [{"title": facts.title}],
        "publisher": {"name": collective_author(facts)},
        "publicationYear": facts.year,
        "subjects": [{"subject": "acceptability judgments"}, {"subject": "minimal pairs"}],
        "formats": ["text/csv", "application/vnd.apache.parquet", "application/jsonlines"],
    }
    if facts.first_answer:
        collected = f"{facts.first_answer[:10]}/{facts.last_answer[:10]}"
        record["dates"] = [{"date": collected, "dateType": "Collected"}]
    if facts.description.strip():
        record["descriptions"] = [{"description": facts.description, "descriptionType": "Abstract"}]
    if facts.language != "und":
        record["language"] = facts.language
    return record | ({"rightsList": [rights]} if rights else {})


def collective_author(facts: Facts) -> str:
    """Name the authors of a release whose owner has no first and last name."""
    return f"The authors of {facts.title}"
