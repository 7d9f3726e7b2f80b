"""Score every sentence of a file with a model."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import Progress

from ...comparison.files import read_pairs, read_sentences
from ...comparison.in_depth.models import PREFIX_METHODS
from ...comparison.in_depth.prefixes import sentence_regions
from ...errors import BadInput, MissingColumns
from ...files import SUFFIXES, atomic_write, write_table
from ...scoring import ScoredSentences, Scorer, Scores, score_sentences, scorer
from ...scoring.base import CHECKED, FLAG_CUT, FLAGS
from ...scoring.conventions import COUNTED, RECORD
from ...scoring.frames import context_column, model_name
from ...scoring.judgment_prompts import (
    FORCED_CHOICE,
    PROMPT_METHODS,
    PromptScorer,
    prompt_question,
)
from ...scoring.measures import check_method
from ...scoring.method_agreement import agreement_line, method_agreement
from ...scoring.model_uri import parse_model_uri, with_revisions
from ...scoring.scorers.babylm_predictions import PAIR_COLUMNS, babylm_predictions, equal_scores
from ...scoring.words.contexts import IN_CONTEXT, ContextRule, ContextScorer, model_context_rule
from ...scoring.words.critical_words import WordScorer
from ...scoring.words.regions import RegionScores, score_regions
from ...scoring.words.sentence_check import NOTHING, check_findings
from ...scoring.words.surprisals import (
    leading_texts,
    named_regions,
    require_tokens,
    score_tokens,
    unit_counts,
)
from .score_options import ScoreOptions

MANY_UNKNOWN = 0.05
CUT = next(name for name, flag in FLAGS.items() if flag == FLAG_CUT)


class NotScored:
    """The scorer of sentences where only prompts are asked for."""

    def __init__(self, model: Scorer) -> None:
        self.spec, self.model = model.spec, model
        self.capabilities: frozenset[str] = frozenset({IN_CONTEXT})
        self.contexts = ContextRule(is_ignored=True)

    def score(self, sentences: Sequence[str], **options: Any) -> Scores:
        """Return no score of any sentence."""
        zeros = np.zeros(len(sentences), dtype=np.int32)
        nothing, flags = np.full(len(sentences), np.nan), np.zeros(len(sentences), dtype=np.uint8)
        return Scores(nothing, zeros, zeros, zeros, zeros, flags)


class FileScoring(ScoreOptions):
    """Score sentences; the files appear complete or not at all."""

    def run(self, **options: Any) -> None:
        """Score with the model, or with each of its revisions; one that fails does not end the others."""
        revisions = [name for text in options["revisions"] for name in text.split(",")]
        uris = with_revisions(options["model"], revisions)
        if len(uris) == 1:
            return self.score(**options | {"model": uris[0]})
        failed: list[str] = []
        for uri in uris:
            revision = re.split("[@/]", parse_model_uri(uri).target)[-1]
            files = [name for name in ("to", "tokens", "predictions") if options[name]]
            parts = {name: with_part(options[name], revision) for name in files}
            name = f"{options['name'] or model_name(parse_revision(uri, revision))}@{revision}"
            try:
                self.score(**options | parts | {"model": uri, "name": name})
            except BadInput as error:
                failed.append(revision)
                self.stderr.write(f"{revision}: {error}")
        if failed:
            raise BadInput(
                f"{len(failed)} of {len(uris)} revisions are not scored: {', '.join(failed)}.",
                remedy="The files of the others are written.",
            )

    def score(self, **options: Any) -> None:
        """Check names, read, score, write."""
        to, token_file = options["to"], options["tokens"]
        for path in (to, token_file) if token_file else (to,):
            if path.suffix.lower() not in SUFFIXES:
                raise BadInput(
                    "this kind of file is not written.", file=str(path), remedy=f"Use {', '.join(SUFFIXES)}."
                )
        if options["regions"] and not token_file:
            raise BadInput(
                "regions go to the file of tokens.", column="--regions", remedy="Add --tokens FILE."
            )
        if options["entropy"] and not token_file:
            raise BadInput(
                "entropies go to the file of tokens.", column="--entropy", remedy="Add --tokens FILE."
            )
        special = (*PREFIX_METHODS, *PROMPT_METHODS)
        plain = [name for name in options["method"] if name.lower() not in special]
        prompt_methods = [name.lower() for name in options["method"] if name.lower() in PROMPT_METHODS]
        for method in plain:
            check_method(method)
        regions = {
            name.lower(): self.regions(name.lower(), options)
            for name in options["method"]
            if name.lower() in PREFIX_METHODS
        }
        uri_options = {name: options[name] for name in ("sign", "prompt") if options[name]}
        opened = scorer(with_options(options["model"], uri_options))
        if token_file:
            require_tokens(opened)
        choices = self.choice_pairs(options) if options["predictions"] else None
        sentences = self.sentences(options)
        stretches = named_regions(sentences, options["regions"]) if token_file else {}
        names, texts = (sentences[name].astype(str).tolist() for name in ("sentence_id", "sentence"))
        contexts, rule = context_column(sentences), model_context_rule(opened)
        is_in_context, leads = rule.applies(contexts), leading_texts(opened, sentences)
        template = rule.template if is_in_context else ""
        word_scorers = {method: WordScorer(opened, method, template=template) for method in regions}
        prompts = {method: PromptScorer(opened, method) for method in prompt_methods}
        partners = self.pair_partners(options) if FORCED_CHOICE in prompt_methods else {}
        opened_in_context: Scorer = opened
        if is_in_context and opened.spec.method != "csv":
            opened_in_context = ContextScorer(opened)
        model = self.open_cached(opened_in_context, options)
        if not (plain or regions):
            model = NotScored(opened)  # a chat server may give no log probabilities of sentences
        table: pd.DataFrame | None = None
        pairs = self.pair_members(options)
        with Progress(console=Console(stderr=True), disable=not self.wants_progress(options)) as bar:
            task = bar.add_task("scoring", total=len(sentences))
            if token_file:
                scored, table = score_tokens(
                    opened,
                    sentences,
                    regions=stretches,
                    methods=plain,
                    name=options["name"],
                    pairs=pairs,
                    entropy=options["entropy"],
                    progress=lambda n: bar.advance(task, n),
                )
            else:
                scored = score_sentences(
                    model,
                    sentences,
                    methods=plain,
                    name=options["name"],
                    pairs=pairs,
                    progress=lambda n: bar.advance(task, n),
                )
            for method, word_scorer in word_scorers.items():
                bar.reset(task, total=len(regions[method]), description=method)
                region_scores = score_regions(
                    self.open_cached(word_scorer, options),
                    names,
                    regions[method],
                    sentences=texts,
                    leads=leads,
                    progress=lambda n: bar.advance(task, n),
                )
                scored = with_column(scored, method, region_scores)
            for method, prompt_scorer in prompts.items():
                bar.reset(task, total=len(names), description=method)
                scored = with_column(
                    scored,
                    method,
                    prompt_scores(
                        self.open_cached(prompt_scorer, options),
                        names,
                        texts,
                        contexts,
                        partners=partners if method == FORCED_CHOICE else None,
                        progress=lambda n: bar.advance(task, n),
                    ),
                )
                scored.summary.setdefault("prompts", {})[method] = prompt_scorer.record()
                scored.summary["warnings"] = list(
                    dict.fromkeys([*scored.summary["warnings"], *prompt_scorer.warnings])
                )
        if prompts and pairs and (plain or regions):
            scored.summary["agreement"] = method_agreement(scored.frame, pairs)
        if table is not None:
            write_table(table, token_file)
            scored.summary["tokens_file"] = {"file": token_file.name, **unit_counts(table)}
        write(scored, to)
        if choices is not None:
            scores = dict(zip(texts, scored.frame.iloc[:, 1], strict=True))
            predictions = babylm_predictions(choices, scores)
            if n := equal_scores(choices, scores):
                scored.summary["warnings"].append(
                    f"{n} of {len(choices)} pairs have two equal scores: {options['predictions']} names the "
                    "good sentence there, as the pipeline does; compare counts them as failed"
                )
            with atomic_write(options["predictions"]) as draft:
                draft.write_text(json.dumps(predictions, ensure_ascii=False) + "\n", encoding="utf-8")
        self.print_summary(scored, to, as_json=options["json"])

    def open_cached(self, model: Scorer, options: dict[str, Any]) -> Scorer:
        """The model behind a cache of scores; files have none."""
        return model

    def sentences(self, options: dict[str, Any]) -> pd.DataFrame:
        """The sentences of the file."""
        return read_sentences(options["sentences"])

    def pair_rows(
        self, options: dict[str, Any], *, has_discarded: bool = True
    ) -> list[dict[str, Any]] | None:
        """The pairs with the fields of their source, None where no pairs are named."""
        if not options["pairs"]:
            return None
        return cast(list[dict[str, Any]], read_pairs(options["pairs"]).to_dict("records"))

    def regions(self, method: str, options: dict[str, Any]) -> dict[str, tuple[str, str]]:
        """Prefix and critical word of each sentence."""
        rows = self.pair_rows(options)
        if rows is None:
            raise BadInput(
                f"{method} needs the pairs.", column="--pairs", remedy="Give a release's pairs.jsonl."
            )
        result = sentence_regions(rows, method)
        if not result:
            source = str(options["pairs"] or options.get("materials"))
            remedy = f"Pairs need the flag {method}_method, or its prefix and words."
            raise BadInput(f"no pair is made for the {method} method.", file=source, remedy=remedy)
        return result

    def choice_pairs(self, options: dict[str, Any]) -> pd.DataFrame:
        """The pairs with both sentences and their paradigm."""
        rows = self.pair_rows(options, has_discarded=False)
        if rows is None:
            raise BadInput("predictions need the pairs.", column="--pairs", remedy="Give a file of pairs.")
        pairs = pd.DataFrame(rows)
        if absent := [column for column in PAIR_COLUMNS if column not in pairs.columns]:
            raise MissingColumns(absent, existing=list(map(str, pairs.columns)), file=options["pairs"])
        return pairs

    def pair_members(self, options: dict[str, Any]) -> list[tuple[str, str]]:
        """The ids of the members of each pair; none where no pairs are named."""
        rows = self.pair_rows(options, has_discarded=False) or []
        return [(str(row["good_id"]), str(row["bad_id"])) for row in rows]

    def pair_partners(self, options: dict[str, Any]) -> dict[str, list[str]]:
        """The ids of the other members of each sentence's pairs."""
        rows = self.pair_rows(options, has_discarded=False)
        if rows is None:
            raise BadInput(
                f"{FORCED_CHOICE} needs the pairs.", column="--pairs", remedy="Give a file of pairs."
            )
        partners: dict[str, list[str]] = {}
        for row in rows:
            good, bad = str(row["good_id"]), str(row["bad_id"])
            partners.setdefault(good, []).append(bad)
            partners.setdefault(bad, []).append(good)
        return partners

    def print_summary(self, scored: ScoredSentences, to: Path, *, as_json: bool) -> None:
        """Print what was written, with a hint if many words are unknown to the model."""
        summary = scored.summary
        if as_json:
            self.print_json({**summary, "to": str(to)})
            return
        columns = ", ".join(summary["columns"])
        self.stdout.write(f"wrote {to}: {summary['sentences']} sentences, {columns}")
        if written := summary.get("tokens_file"):
            counts = ", ".join(f"{written[unit]} {unit}" for unit in ("tokens", "words", "regions"))
            self.stdout.write(f"wrote {written['file']}: {counts}, surprisal in nats and bits")
            if written["without a value"]:
                self.stderr.write(
                    f"{written['without a value']} words or regions have no value: see their notes"
                )
        if summary["missing_sentence_ids"]:
            some = ", ".join(summary["missing_sentence_ids"][:5])
            self.stderr.write(f"no score for {len(summary['missing_sentence_ids'])} sentences: {some}")
        for report in summary.get("agreement", []):
            self.stdout.write(agreement_line(report))
        findings = check_findings(summary["check"])
        for finding in findings:
            self.stderr.write(f"{'WARNING: ' if finding.is_grave else ''}{finding.text}")
        if summary["check"] and not findings:
            self.stderr.write(NOTHING)
        for name, n in summary["flags"].items():
            if not (summary["check"] and name in CHECKED):
                self.stderr.write(f"{n} sentences: {name}")
        if summary["path"]:
            self.stderr.write(f"model path: {summary['path']}")
        for warning in summary["warnings"]:
            self.stderr.write(warning)
        share = summary["unknown_tokens"] / max(summary["tokens"], 1)
        if share > MANY_UNKNOWN:
            self.stderr.write(
                f"{share:.0%} of the tokens are unknown to the model{tokenization_hint(summary['spec'])}"
            )


def with_part(path: Path, revision: str) -> Path:
    """The file of a revision: ``scores.step1000.csv`` for ``scores.csv``."""
    return path.with_name(f"{path.stem}.{re.sub(r'[^A-Za-z0-9_-]', '-', revision)}{path.suffix}")


def parse_revision(uri: str, revision: str) -> str:
    """The model URI without its options and revision."""
    return uri.partition("?")[0].removesuffix(revision).rstrip("@/")


def with_options(uri: str, options: dict[str, str]) -> str:
    """The model URI with further options; kinds of models that do not have them refuse them."""
    parsed = parse_model_uri(uri)
    return str(parsed._replace(options={**parsed.options, **options})) if options else uri


def tokenization_hint(spec: dict[str, Any]) -> str:
    """Unused options of word models that may make more words known."""
    unused = [("casing", "as-is", "lower"), ("punctuation", "keep", "split")]
    suggestions = [f"{name}={better}" for name, now, better in unused if spec[name] == now]
    return (
        f"; {' and '.join(suggestions)} may fit its text better"
        if spec["tokens"] == "space" and suggestions
        else ""
    )


def prompt_scores(
    model: Scorer,
    names: list[str],
    texts: list[str],
    contexts: list[str],
    *,
    partners: dict[str, list[str]] | None,
    progress: Any,
) -> RegionScores:
    """The scores of a prompt; in forced choice none for sentences without a pair."""
    by_name = dict(zip(names, texts, strict=True))
    missing = sorted({name for row in (partners or {}).values() for name in row} - by_name.keys())
    if missing:
        raise BadInput(
            f"the pairs have sentences that are not scored: {', '.join(missing[:3])}.", column="--pairs"
        )
    places = [place for place, name in enumerate(names) if partners is None or partners.get(name)]
    questions = [
        prompt_question(
            texts[place],
            context=contexts[place],
            others=[by_name[partner] for partner in (partners or {}).get(names[place], [])],
        )
        for place in places
    ]
    values = np.full(len(names), np.nan)
    values[places] = model.score(questions, progress=progress).logprob
    zeros = np.zeros(len(names), dtype=np.int32)
    return RegionScores(values, zeros, zeros.astype(np.bool_))


def with_column(scored: ScoredSentences, method: str, scores: RegionScores) -> ScoredSentences:
    """The scores with one more column; sentences without a value count as missing there."""
    name = f"{scored.summary['model']}:{method}"
    frame = scored.frame.assign(**{name: scores.logprob})
    n_cut = int(scores.is_cut.sum())
    summary = {
        **scored.summary,
        "flags": {**scored.summary["flags"], **({f"{method}: {CUT}": n_cut} if n_cut else {})},
        "columns": [*scored.summary["columns"], name],
        "missing": {**scored.summary["missing"], name: int(frame[name].isna().sum())},
    }
    return replace(scored, frame=frame, summary=summary)


def write(scored: ScoredSentences, to: Path) -> None:
    """Write the specification and the counts first, because scores without them are not traceable."""
    with atomic_write(to.with_suffix(RECORD)) as draft, atomic_write(to.with_suffix(COUNTED)) as counts:
        draft.write_text(json.dumps(scored.summary, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        scored.counts.to_parquet(counts, index=False)
        write_table(scored.frame, to)
