"""The taught attention is the model's own."""

import torch

from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.tiny.batches import AttentionTargets
from webdojo.tiny.losses import ANSWER_LAYER, QUESTION_LAYER, AttentionLoss
from webdojo.tiny.train import build_model


def test_the_loss_is_the_attention_that_the_layer_really_pays() -> None:
    model = build_model(Processor.load(model_folder("tiny")).tokenizer, seed=0)
    model.set_attn_implementation("eager")
    attention = AttentionLoss(model)
    ids = torch.randint(0, 200, (2, 12), generator=torch.Generator().manual_seed(0))
    attentions = model.model.language_model(input_ids=ids, output_attentions=True, use_cache=False).attentions
    attended = AttentionTargets(torch.tensor([0, 1, 1]), torch.tensor([5, 11, 7]), torch.zeros(3, 12, dtype=torch.bool))
    attended.targets[0, 2] = attended.targets[1, 3] = attended.targets[1, 4] = attended.targets[2, 0] = True
    for layer in (QUESTION_LAYER, ANSWER_LAYER):
        heads = attentions[layer][:, :2]  # [batch, taught heads, queries, keys]
        paid = [heads[0, :, 5, 2], heads[1, :, 11, 3] + heads[1, :, 11, 4], heads[1, :, 7, 0]]
        expected = -torch.stack(paid).log().mean()
        torch.testing.assert_close(attention.loss(layer, attended), expected, atol=1e-5, rtol=1e-5)
