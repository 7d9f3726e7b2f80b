#!/usr/bin/env bash
# The decoder of ProphetNet in transformers 5.23.0, tiny and in double precision: the distribution at the third token
# depends on how many tokens follow it (not on which), so the log probability of a sentence read in one run is not the sum
# of its tokens' log probabilities one by one, and no test that exchanges a later token can notice.
# Guess beforehand: a decoder of text that is run on a whole target predicts each token from those before it alone.
# What follows: `hf-seq2seq` compares predictions before and after appending tokens, and refuses such a decoder.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet torch==2.13.0 transformers==5.23.0
"$folder/v/bin/python" -W ignore - <<'PYTHON' 2>/dev/null
import torch
from transformers import BartConfig, BartForConditionalGeneration, ProphetNetConfig, ProphetNetForConditionalGeneration
sizes = {"vocab_size": 50, "max_position_embeddings": 64, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
heads = {"num_encoder_attention_heads": 2, "num_decoder_attention_heads": 2, "num_encoder_layers": 1, "num_decoder_layers": 2}
def change(model):
    """The largest change of a log probability at the third token: by more tokens after it, by other tokens."""
    model = model.double().eval()
    source, target = torch.tensor([[3, 4, 5]]), torch.tensor([[2, 7, 8, 9, 10, 11, 12, 13]])
    other = torch.cat([target[:, :4], target[:, 4:] + 10], dim=1)
    def third(ids):
        with torch.no_grad():
            return model(input_ids=source, decoder_input_ids=ids, use_cache=False).logits[0, 2].log_softmax(-1)
    alone = third(target[:, :3])
    more = max(float((third(target[:, :n]) - alone).abs().max()) for n in range(4, 9))
    return more, float((third(other) - third(target)).abs().max())
torch.manual_seed(0)
prophetnet = change(ProphetNetForConditionalGeneration(ProphetNetConfig(hidden_size=16, **sizes, **heads)))
bart = change(BartForConditionalGeneration(BartConfig(d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, **sizes)))
print("transformers 5.23.0, change by (more, other) later tokens: ProphetNet %.1e %.1e, BART %.1e %.1e" % (*prophetnet, *bart))
assert prophetnet[0] > 1e-6 and prophetnet[1] < 1e-12, prophetnet
assert max(bart) < 1e-12, bart
PYTHON
