"""Assemble the report as a list of sections, shared by the HTML and PDF output."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .citations import works_cited
from .content import (
    Block,
    Facts,
    Figure,
    Paragraph,
    Ready,
    References,
    Section,
    Subheading,
)
from .deviations import deviations_section
from .methods import methods_paragraphs
from .released import Released
from .sections.effects import effects_section, power_section, times_section
from .sections.models import MODEL_FIGURES, models_section
from .sections.ratings import multiverse_blocks, ratings_section, sensitivity_section
from .sections.results import agreement_section, headline_block, reliability_section
from .sections.study import design_section, flow_section
from .wording import readable

FIGURES = (
    "interaction", "flow", "agreement", "items", "reliability", "ratings", "scale-points", "magnitudes-z",
    "five-analyses", "effect-sizes", "condition-times", "power-share", "specification-curve",
    "sensitivity", "overlap", *MODEL_FIGURES,
)  # fmt: skip
"""Registry names of the figures that a report includes where they apply."""
PARTS_WITH_CONVENTIONS = ("agreement", "reliability", "effects", "times", "models", "power")

CONVENTIONS = {
    "ac1": "Gwet's AC1",
    "adc": "ADC",
    "area_to": "Area under the ADC up to δ",
    "blimp": "BLiMP criterion",
    "alpha": "Krippendorff's α",
    "cohen_kappa": "Cohen's κ",
    "draws": "Random draws",
    "icc": "ICC",
    "interval_item": "Interval of an item",
    "krippendorff_alpha": "Krippendorff's α",
    "n_min": "Fewest judgments of an item",
    "p_bh": "Correction by Benjamini–Hochberg",
    "p_holm": "Correction by Holm",
    "percent": "Pairwise agreement",
    "share": "Share and its interval",
    "share_powered": "Powered",
    "share_sure": "Powered at the lower end",
    "target": "Enough power",
}
"""Names of conventions whose keys are abbreviations."""
ELSEWHERE = {("power", "type_s"), ("power", "type_m"), ("power", "detection")}
"""Conventions of planned designs, which a report of a completed study does not have."""
_IDENTIFIER = re.compile("(?<=[a-z])_(?=[a-z])")


@dataclass(frozen=True)
class Report:
    """Title, subtitle and sections of a report."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    language: str = "en"

    @property
    def text(self) -> str:
        """All text of the report, used to choose fonts."""
        return repr(self)


def assemble_report(released: Released, numbers: dict[str, Any], figures: Sequence[Figure]) -> Report:
    """Build the report from the numbers of a release."""
    agreement, paradigms = agreement_section(numbers, figures)
    ratings, conditions = ratings_section(numbers, figures)
    effects, contrasts = effects_section(numbers, figures)
    appendix: list[Block] = [*paradigms, *conditions, *contrasts, *multiverse_blocks(numbers, figures)]
    # the main result of a factorial study, before everything else
    interaction = [figure for figure in figures if figure.name == "interaction"]
    ready = methods_paragraphs(released, numbers)
    sections = [
        Section("summary", "Summary", [headline_block(numbers), *interaction, Ready(ready)]),
        design_section(released, numbers),
        deviations_section(released.deviations, released.frozen_plan),
        flow_section(released, numbers, figures),
        agreement,
        reliability_section(numbers, figures),
        ratings,
        effects,
        times_section(numbers, figures),
        models_section(numbers, figures),
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
        sections=[section for section in sections if section is not None],
    )


def conventions_section(released: Released, numbers: dict[str, Any]) -> Section:
    """List the conventions, software versions and data checksums behind the numbers."""
    blocks: list[Block] = [Paragraph("Results can differ by these choices alone, so each is stated.")]
    for part in PARTS_WITH_CONVENTIONS:
        conventions = numbers.get(part, {}).get("conventions")
        if part == "times" and not numbers[part].get("timed"):
            continue
        if conventions:
            rows = [
                (
                    CONVENTIONS.get(name, readable(name).capitalize()),
                    _IDENTIFIER.sub(" ", str(text).replace("n_min", str(conventions.get("n_min")))),
                )
                for name, text in conventions.items()
                if text not in (None, "") and (part, name) not in ELSEWHERE
            ]
            blocks += [Subheading(part.capitalize()), Facts(rows)]
    software = [(name, version) for name, version in released.study["software"].items()]
    data = [(name, digest) for name, digest in sorted(checksums(released).items())]
    blocks += [Subheading("Software"), Facts(software)]
    blocks += [Subheading("Data: SHA-256 of the release's files"), Facts(data)]
    return Section("conventions", "Conventions, software and data", blocks)


def checksums(released: Released) -> dict[str, str]:
    """Map each file of the release to its checksum."""
    return {str(file["path"]): str(file["sha256"]) for file in released.manifest["files"]}
