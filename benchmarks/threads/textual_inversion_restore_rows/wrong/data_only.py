"""Textual inversion, toy text encoder: only the row of the new token <toy> may change.

AdamW decays every row of the table (weight decay), so zeroing the other gradients is not enough; we put the original
rows back after each step, like the diffusers example does.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tokenizer:
    def __init__(self, words):
        self.vocab = {w: i for i, w in enumerate(words)}

    def add(self, word):
        self.vocab[word] = len(self.vocab)
        return self.vocab[word]

    def __call__(self, text):
        return torch.tensor([self.vocab[w] for w in text.split()])

    def __len__(self):
        return len(self.vocab)


class TextEncoder(nn.Module):
    def __init__(self, vocab, dim=12):
        super().__init__()
        self.token = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.norm = nn.LayerNorm(dim)

    def resize(self, n):
        old = self.token
        self.token = nn.Embedding(n, old.embedding_dim)
        self.token.weight.data[:old.num_embeddings] = old.weight.data
        return self.token

    def forward(self, ids):
        return self.norm(self.rnn(self.token(ids))[0][:, -1])


class Denoiser(nn.Module):
    def __init__(self, dim=12, pixels=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(pixels + dim + 1, 32), nn.SiLU(), nn.Linear(32, pixels))

    def forward(self, x, t, cond):
        return self.net(torch.cat([x, t, cond], dim=-1))


TEMPLATES = ["a photo of a {}", "a rendering of a {}", "the {}", "a photo of the {}"]
WORDS = "a the photo rendering of cat dog cube".split()


def freeze(*modules):
    for m in modules:
        for p in m.parameters():
            p.requires_grad_(False)


def noisy(images):
    t = torch.rand(len(images), 1)
    eps = torch.randn_like(images)
    return torch.sqrt(1 - t) * images + torch.sqrt(t) * eps, t, eps


def main(placeholder="<toy>", initializer="cube", steps=8):
    torch.manual_seed(77)
    tok = Tokenizer(WORDS)
    text, unet = TextEncoder(len(tok)), Denoiser()
    images = torch.randn(6, 16) * 0.3 + torch.linspace(-1, 1, 16)

    new_id = tok.add(placeholder)
    emb = text.resize(len(tok))
    emb.weight.data[new_id] = emb.weight.data[tok.vocab[initializer]]
    freeze(unet, text.rnn, text.norm)

    keep = torch.ones(len(tok), dtype=torch.bool)
    keep[new_id] = False
    original = emb.weight.detach()
    opt = torch.optim.AdamW(emb.parameters(), lr=5e-2, weight_decay=1e-1)

    for step in range(steps):
        prompt = TEMPLATES[step % len(TEMPLATES)].format(placeholder)
        pick = torch.randperm(len(images))[:4]
        x, t, eps = noisy(images[pick])
        cond = text(tok(prompt).expand(len(pick), -1))
        loss = F.mse_loss(unet(x, t, cond), eps)
        opt.zero_grad()
        loss.backward()
        opt.step()
        emb.weight.data[keep] = original[keep]
        print(f"{step} {loss.item():.5f}")
    print(f"learned {emb.weight[new_id].norm().item():.5f}")
    print(f"others {emb.weight[keep].norm().item():.5f}")


if __name__ == "__main__":
    main()
