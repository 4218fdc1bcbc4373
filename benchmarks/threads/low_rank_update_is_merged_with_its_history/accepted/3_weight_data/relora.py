import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class TinyLM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.embed_prev = nn.Embedding(vocab, dim)
        self.norm = nn.LayerNorm(2 * dim)
        self.attn = nn.Linear(2 * dim, 2 * dim)
        self.mlp = nn.Linear(2 * dim, 2 * dim)
        self.lm_head = nn.Linear(2 * dim, vocab)

    def forward(self, ids):
        prev = torch.cat([ids[:, :1], ids[:, :-1]], 1)
        x = self.norm(torch.cat([self.embed(ids), self.embed_prev(prev)], -1))
        x = x + F.gelu(self.attn(x))
        x = x + F.gelu(self.mlp(x))
        return self.lm_head(x)


class ReLoRaLinear(nn.Module):
    """Frozen full-rank weight plus a trainable low-rank update that is merged from time to time."""

    def __init__(self, linear, r, lora_alpha=4):
        super().__init__()
        self.weight = nn.Parameter(linear.weight.data.clone(), requires_grad=False)
        self.bias = nn.Parameter(linear.bias.data.clone())
        self.scaling = lora_alpha / r
        self.lora_A = nn.Linear(linear.in_features, r, bias=False)
        self.lora_B = nn.Linear(r, linear.out_features, bias=False)
        nn.init.kaiming_uniform_(self.lora_A.weight, a=math.sqrt(5))
        nn.init.zeros_(self.lora_B.weight)

    def merge_and_reinit(self):
        self.weight.data += self.scaling * (self.lora_B.weight.data @ self.lora_A.weight.data)
        nn.init.kaiming_uniform_(self.lora_A.weight, a=math.sqrt(5))
        nn.init.zeros_(self.lora_B.weight)

    def forward(self, x):
        result = F.linear(x, self.weight, self.bias)
        return result + self.lora_B(self.lora_A(x)) * self.scaling


class ReLoRaModel(nn.Module):
    def __init__(self, model, target_modules, r):
        super().__init__()
        self.wrapped_model = model
        for name in target_modules:
            setattr(model, name, ReLoRaLinear(getattr(model, name), r))

    def relora_modules(self):
        return [m for m in self.modules() if isinstance(m, ReLoRaLinear)]

    def merge_and_reinit(self):
        for module in self.relora_modules():
            module.merge_and_reinit()

    def forward(self, *args, **kwargs):
        return self.wrapped_model(*args, **kwargs)
