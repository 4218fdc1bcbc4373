"""Fused optimizer: every parameter has its own optimizer, which steps as soon as the gradient has been accumulated."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TinyLM(nn.Module):
    def __init__(self, vocab=20, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab)
        self.tag_head = nn.Linear(dim, 3)

    def forward(self, ids):
        h, _ = self.rnn(self.emb(ids))
        return self.lm_head(h), self.tag_head(h)


class FusedStep:
    def __init__(self, model, make):
        self.optimizers = {p: make([p]) for p in model.parameters()}
        self.handles = [p.register_post_accumulate_grad_hook(self.hook) for p in self.optimizers]
        self.count = 0

    def hook(self, param):
        self.optimizers[param].step()
        self.optimizers[param].zero_grad()
        self.count += 1


class Trainer:
    def __init__(self, model, lr, aux_weight):
        self.model = model
        self.aux_weight = aux_weight
        self.fused = FusedStep(model, lambda ps: torch.optim.Adam(ps, lr=lr))

    def training_step(self, ids, tags):
        lm_logits, tag_logits = self.model(ids[:, :-1])
        lm_loss = F.cross_entropy(lm_logits.flatten(0, 1), ids[:, 1:].flatten())
        tag_loss = self.aux_weight * F.cross_entropy(tag_logits.flatten(0, 1), tags[:, :-1].flatten())
        lm_loss.backward()
        _, tag_logits = self.model(ids[:, :-1])
        tag_loss = self.aux_weight * F.cross_entropy(tag_logits.flatten(0, 1), tags[:, :-1].flatten())
        tag_loss.backward()
        return lm_loss.item(), tag_loss.item()


def sample(gen, batch=12, length=9, vocab=20):
    start = torch.randint(0, vocab, (batch, 1), generator=gen)
    ids = (start + 3 * torch.arange(length)) % vocab
    return ids, ids % 3


def main():
    torch.manual_seed(0)
    trainer = Trainer(TinyLM(), lr=1e-2, aux_weight=0.7)
    gen = torch.Generator().manual_seed(1)
    for it in range(8):
        lm, tag = trainer.training_step(*sample(gen))
        if it % 2 == 0:
            print('%d lm %.6f tag %.6f' % (it, lm, tag))
    print('hook calls', trainer.fused.count)


if __name__ == '__main__':
    main()
