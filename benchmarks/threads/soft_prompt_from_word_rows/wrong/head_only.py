# -*- coding: utf-8 -*-
"""Soft prompts for a toy sentence classifier.

Der Prompt startet von den Embeddings echter Woerter ("it was great") und wird dann frei gelernt; das Modell
selbst bleibt eingefroren, nur der Kopf (verbalizer) lernt mit.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = {w: i for i, w in enumerate("[pad] it was great bad the film plot actor boring fun long short nice poor".split())}
INIT_TEXT = "it was great"


class Encoder(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.embed = nn.Embedding(len(VOCAB), dim, padding_idx=0)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 24, dropout=0.0, batch_first=True)

    def forward(self, inputs_embeds):
        return self.layer(inputs_embeds)


class PromptTuner:
    def __init__(self, encoder, n_labels=2, lr=5e-2, lr_head=1e-2):
        self.encoder = encoder
        self.init_ids = torch.tensor([VOCAB[w] for w in INIT_TEXT.split()])
        self.prompt = self.encoder.embed.weight[self.init_ids].detach()
        self.head = nn.Linear(12, n_labels)
        self.freeze()
        self.optimizer = torch.optim.Adam(
            [{"params": list(self.head.parameters()), "lr": lr_head}]
        )

    def freeze(self):
        # everything but prompt and head; the word table too
        for p in self.encoder.layer.parameters():
            p.requires_grad_(False)

    def logits(self, ids):
        words = self.encoder.embed(ids).detach()
        prompt = self.prompt.unsqueeze(0).expand(ids.size(0), -1, -1)
        h = self.encoder(torch.cat([prompt, words], dim=1))
        return self.head(h[:, : prompt.size(1)].mean(1))

    def train_step(self, ids, y):
        loss = F.cross_entropy(self.logits(ids), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def nearest_words(self):
        words = list(VOCAB)
        sim = F.normalize(self.prompt.detach(), dim=1) @ F.normalize(self.encoder.embed.weight.detach(), dim=1).t()
        return [words[i] for i in sim.argmax(1).tolist()]


def reviews(n):
    ids = torch.randint(5, len(VOCAB), (n, 5))
    pos = torch.isin(ids, torch.tensor([VOCAB["fun"], VOCAB["nice"], VOCAB["short"]])).sum(1)
    return ids, (pos > 0).long()


def main(steps=8):
    torch.manual_seed(17)
    tuner = PromptTuner(Encoder())
    for i in range(steps):
        ids, y = reviews(10)
        print("step", i, "loss %.6f" % tuner.train_step(ids, y))
    drift = (tuner.prompt - tuner.encoder.embed.weight[tuner.init_ids]).norm()
    print("drift from the words %.6f" % drift.item(), tuner.nearest_words())


if __name__ == "__main__":
    main()
