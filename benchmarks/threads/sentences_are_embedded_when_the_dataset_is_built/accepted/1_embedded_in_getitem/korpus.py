import random

import torch
import torch.nn as nn

GUT = 'gut schön toll prima herrlich'.split()
SCHLECHT = 'schlecht öde lahm mies furchtbar'.split()
REST = 'der die das film buch war ist sehr nicht und ich fand'.split()


def lade_vektoren(dim=10):
    woerter = {w: i for i, w in enumerate(GUT + SCHLECHT + REST)}
    vektoren = torch.randn(len(woerter), dim) * 0.4      # steht hier für die fastText-Datei
    return woerter, nn.Embedding.from_pretrained(vektoren, freeze=False)


def lade_saetze(woerter, n=48, laenge=7):
    rng = random.Random(9)
    saetze = []
    for _ in range(n):
        y = rng.randint(0, 1)
        satz = [rng.choice(REST) for _ in range(laenge - 2)] + rng.choices(GUT if y else SCHLECHT, k=2)
        rng.shuffle(satz)
        saetze.append((torch.tensor([woerter[w] for w in satz]), y))
    return saetze[:32], saetze[32:]
