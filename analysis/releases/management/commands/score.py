"""``manage.py score``: give every sentence of a set or a file a model's score."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.progress import Progress

from analysis.comparison.files import read_pairs, read_sentences
from analysis.comparison.prefixes import sentence_regions
from analysis.comparison.roster import PREFIX_METHODS
from analysis.errors import BadInput
from analysis.files import SUFFIXES, whole_file, write_table
from analysis.releases.material_frames import pair_frame
from analysis.releases.run_texts import prefix_regions
from analysis.releases.score_cache import CachedScorer, has_fixed_revision
from analysis.scoring import ScoredSentences, Scorer, score_sentences, scorer
from analysis.scoring.base import FLAG_CUT, FLAGS
from analysis.scoring.critical_words import WordScorer
from analysis.scoring.measures import check_method
from analysis.scoring.recorded import COUNTED, RECORD
from analysis.scoring.regions import RegionScores, score_regions
from config.commands import ContractCommand
from experiments.models import Sentence
from experiments.names import find_materials

MANY_UNKNOWN = 0.05
CUT = next(name for name, flag in FLAGS.items() if flag == FLAG_CUT)


class Command(ContractCommand):
    """Score sentences; the files appear complete or not at all."""

    help = (
        "Score every sentence with a model: arpa:PATH (an n-gram model), lstm:FOLDER, hf-causal:, hf-masked: "
        "or hf-classifier: with a name of the hub or a folder, openai:URL#MODEL, or csv:PATH (scores "
        "computed elsewhere). Writes sentence_id and one column per method, and beside it a .spec.json that "
        "says how and a .counts.parquet that gives other measures without scoring: csv:scores.counts.parquet."
    )
    example = (
        "manage.py score 'arpa:trigram.arpa?casing=lower&punctuation=split' --sentences sentences.csv "
        "--method lp slor --to scores.csv"
    )

    def add_options(self, parser) -> None:
        """The model, the sentences, the measures and the file."""
        parser.add_argument(
            "model", metavar="MODEL", help="kind:target?option=value, such as arpa:trigram.arpa"
        )
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--materials", metavar="NAME", help="a stored material set")
        source.add_argument("--sentences", metavar="FILE", help="a file with sentence_id and sentence")
        parser.add_argument(
            "--method",
            nargs="+",
            default=["lp"],
            metavar="METHOD",
            help="lp, meanlp, penlp, sllnlp, charlp, bytelp, normlp, slor; one_prefix and two_prefix with "
            "models that give tokens",
        )
        parser.add_argument(
            "--pairs", metavar="FILE", help="for the prefix methods: pairs with BLiMP's fields (pairs.jsonl)"
        )
        parser.add_argument("--name", default="", help="what the model is called in the file")
        parser.add_argument("--to", required=True, type=Path, metavar="FILE", help="CSV, JSONL or Parquet")

    def run(self, **options: Any) -> None:
        """Check names, read, score, write."""
        to = options["to"]
        if to.suffix.lower() not in SUFFIXES:
            raise BadInput(
                "this kind of file is not written.", file=str(to), remedy=f"Use {', '.join(SUFFIXES)}."
            )
        plain = [name for name in options["method"] if name.lower() not in PREFIX_METHODS]
        for method in plain:
            check_method(method)
        regions = {
            name.lower(): self.regions(name.lower(), options)
            for name in options["method"]
            if name.lower() in PREFIX_METHODS
        }
        opened = scorer(options["model"])
        words = {method: WordScorer(opened, method) for method in regions}
        is_cached = options["materials"] and has_fixed_revision(opened.spec) and opened.spec.method != "csv"
        model: Scorer = CachedScorer(opened) if is_cached else opened
        sentences = self.sentences(options)
        names, texts = (sentences[name].astype(str).tolist() for name in ("sentence_id", "sentence"))
        with Progress(console=Console(stderr=True), disable=not self.wants_progress(options)) as bar:
            task = bar.add_task("scoring", total=len(sentences))
            scored = score_sentences(
                model,
                sentences,
                methods=plain,
                name=options["name"],
                progress=lambda done: bar.advance(task, done),
            )
            for method, asked in words.items():
                bar.reset(task, total=len(regions[method]), description=method)
                one = CachedScorer(asked) if is_cached else asked
                found = score_regions(
                    one,
                    names,
                    regions[method],
                    sentences=texts,
                    progress=lambda done: bar.advance(task, done),
                )
                scored = with_column(scored, method, found)
        write(scored, to)
        self.tell(scored, to, as_json=options["json"])

    def sentences(self, options: dict[str, Any]) -> pd.DataFrame:
        """The sentences of the file, or of the stored set in the order of its import."""
        if options["sentences"]:
            return read_sentences(options["sentences"])
        stored = Sentence.objects.filter(material_set=find_materials(options["materials"])).order_by("pk")
        words = [(one.key, one.words) for one in stored.only("key", "text", "attributes")]
        return pd.DataFrame(words, columns=["sentence_id", "sentence"])

    def regions(self, method: str, options: dict[str, Any]) -> dict[str, tuple[str, str]]:
        """Prefix and critical word of each sentence, from a file of pairs or from the stored ones."""
        if options["pairs"]:
            source = options["pairs"]
            found = sentence_regions(read_pairs(source).to_dict("records"), method)
        elif options["materials"]:
            source = options["materials"]
            found = prefix_regions(pair_frame(find_materials(source)), method)
        else:
            raise BadInput(
                f"{method} needs the pairs.", column="--pairs", remedy="Give a release's pairs.jsonl."
            )
        if not found:
            remedy = f"Pairs need the flag {method}_method, or its prefix and words."
            raise BadInput(f"no pair is made for the {method} method.", file=source, remedy=remedy)
        return found

    def tell(self, scored: ScoredSentences, to: Path, *, as_json: bool) -> None:
        """What was written, and a hint when the model does not know many of the words."""
        summary = scored.summary
        if as_json:
            self.print_json({**summary, "to": str(to)})
            return
        columns = ", ".join(summary["columns"])
        self.stdout.write(f"wrote {to}: {summary['sentences']} sentences, {columns}")
        if summary["missing_sentence_ids"]:
            some = ", ".join(summary["missing_sentence_ids"][:5])
            self.stderr.write(f"no score for {len(summary['missing_sentence_ids'])} sentences: {some}")
        for name, n in summary["flags"].items():
            self.stderr.write(f"{n} sentences: {name}")
        if summary["path"]:
            self.stderr.write(f"way through the model: {summary['path']}")
        for warning in summary["warnings"]:
            self.stderr.write(warning)
        share = summary["unknown_tokens"] / max(summary["tokens"], 1)
        if share > MANY_UNKNOWN:
            self.stderr.write(
                f"{share:.0%} of the tokens are unknown to the model{better_cut(summary['spec'])}"
            )


def better_cut(spec: dict[str, Any]) -> str:
    """What may make more words known: options of word models that are not in use."""
    unused = [("casing", "as-is", "lower"), ("punctuation", "keep", "split")]
    named = [f"{name}={better}" for name, now, better in unused if spec[name] == now]
    return f"; {' and '.join(named)} may fit its text better" if spec["tokens"] == "space" and named else ""


def with_column(scored: ScoredSentences, method: str, found: RegionScores) -> ScoredSentences:
    """The scores with one more column; sentences without a value count as missing there."""
    name = f"{scored.summary['model']}:{method}"
    frame = scored.frame.assign(**{name: found.logprob})
    n_cut = int(found.is_cut.sum())
    summary = {
        **scored.summary,
        "flags": {**scored.summary["flags"], **({f"{method}: {CUT}": n_cut} if n_cut else {})},
        "columns": [*scored.summary["columns"], name],
        "missing": {**scored.summary["missing"], name: int(frame[name].isna().sum())},
    }
    return replace(scored, frame=frame, summary=summary)


def write(scored: ScoredSentences, to: Path) -> None:
    """Write the specification and what measures are made of first: scores without them are not traceable."""
    with whole_file(to.with_suffix(RECORD)) as draft, whole_file(to.with_suffix(COUNTED)) as counts:
        draft.write_text(json.dumps(scored.summary, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        scored.counts.to_parquet(counts, index=False)
        write_table(scored.frame, to)
