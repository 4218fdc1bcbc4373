"""Text classification (bag of embeddings) with a hand-written second-order optimizer."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Optimizer


@dataclass
class Args:
    lr: float = 0.05
    weight_decay: float = 0.01
    gradient_accumulation_steps: int = 2
    max_train_steps: int = 10
    per_device_batch: int = 8
    seed: int = 42


class AdaHessian(Optimizer):
    """Adam whose second moment is Hutchinson's estimate of the diagonal of the Hessian."""

    def __init__(self, params, lr=0.15, betas=(0.9, 0.999), eps=1e-4, weight_decay=0.0, seed=1):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))
        self.generator = torch.Generator().manual_seed(seed)

    def get_trace(self, params, grads):
        zs = [torch.randint(0, 2, p.size(), generator=self.generator).float() * 2.0 - 1.0 for p in params]
        h_zs = torch.autograd.grad(grads, params, grad_outputs=zs, only_inputs=True, retain_graph=False)
        return [(h_z * z).abs() for h_z, z in zip(h_zs, zs)]

    def step(self, closure=None):
        params = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        grads = [p.grad for p in params]
        hessians = dict(zip(params, self.get_trace(params, grads)))
        with torch.no_grad():
            for group in self.param_groups:
                b1, b2 = group["betas"]
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if not state:
                        state["step"] = 0
                        state["m"] = torch.zeros_like(p)
                        state["h"] = torch.zeros_like(p)
                    state["step"] += 1
                    state["m"].mul_(b1).add_(p.grad.detach(), alpha=1 - b1)
                    state["h"].mul_(b2).addcmul_(hessians[p], hessians[p], value=1 - b2)
                    m = state["m"] / (1 - b1 ** state["step"])
                    h = (state["h"] / (1 - b2 ** state["step"])).sqrt()
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.addcdiv_(m, h + group["eps"], value=-group["lr"])


class Classifier(nn.Module):
    def __init__(self, vocab=50, dim=8, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.dense = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, classes)

    def forward(self, tokens):
        h = self.embed(tokens).mean(dim=1)
        return self.out(torch.tanh(self.dense(h)))


def loader(args):
    for _ in range(args.max_train_steps * args.gradient_accumulation_steps):
        tokens = torch.randint(0, 50, (args.per_device_batch, 6))
        yield tokens, (tokens.sum(dim=1) // 30) % 3


def main():
    args = Args()
    torch.manual_seed(args.seed)
    model = Classifier()
    no_decay = ["bias"]
    grouped = [
        {"params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)],
         "weight_decay": args.weight_decay},
        {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
    ]
    optimizer = AdaHessian(grouped, lr=args.lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / (2 * args.max_train_steps))
    completed = 0
    for step, (tokens, labels) in enumerate(loader(args)):
        loss = F.cross_entropy(model(tokens), labels) / args.gradient_accumulation_steps
        loss.backward()
        if (step + 1) % args.gradient_accumulation_steps == 0:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            completed += 1
            print(completed, f"{loss.item() * args.gradient_accumulation_steps:.5f}")


if __name__ == "__main__":
    main()
