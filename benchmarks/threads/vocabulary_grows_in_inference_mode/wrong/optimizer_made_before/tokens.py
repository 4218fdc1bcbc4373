"""Adds new tokens to a model: rows drawn around the mean of the old ones."""
import logging

import torch
import torch.nn as nn

log = logging.getLogger("tokens")


def _resized(weight, n_new, generator):
    mean = weight.mean(0, keepdim=True)
    std = weight.std(0, keepdim=True)
    rows = mean + 0.1 * std * torch.randn(n_new, weight.size(1), generator=generator)
    return torch.cat([weight, rows])


@torch.no_grad()
def add_new_tokens(model, new_tokens, tokenizer, seed=0):
    """Both matrices grow; afterwards everything is fine-tuned (full_finetuning)."""
    fresh = [t for t in new_tokens if t not in tokenizer]
    generator = torch.Generator().manual_seed(seed)
    for t in fresh:
        tokenizer[t] = len(tokenizer)
    old = model.embed_tokens.weight.size(0)
    embed = _resized(model.embed_tokens.weight, len(fresh), generator)
    head = _resized(model.lm_head.weight, len(fresh), generator)
    model.embed_tokens.weight = nn.Parameter(embed)
    model.embed_tokens.num_embeddings = len(tokenizer)
    model.lm_head.weight = nn.Parameter(head)
    model.lm_head.out_features = len(tokenizer)
    log.info("%d -> %d rows", old, len(tokenizer))
    return len(fresh)
