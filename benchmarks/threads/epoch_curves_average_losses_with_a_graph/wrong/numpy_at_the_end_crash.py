"""
Melody VAE: encodes 16-step melodies with their chords and decodes both.
The training code follows the Lightning way of doing things, without the dependency.
"""
from collections import defaultdict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

N_NOTES, N_CHORDS, STEPS = 12, 7, 16
SCALE = [0, 2, 4, 5, 7, 9, 11]


class Melodies(Dataset):
    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        self.items = []
        for _ in range(n):
            chords = np.repeat(rng.choice([0, 3, 4, 5], size=4), 4)
            degrees = (chords + rng.choice([0, 2, 4], size=STEPS, p=[.5, .3, .2])) % 7
            notes = np.array(SCALE)[degrees]
            self.items.append((torch.from_numpy(notes), torch.from_numpy(chords), float(rng.rand() < 0.5)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class LightModule(nn.Module):
    """What the trainer expects of a model."""

    trainer = None

    def training_step(self, batch, batch_idx):
        raise NotImplementedError

    def validation_step(self, batch, batch_idx):
        raise NotImplementedError

    def configure_optimizers(self):
        raise NotImplementedError

    def log_dict(self, values):
        self.trainer.record(values)


class MelodyVAE(LightModule):
    def __init__(self, hidden=48, latent=8, kl_weight=0.05):
        super().__init__()
        self.note_emb = nn.Embedding(N_NOTES, 12)
        self.chord_emb = nn.Embedding(N_CHORDS, 8)
        self.encoder = nn.GRU(20, hidden, batch_first=True)
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.expand = nn.Linear(latent, hidden)
        self.decoder = nn.GRU(hidden, hidden, batch_first=True)
        self.note_head = nn.Linear(hidden, N_NOTES)
        self.chord_head = nn.Linear(hidden, N_CHORDS)
        self.mode_head = nn.Linear(latent, 1)
        self.kl_weight = kl_weight

    def forward(self, notes, chords):
        x = torch.cat([self.note_emb(notes), self.chord_emb(chords)], dim=-1)
        _, h = self.encoder(x)
        mu, logvar = self.mu(h[-1]), self.logvar(h[-1])
        z = mu
        if self.training:
            z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        steps = torch.tanh(self.expand(z)).unsqueeze(1).repeat(1, STEPS, 1)
        out, _ = self.decoder(steps)
        return self.note_head(out), self.chord_head(out), self.mode_head(z).squeeze(1), mu, logvar

    def losses(self, batch):
        notes, chords, mode = batch
        note_out, chord_out, mode_out, mu, logvar = self(notes, chords)
        melody = F.cross_entropy(note_out.flatten(0, 1), notes.flatten())
        chord = F.cross_entropy(chord_out.flatten(0, 1), chords.flatten())
        mode = F.binary_cross_entropy_with_logits(mode_out, mode.float())
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        total = melody + chord + 0.2 * mode + self.kl_weight * kl
        return {'loss': total, 'melody': melody, 'chord': chord, 'mode': mode, 'kl': kl}

    def training_step(self, batch, batch_idx):
        losses = self.losses(batch)
        self.log_dict(losses)
        return losses['loss']

    def validation_step(self, batch, batch_idx):
        self.log_dict(self.losses(batch))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=4e-3)


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs
        self.curves = defaultdict(list)
        self.stage = None

    def record(self, values):
        for name, value in values.items():
            self.epoch_values[self.stage + '_' + name].append(value)

    def fit(self, model, train_loader, val_loader):
        model.trainer = self
        optimizer = model.configure_optimizers()
        for epoch in range(self.max_epochs):
            self.epoch_values = defaultdict(list)

            self.stage = 'val'
            model.eval()
            with torch.no_grad():
                for i, batch in enumerate(val_loader):
                    model.validation_step(batch, i)

            self.stage = 'train'
            model.train()
            for i, batch in enumerate(train_loader):
                optimizer.zero_grad()
                loss = model.training_step(batch, i)
                loss.backward()
                optimizer.step()

            for name, values in self.epoch_values.items():
                self.curves[name].append(np.mean([v.numpy() for v in values]))
            print('epoch %d  train %.4f  val %.4f  kl %.4f' % (
                epoch, self.curves['train_loss'][-1], self.curves['val_loss'][-1],
                self.curves['train_kl'][-1]))


if __name__ == '__main__':
    torch.manual_seed(0)
    train_loader = DataLoader(Melodies(128, 0), batch_size=16, shuffle=True)
    val_loader = DataLoader(Melodies(32, 1), batch_size=16)
    trainer = Trainer(max_epochs=4)
    trainer.fit(MelodyVAE(), train_loader, val_loader)
    best = int(np.argmin(trainer.curves['val_loss']))
    print('best epoch', best, 'melody %.4f chord %.4f' % (
        trainer.curves['val_melody'][best], trainer.curves['val_chord'][best]))
