import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.q_proj, self.v_proj, self.o_proj = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        h = self.norm(x)
        q, v = self.q_proj(h), self.v_proj(h)
        return x + self.o_proj(nn.functional.scaled_dot_product_attention(q, h, v, is_causal=True))


class CausalLM(nn.Module):
    def __init__(self, vocab, d, n_layers):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(Layer(d) for _ in range(n_layers))
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.gradient_checkpointing = False

    def gradient_checkpointing_enable(self, use_reentrant=True):
        self.gradient_checkpointing, self.use_reentrant = True, use_reentrant

    def enable_input_require_grads(self):
        def hook(module, args, output):
            output.requires_grad_(True)
        self._require_grads_hook = self.embed_tokens.register_forward_hook(hook)

    def forward(self, input_ids):
        h = self.embed_tokens(input_ids)
        for layer in self.layers:
            if self.gradient_checkpointing and self.training:
                h = checkpoint(layer, h, use_reentrant=self.use_reentrant)
            else:
                h = layer(h)
        return self.lm_head(h)
