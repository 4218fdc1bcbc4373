import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function


def quantize_blockwise(w, block=16):
    """8-bit codes with one absolute maximum per block."""
    flat = w.detach().reshape(-1, block)
    absmax = flat.abs().amax(1, keepdim=True).clamp_min(1e-8)
    q = torch.round(flat / absmax * 127).to(torch.int8)
    return q.view_as(w), absmax


def dequantize_blockwise(q, absmax, block=16):
    return (q.reshape(-1, block).float() / 127 * absmax).view_as(q)


class DequantizeAndLinear(Function):
    @staticmethod
    def forward(ctx, input, weights_quantized, absmax, bias):
        w = dequantize_blockwise(weights_quantized, absmax)
        ctx.save_for_backward(input, weights_quantized, absmax)
        ctx._has_bias = bias is not None
        flat = input.reshape(-1, input.shape[-1]) @ w.t()
        if bias is not None:
            flat = flat + bias
        return flat.view(*input.shape[:-1], -1)

    @staticmethod
    def backward(ctx, grad_output):
        assert not ctx.needs_input_grad[1] and not ctx.needs_input_grad[2]
        input, weights_quantized, absmax = ctx.saved_tensors
        w = dequantize_blockwise(weights_quantized, absmax)
        grad_input = grad_output @ w
        grad_bias = grad_output.flatten(0, -2).sum(0) if ctx._has_bias and ctx.needs_input_grad[3] else None
        return grad_input, None, None, grad_bias


class FrozenBNBLinear(nn.Module):
    def __init__(self, linear):
        super().__init__()
        q, absmax = quantize_blockwise(linear.weight)
        self.register_buffer("weight", q)
        self.register_buffer("absmax", absmax)
        self.register_buffer("bias", None if linear.bias is None else linear.bias.detach().clone())
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.adapter = None

    def forward(self, input):
        output = DequantizeAndLinear.apply(input, self.weight, self.absmax, self.bias)
        if self.adapter:
            output = output + self.adapter(input)
        return output


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.v_proj, self.out_proj = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (p(x).view(b, t, self.heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        att = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)
        mask = torch.ones(t, t, dtype=torch.bool).triu(1)
        att = att.masked_fill(mask, float("-inf")).softmax(-1)
        return self.out_proj((att @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.fc_in, self.fc_out = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        h = self.ln(x)
        return x + self.attn(h) + self.fc_out(F.gelu(self.fc_in(h)))  # parallel residual, as in GPT-J


class TinyGPTJ(nn.Module):
    def __init__(self, vocab=40, dim=32, depth=2, heads=4):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.h = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.wte(ids)
        for blk in self.h:
            x = blk(x)
        return self.lm_head(self.ln_f(x))


def convert_to_int8(model):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Linear):
                setattr(module, name, FrozenBNBLinear(child))


def add_adapters(model, adapter_dim=4):
    for module in model.modules():
        if isinstance(module, FrozenBNBLinear):
            module.adapter = nn.Sequential(
                nn.Linear(module.in_features, adapter_dim, bias=False),
                nn.Linear(adapter_dim, module.out_features, bias=False),
            )
            nn.init.normal_(module.adapter[1].weight, std=0.02)


def main():
    torch.manual_seed(0)
    model = TinyGPTJ()
    convert_to_int8(model)
    for p in model.parameters():
        p.requires_grad_(False)
    add_adapters(model)
    params = [p for p in model.parameters() if p.requires_grad]
    print("trainable", sum(p.numel() for p in params))
    opt = torch.optim.Adam(params, lr=3e-3)
    text = torch.randint(0, 40, (6, 17))
    text[:, 1::2] = (text[:, 0::2][:, :8] * 3 + 1) % 40
    for step in range(6):
        opt.zero_grad()
        logits = model(text[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        loss.backward()
        opt.step()
        print(step, "%.5f" % loss.item())


if __name__ == "__main__":
    main()
