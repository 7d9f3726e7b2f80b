"""Quality signals of a study, computed from all sessions and stored for the participants page."""

from typing import Any

import pandas as pd

from analysis.quality.report import signal_table
from experiments.models import Experiment
from judgments.frames.measurements import evidence_frame
from judgments.models import Session, Signal
from releases.material_frames import pair_frame
from releases.models import ScoringRun, score_table

MAX_MODELS = 5
MAX_REASON_LENGTH = 300


def study_signals(study: Experiment) -> pd.DataFrame:
    """Compute every signal; agreement with models if scoring runs are finished."""
    finished = ScoringRun.objects.of_study(study).done()
    runs = list(finished.order_by("-pk")[:MAX_MODELS]) if study.materials_id else []
    return signal_table(
        evidence_frame(study),
        scores=score_table(runs) if runs else None,
        pairs=pair_frame(study.materials) if runs else None,
    )


def store_signals(study: Experiment, table: pd.DataFrame) -> dict[str, Any]:
    """Replace the stored signals; runs in the job's transaction."""
    # Race: participants may have withdrawn while the signals were computed; their sessions get none.
    Signal.objects.filter(session__experiment=study).delete()
    remaining = Session.objects.filter(experiment=study).exclude(status=Session.Status.WITHDRAWN)
    session_ids = set(remaining.values_list("pk", flat=True))
    rows = [
        Signal(
            session_id=int(row["session"]),
            name=row["signal"],
            version=row["version"],
            value=row["value"],
            reason=row["reason"][:MAX_REASON_LENGTH],
        )
        for row in table.to_dict("records")
        if int(row["session"]) in session_ids
    ]
    Signal.objects.bulk_create(rows, batch_size=1000)
    return {"flags": len(rows), "sessions": len({row.session_id for row in rows})}
