#!/usr/bin/env bash
# word_ids() of tokenizers 0.23.3, by which within-word pseudo-log-likelihoods mask the pieces of a word: a tokenizer as
# Llama's or Gemma's (spaces marked, nothing divided) gives one number to the whole sentence, one as XLM-R's divides at
# spaces and gives one to a whole Chinese sentence. Everything to the right of a token is then "its word".
# Guess beforehand: a number for each word, as the method is called.
# What follows: words come from the text, by the characters of the tokens: between white space, or single characters.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet tokenizers==0.23.3
"$folder/v/bin/python" -W ignore - <<'PYTHON'
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
english, chinese = "The cats near the dog sleep.", "我不喜欢这只猫。"
def trained(normalizer, pre_tokenizer):
    tokenizer = Tokenizer(models.BPE())
    if normalizer: tokenizer.normalizer = normalizer
    if pre_tokenizer: tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator([english, chinese] * 3, trainers.BpeTrainer(vocab_size=60, show_progress=False))
    return tokenizer
kinds = {
    "as Gemma's": trained(normalizers.Replace(" ", "▁"), None),
    "as Llama's": trained(None, pre_tokenizers.Metaspace(split=False, prepend_scheme="first")),
    "as XLM-R's": trained(None, pre_tokenizers.Metaspace()),
    "as BERT's": trained(None, pre_tokenizers.BertPreTokenizer()),
}
seen = {name: tuple(len(set(tokenizer.encode(text).word_ids)) for text in (english, chinese)) for name, tokenizer in kinds.items()}
print("tokenizers 0.23.3, words of an English sentence of 6 words and of a Chinese one:", seen)
assert seen == {"as Gemma's": (1, 1), "as Llama's": (1, 1), "as XLM-R's": (6, 1), "as BERT's": (7, 2)}, seen
PYTHON
