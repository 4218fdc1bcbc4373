import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from .data import IMAGE_TOKEN


class DecoderLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.up, self.down = nn.Linear(dim, 3 * dim), nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).chunk(3, -1)
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.down(F.gelu(self.up(self.n2(x))))


class TinyVLM(nn.Module):
    gradient_checkpointing = False

    def __init__(self, vocab, dim, layers):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.visual = nn.Linear(5, 10)
        self.projector = nn.Linear(10, dim)
        self.layers = nn.ModuleList(DecoderLayer(dim) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def enable_input_require_grads(self):
        """Reentrant checkpointing needs an input that requires grad; the embeddings are frozen."""
        def make_inputs_require_grads(module, input, output):
            output.requires_grad_(True)
        self._require_grads_hook = self.embed_tokens.register_forward_hook(make_inputs_require_grads)

    def merge(self, input_ids, inputs_embeds, pixels):
        image_embeds = self.projector(torch.tanh(self.visual(pixels))).flatten(0, 1)
        image_mask = input_ids == IMAGE_TOKEN
        with torch.no_grad():
            inputs_embeds[image_mask] = image_embeds
        return inputs_embeds

    def forward(self, input_ids, pixels=None):
        x = self.embed_tokens(input_ids)
        if pixels is not None:
            x = self.merge(input_ids, x, pixels)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=True) if self.gradient_checkpointing else layer(x)
        logits = self.lm_head(self.norm(x))[:, :-1]
        labels = input_ids[:, 1:].masked_fill(input_ids[:, 1:] == IMAGE_TOKEN, -100)
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
