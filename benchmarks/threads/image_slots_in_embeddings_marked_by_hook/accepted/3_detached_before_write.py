import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

IMAGE_TOKEN = 0
IGNORE = -100


class LoraLinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(r, base.in_features) * 0.1)
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.t() @ self.B.t())


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d).requires_grad_(False)
        self.up = LoraLinear(nn.Linear(d, 2 * d))
        self.down = LoraLinear(nn.Linear(2 * d, d))

    def forward(self, h):
        ctx = h.cumsum(1) / torch.arange(1, h.size(1) + 1).view(1, -1, 1)
        return h + self.down(F.gelu(self.up(self.norm(ctx))))


class VLM(nn.Module):
    def __init__(self, vocab=20, d=8, patch=5, layers=2):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, d).requires_grad_(False)
        self.mm_projector = nn.Sequential(nn.Linear(patch, d), nn.GELU(), nn.Linear(d, d))
        self.layers = nn.ModuleList([Block(d) for _ in range(layers)])
        self.lm_head = nn.Linear(d, vocab, bias=False).requires_grad_(False)
        self.gradient_checkpointing = False

    def enable_input_require_grads(self):
        """For adapters + (reentrant) checkpointing: everything below the first adapter is frozen."""
        def make_inputs_require_grads(module, args, output):
            output.requires_grad_(True)
        self._hook = self.embed_tokens.register_forward_hook(make_inputs_require_grads)

    def gradient_checkpointing_enable(self):
        self.gradient_checkpointing = True
        self.enable_input_require_grads()

    def prepare_inputs(self, input_ids, images):
        inputs_embeds = self.embed_tokens(input_ids)
        if images is not None:
            image_features = self.mm_projector(images)          # (B, n, d)
            slots = input_ids == IMAGE_TOKEN
            inputs_embeds = inputs_embeds.detach()
            inputs_embeds[slots] = image_features.reshape(-1, image_features.size(-1))
        return inputs_embeds

    def forward(self, input_ids, images=None, labels=None):
        h = self.prepare_inputs(input_ids, images)
        for layer in self.layers:
            if self.gradient_checkpointing and self.training:
                h = checkpoint(layer, h, use_reentrant=True)
            else:
                h = layer(h)
        logits = self.lm_head(h)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORE)
        return loss, logits


def batches(n, size=3, length=8, patches=2):
    for i in range(n):
        ids = torch.randint(1, 20, (size, length))
        images = None
        labels = ids.clone()
        if i % 2 == 1:  # every second batch has text only
            ids[:, 1:1 + patches] = IMAGE_TOKEN
            labels[:, 1:1 + patches] = IGNORE
            images = torch.randn(size, patches, 5)
        yield ids, images, labels


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("--steps", type=int, default=6)
    ap.add_argument("--no_checkpointing", action="store_true")
    args = ap.parse_args()
    torch.manual_seed(3)

    model = VLM()
    if not args.no_checkpointing:
        model.gradient_checkpointing_enable()
    trainable = [p for p in model.parameters() if p.requires_grad]
    print("trainable parameters:", sum(p.numel() for p in trainable))
    optimizer = torch.optim.AdamW(trainable, lr=args.lr)
    model.train()
    for step, (ids, images, labels) in enumerate(batches(args.steps)):
        loss, _ = model(ids, images, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"{step} loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
