"""The quality signals of a study, computed from all its sessions and stored for the participants page."""

from typing import Any

import pandas as pd

from analysis.quality.report import signal_table
from analysis.releases.comparing import score_table
from analysis.releases.material_frames import pair_frame
from analysis.releases.models import ScoringRun
from experiments.models import Experiment
from judgments.evidence import evidence_frame
from judgments.models import Session, Signal

MOST_MODELS = 5
LONGEST_REASON = 300


def study_signals(study: Experiment) -> pd.DataFrame:
    """Every flag of a study; agreement with models where scoring runs are done."""
    done = ScoringRun.objects.filter(material_set=study.materials_id, state=ScoringRun.State.DONE)
    runs = list(done.order_by("-pk")[:MOST_MODELS]) if study.materials_id else []
    return signal_table(
        evidence_frame(study),
        scores=score_table(runs) if runs else None,
        pairs=pair_frame(study.materials) if runs else None,
    )


def store_signals(study: Experiment, table: pd.DataFrame) -> dict[str, Any]:
    """Replace the stored flags; people who withdrew meanwhile get none. Inside the job's transaction."""
    Signal.objects.filter(session__experiment=study).delete()
    living = Session.objects.filter(experiment=study).exclude(status=Session.Status.WITHDRAWN)
    known = set(living.values_list("pk", flat=True))
    rows = [
        Signal(
            session_id=int(row.session),
            name=row.signal,
            version=row.version,
            value=row.value,
            reason=row.reason[:LONGEST_REASON],
        )
        for row in table.itertuples(index=False)
        if int(row.session) in known
    ]
    Signal.objects.bulk_create(rows, batch_size=1000)
    return {"flags": len(rows), "sessions": len({row.session_id for row in rows})}
