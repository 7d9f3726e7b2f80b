"""A whole report as plain sections: the same for HTML, PDF and anyone's own template."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.report.citations import works_cited
from analysis.report.content import (
    Block,
    Facts,
    Figure,
    Paragraph,
    Ready,
    References,
    Section,
    Subheading,
)
from analysis.report.effect_sections import effects_section, power_section
from analysis.report.methods import methods_paragraphs
from analysis.report.rating_sections import ratings_section, sensitivity_section
from analysis.report.released import Released
from analysis.report.result_sections import (
    agreement_section,
    headline_block,
    reliability_section,
)
from analysis.report.study_sections import design_section, flow_section
from analysis.report.wording import readable

FIGURES = (
    "flow", "agreement", "items", "reliability", "ratings", "scale-points", "magnitudes-z",
    "five-analyses", "effect-sizes", "power-share", "sensitivity", "overlap",
)  # fmt: skip
"""Figures of the registry that a report shows where they apply."""
NAMED = ("agreement", "reliability", "effects", "power")


@dataclass(frozen=True)
class Report:
    """Title, one line beneath it, and the sections."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    language: str = "en"

    @property
    def text(self) -> str:
        """Every word of the report, for choosing fonts."""
        return repr(self)


def report_of(released: Released, numbers: dict[str, Any], figures: Sequence[Figure]) -> Report:
    """Arrange the numbers of a release as a report.

    Parameters
    ----------
    released : Released
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.
    figures : sequence of Figure
        Those that apply to the study, of :data:`FIGURES`.

    Returns
    -------
    Report
    """
    agreement, paradigms = agreement_section(numbers, figures)
    ratings, conditions = ratings_section(numbers, figures)
    effects, contrasts = effects_section(numbers, figures)
    appendix: list[Block] = [*paradigms, *conditions, *contrasts]
    ready = methods_paragraphs(released, numbers)
    sections = [
        Section("summary", "Summary", [headline_block(numbers), Ready(ready)]),
        design_section(released, numbers),
        flow_section(released, numbers, figures),
        agreement,
        reliability_section(numbers, figures),
        ratings,
        effects,
        sensitivity_section(numbers, figures),
        power_section(numbers, figures),
        conventions_section(released, numbers),
        Section("references", "References", [References(works_cited(numbers))]),
        Section("appendix", "Appendix", appendix) if appendix else None,
    ]
    manifest = released.manifest
    made_with = f"made with Obelus {manifest['code_version']}"
    return Report(
        title=str(manifest["title"]),
        subtitle=f"Validation report of the study {manifest['experiment']}, {made_with}",
        sections=[one for one in sections if one is not None],
    )


def conventions_section(released: Released, numbers: dict[str, Any]) -> Section:
    """Name every convention behind the numbers, the software, and the data they rest on.

    Parameters
    ----------
    released : Released
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.

    Returns
    -------
    Section
    """
    blocks: list[Block] = [Paragraph("Published figures differ by just these choices, so each is named.")]
    for part in NAMED:
        found = numbers[part].get("conventions")
        if found:
            rows = [(readable(name), _said(text)) for name, text in found.items() if text not in (None, "")]
            blocks += [Subheading(part.capitalize()), Facts(rows)]
    software = [(name, version) for name, version in released.study["software"].items()]
    data = [(name, digest) for name, digest in sorted(checksums(released).items())]
    blocks += [Subheading("Software"), Facts(software)]
    blocks += [Subheading("Data: SHA-256 of the release's files"), Facts(data)]
    return Section("conventions", "Conventions, software and data", blocks)


def checksums(released: Released) -> dict[str, str]:
    """Give the checksum of every file of the release.

    Parameters
    ----------
    released : Released

    Returns
    -------
    dict of str to str
    """
    return {str(file["path"]): str(file["sha256"]) for file in released.manifest["files"]}


def _said(value: Any) -> str:
    return str(value)
