"""Greedy coordinate gradient search for an adversarial suffix (red teaming a toy causal LM).

The suffix tokens are swapped one at a time; candidates come from the gradient w.r.t. the one-hot matrix.
"""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class TinyCausalLM(nn.Module):
    def __init__(self, vocab=40, dim=32, heads=4, layers=2, max_len=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(0.1 * torch.randn(max_len, dim))
        self.heads = heads
        self.qkv = nn.ModuleList(nn.Linear(dim, 3 * dim) for _ in range(layers))
        self.mlp = nn.ModuleList(nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
                                 for _ in range(layers))
        self.norm = nn.ModuleList(nn.LayerNorm(dim) for _ in range(layers))
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, input_ids=None, inputs_embeds=None):
        x = self.embed(input_ids) if inputs_embeds is None else inputs_embeds
        B, T, D = x.shape
        x = x + self.pos[:T]
        for qkv, norm, mlp in zip(self.qkv, self.norm, self.mlp):
            q, k, v = qkv(norm(x)).view(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
            att = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + att.transpose(1, 2).reshape(B, T, D)
            x = x + mlp(x)
        return self.head(x)


def token_gradients(model, input_ids, input_slice, target_slice, loss_slice):
    """gradient of the loss w.r.t. the coordinates (tokens) of the suffix"""
    embed_weights = model.embed.weight
    n = input_slice.stop - input_slice.start
    one_hot = torch.zeros(n, embed_weights.shape[0], dtype=embed_weights.dtype, requires_grad=True)
    one_hot = one_hot.scatter(1, input_ids[input_slice].unsqueeze(1), torch.ones(n, 1, dtype=embed_weights.dtype))
    input_embeds = (one_hot @ embed_weights).unsqueeze(0)

    # now stitch it together with the rest of the embeddings
    embeds = model.embed(input_ids.unsqueeze(0)).detach()
    full_embeds = torch.cat([embeds[:, :input_slice.start, :], input_embeds, embeds[:, input_slice.stop:, :]], dim=1)
    logits = model(inputs_embeds=full_embeds)
    targets = input_ids[target_slice]
    loss = F.cross_entropy(logits[0, loss_slice, :], targets)
    loss.backward()
    grad = one_hot.grad.clone()
    return grad / grad.norm(dim=-1, keepdim=True)


def sample_control(control_toks, grad, batch_size, topk, not_allowed):
    grad[:, not_allowed] = math.inf
    top_indices = (-grad).topk(topk, dim=1).indices
    original = control_toks.repeat(batch_size, 1)
    new_token_pos = torch.arange(0, len(control_toks), len(control_toks) / batch_size).type(torch.int64)
    new_token_val = torch.gather(top_indices[new_token_pos], 1, torch.randint(0, topk, (batch_size, 1)))
    return original.scatter(1, new_token_pos.unsqueeze(-1), new_token_val)


@torch.no_grad()
def candidate_losses(model, input_ids, candidates, control_slice, target_slice, loss_slice):
    ids = input_ids.repeat(len(candidates), 1)
    ids[:, control_slice] = candidates
    logits = model(ids)
    target = ids[:, target_slice]
    return F.cross_entropy(logits[:, loss_slice].transpose(1, 2), target, reduction="none").mean(1)


def attack(args):
    torch.manual_seed(args.seed)
    model = TinyCausalLM().eval()
    for p in model.parameters():
        p.requires_grad_(False)
    prompt, target = torch.randint(4, 40, (8,)), torch.randint(4, 40, (5,))
    control = torch.full((args.suffix,), 4)
    control_slice = slice(len(prompt), len(prompt) + args.suffix)
    target_slice = slice(control_slice.stop, control_slice.stop + len(target))
    loss_slice = slice(target_slice.start - 1, target_slice.stop - 1)
    not_allowed = torch.arange(4)   # special tokens
    best = math.inf
    for step in range(args.n_steps):
        input_ids = torch.cat([prompt, control, target])
        grad = token_gradients(model, input_ids, control_slice, target_slice, loss_slice)
        print(f"step {step:2d} grad spread {grad.std().item():.6f} at the tokens {grad[torch.arange(len(control)), control].mean().item():.6f}")
        candidates = sample_control(control, grad, args.batch_size, args.topk, not_allowed)
        losses = candidate_losses(model, input_ids, candidates, control_slice, target_slice, loss_slice)
        control = candidates[losses.argmin()]
        best = min(best, losses.min().item())
        print(f"        loss {losses.min().item():.6f} suffix {control.tolist()}")
    print("best", round(best, 6))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n_steps", type=int, default=6)
    parser.add_argument("--batch_size", type=int, default=24)
    parser.add_argument("--topk", type=int, default=6)
    parser.add_argument("--suffix", type=int, default=6)
    parser.add_argument("--seed", type=int, default=11)
    attack(parser.parse_args())
