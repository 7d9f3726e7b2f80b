#!/usr/bin/env bash
# A folder whose tokenizer.json has NFKC and a space before the sentence, with tokenizer_class GPT2TokenizerFast: the
# AutoTokenizer of transformers 5.23.0 takes only vocabulary and merges from the file and builds the rest as GPT-2 has it.
# Guess beforehand: the tokens of the file, which is the whole tokenizer in the format of the library tokenizers.
# What follows: the parts of the two are compared; the file decides, and a warning shows what the library would read.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet transformers==5.23.0 tokenizers==0.23.3
"$folder/v/bin/python" -W ignore - "$folder" <<'PYTHON' 2>/dev/null
import json, sys
from pathlib import Path
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import AutoTokenizer
folder = Path(sys.argv[1]) / "model"; folder.mkdir()
trained = Tokenizer(models.BPE())
trained.normalizer = normalizers.NFKC()
trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
trained.decoder = decoders.ByteLevel()
trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>"], show_progress=False)
trained.train_from_iterator(["Dogs sleep.", "Dogs fish."] * 9, trainer)
trained.save(str(folder / "tokenizer.json"))
seen = {"tokenizers": trained.encode("Dogs ﬁsh.").tokens}
for name in ("PreTrainedTokenizerFast", "LlamaTokenizerFast", "GPT2TokenizerFast", "RobertaTokenizerFast", "Qwen2TokenizerFast"):
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    seen[name] = AutoTokenizer.from_pretrained(folder).tokenize("Dogs ﬁsh.")
print("transformers 5.23.0:", *(f"\n  {name}: {' '.join(tokens)}" for name, tokens in seen.items()))
own = seen["tokenizers"]
assert {name for name, tokens in seen.items() if tokens != own} == {"GPT2TokenizerFast", "RobertaTokenizerFast", "Qwen2TokenizerFast"}, seen
assert own[0].startswith("Ġ") and not seen["GPT2TokenizerFast"][0].startswith("Ġ"), seen
PYTHON
