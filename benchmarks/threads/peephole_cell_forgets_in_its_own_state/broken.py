"""Lastprognose: sagt aus den letzten zwei Tagen den Stromverbrauch der naechsten sechs Stunden voraus."""
import math
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Konfig:
    verlauf: int = 48
    horizont: int = 6
    merkmale: int = 3
    versteckt: int = 24
    batch: int = 32
    epochen: int = 4
    lr: float = 5e-3
    seed: int = 11


def verbrauchsdaten(stunden, generator):
    """Tagesgang + Wochengang + Temperatur + Rauschen."""
    t = torch.arange(stunden, dtype=torch.float32)
    temperatur = 10 + 8 * torch.sin(2 * math.pi * t / (24 * 30)) + torch.randn(stunden, generator=generator)
    last = (50 + 15 * torch.sin(2 * math.pi * (t - 7) / 24) + 6 * torch.sin(2 * math.pi * t / 168)
            - 0.8 * temperatur + 2 * torch.randn(stunden, generator=generator))
    stunde = torch.cos(2 * math.pi * t / 24)
    daten = torch.stack([last, temperatur, stunde], dim=1)
    return (daten - daten.mean(0)) / daten.std(0)


def fenster(daten, cfg):
    xs, ys = [], []
    for s in range(0, len(daten) - cfg.verlauf - cfg.horizont, 3):
        xs.append(daten[s:s + cfg.verlauf])
        ys.append(daten[s + cfg.verlauf:s + cfg.verlauf + cfg.horizont, 0])
    return torch.stack(xs), torch.stack(ys)


class PeepholeZelle(nn.Module):
    """LSTM-Zelle mit Gucklochverbindungen, die nn.LSTM nicht kennt."""

    def __init__(self, ein, versteckt):
        super().__init__()
        self.x2h = nn.Linear(ein, 4 * versteckt)
        self.h2h = nn.Linear(versteckt, 4 * versteckt, bias=False)
        self.p_i = nn.Parameter(torch.zeros(versteckt))
        self.p_f = nn.Parameter(torch.zeros(versteckt))
        self.p_o = nn.Parameter(torch.zeros(versteckt))

    def forward(self, x, zustand):
        h, c = zustand
        i, f, g, o = (self.x2h(x) + self.h2h(h)).chunk(4, dim=1)
        i = torch.sigmoid(i + self.p_i * c)
        f = torch.sigmoid(f + self.p_f * c + 1.0)
        g = torch.tanh(g)
        # Zellzustand: vergessen, dann Neues aufnehmen
        c *= f
        c += i * g
        o = torch.sigmoid(o + self.p_o * c)
        h = o * torch.tanh(c)
        return h, c


class Prognosenetz(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.versteckt = cfg.versteckt
        self.zelle = PeepholeZelle(cfg.merkmale, cfg.versteckt)
        self.kopf = nn.Sequential(nn.Linear(cfg.versteckt, cfg.versteckt), nn.ReLU(),
                                  nn.Linear(cfg.versteckt, cfg.horizont))

    def forward(self, x):
        h = x.new_zeros(x.size(0), self.versteckt)
        c = x.new_zeros(x.size(0), self.versteckt)
        for t in range(x.size(1)):
            h, c = self.zelle(x[:, t], (h, c))
        return self.kopf(h)


def trainiere(netz, x, y, optimierer, cfg, generator):
    netz.train()
    summe = 0.0
    reihenfolge = torch.randperm(len(x), generator=generator)
    for idx in reihenfolge.split(cfg.batch):
        optimierer.zero_grad()
        vorhersage = netz(x[idx])
        verlust = nn.functional.smooth_l1_loss(vorhersage, y[idx])
        verlust.backward()
        nn.utils.clip_grad_norm_(netz.parameters(), 1.0)
        optimierer.step()
        summe += verlust.item() * len(idx)
    return summe / len(x)


@torch.no_grad()
def pruefe(netz, x, y):
    netz.eval()
    return (netz(x) - y).abs().mean().item()


def main():
    cfg = Konfig()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    x, y = fenster(verbrauchsdaten(900, gen), cfg)
    # zeitlich teilen: die letzten 20 % sind die Pruefmenge
    grenze = int(0.8 * len(x))
    netz = Prognosenetz(cfg)
    optimierer = torch.optim.Adam(netz.parameters(), lr=cfg.lr)
    for epoche in range(1, cfg.epochen + 1):
        verlust = trainiere(netz, x[:grenze], y[:grenze], optimierer, cfg, gen)
        mae = pruefe(netz, x[grenze:], y[grenze:])
        print(f'Epoche {epoche}: Verlust {verlust:.4f}, MAE {mae:.4f}')


if __name__ == '__main__':
    main()
