#!/usr/bin/env bash
# A German sentence cut for a model that translates from English to German: MarianTokenizer of transformers 5.23.0 has
# two models of pieces, and called in the documented way for text, tokenizer(sentence), it always takes the English one.
# The ids exist in the shared vocabulary, so a decoder scores them without an error: 15 tokens where the model was
# trained on 7. Only tokenizer(text_target=sentence) gives the pieces that the decoder has learnt.
# Guess beforehand: one tokenizer with one vocabulary has one way to cut a sentence.
# What follows: `hf-seq2seq` cuts sentences as targets and sources as sources.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet transformers==5.23.0 sentencepiece==0.2.3
cd "$folder"
"$folder/v/bin/python" -W ignore - <<'PYTHON'
import json
import sentencepiece
from transformers import MarianTokenizer
texts = {"source": ["the cat sleeps", "dogs sleep", "the dog sees the cat", "a cat and a dog are sleeping"],
         "target": ["die katze schläft", "hunde schlafen", "der hund sieht die katze",
                    "eine katze und ein hund schlafen"]}
pieces = ["</s>", "<unk>"]
for side, lines in texts.items():
    open(f"{side}.txt", "w").write("\n".join(lines * 20))
    sentencepiece.SentencePieceTrainer.train(input=f"{side}.txt", model_prefix=side, vocab_size=40, model_type="bpe",
                                             character_coverage=1.0, minloglevel=2)
    model = sentencepiece.SentencePieceProcessor(model_file=f"{side}.model")
    pieces += [piece for piece in map(model.id_to_piece, range(len(model))) if piece not in pieces]
json.dump({piece: place for place, piece in enumerate([*pieces, "<pad>"])}, open("vocab.json", "w"))
tokenizer = MarianTokenizer("source.model", "target.model", "vocab.json", source_lang="en", target_lang="de")
plain = tokenizer("die katze schläft", add_special_tokens=False)["input_ids"]
target = tokenizer(text_target="die katze schläft", add_special_tokens=False)["input_ids"]
print("transformers 5.23.0, Marian:", len(plain), "and", len(target), "tokens;",
      tokenizer.convert_ids_to_tokens(plain), tokenizer.convert_ids_to_tokens(target))
assert plain != target and len(plain) > 1.5 * len(target), (plain, target)
assert tokenizer.unk_token_id not in target
PYTHON
