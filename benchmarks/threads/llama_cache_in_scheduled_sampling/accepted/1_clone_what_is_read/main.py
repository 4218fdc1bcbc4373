"""Scheduled sampling with the llama style decoder: token by token with the cache, so that the model
can be fed its own predictions during training (exposure bias)."""
import torch
import torch.nn.functional as F

from model import ModelArgs, Transformer


def batch(args, n=6, length=9):
    start = torch.randint(0, args.vocab_size, (n, 1))
    delta = torch.randint(1, 3, (n, 1))
    return (start + delta * torch.arange(length)) % args.vocab_size


def rollout_loss(model, seq, p_own):
    model.reset_cache()
    loss = 0.0
    inp = seq[:, :1]
    for t in range(seq.size(1) - 1):
        logits = model(inp, t)
        loss = loss + F.cross_entropy(logits, seq[:, t + 1])
        own = logits.argmax(-1)
        use_own = torch.rand(seq.size(0)) < p_own
        inp = torch.where(use_own, own, seq[:, t + 1]).unsqueeze(1)
    return loss / (seq.size(1) - 1)


def main():
    torch.manual_seed(1)
    args = ModelArgs()
    model = Transformer(args)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(6):
        loss = rollout_loss(model, batch(args), p_own=0.1 * step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.6f}")


if __name__ == "__main__":
    main()
