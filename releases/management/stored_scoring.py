"""Scores of stored materials: the work of the command ``score``."""

from typing import Any

import pandas as pd

from analysis.command_line.models.score import FileScoring
from analysis.scoring import Scorer
from experiments.models import Sentence
from experiments.studies.creation import find_materials
from releases.material_frames import pair_frame
from releases.scoring.score_cache import CachedScorer, has_fixed_revision
from releases.scoring.surprisals import sentence_table
from releases.scoring.texts import pair_fields


class StoredScoring(FileScoring):
    """Score the sentences of a file or of a stored set."""

    def __init__(self, stdout: Any, stderr: Any) -> None:
        self.stdout, self.stderr = stdout, stderr

    def open_cached(self, model: Scorer, options: dict[str, Any]) -> Scorer:
        """The model behind the cache of scores, for stored sentences and fixed weights."""
        is_cached = options["materials"] and has_fixed_revision(model.spec) and model.spec.method != "csv"
        return CachedScorer(model) if is_cached else model

    def sentences(self, options: dict[str, Any]) -> pd.DataFrame:
        """The sentences of the file, or of the stored set in the order of its import."""
        if options["sentences"]:
            return super().sentences(options)
        stored = Sentence.objects.filter(material_set=find_materials(options["materials"])).order_by("pk")
        return sentence_table(stored.only("key", "text", "attributes", "critical_region"))

    def pair_rows(
        self, options: dict[str, Any], *, has_discarded: bool = True
    ) -> list[dict[str, Any]] | None:
        """The pairs of the file, or of the stored set."""
        if options["pairs"] or not options["materials"]:
            return super().pair_rows(options)
        pairs = pair_frame(find_materials(options["materials"]))
        return pair_fields(pairs if has_discarded else pairs[~pairs["discard"].astype(bool)])
