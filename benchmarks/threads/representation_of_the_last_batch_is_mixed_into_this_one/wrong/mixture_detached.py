# -*- coding: utf-8 -*-
"""
Clasificador de cantos de aves a partir de espectrogramas log-mel (datos simulados).

Con tan pocas grabaciones por especie usamos "manifold mixup": las representaciones ocultas de cada
lote se mezclan con las del lote anterior (así caben especies que no coinciden en un mismo lote).
"""
import argparse
import os
import tempfile

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

ESPECIES = ['mirlo', 'jilguero', 'ruiseñor', 'petirrojo', 'herrerillo']
MELS, CUADROS = 20, 32


def simular(n, semilla):
    """Cada especie: un trazo que sube o baja en frecuencia, con repeticiones."""
    rng = np.random.RandomState(semilla)
    X = 0.3 * rng.randn(n, MELS, CUADROS)
    y = rng.randint(0, len(ESPECIES), size=n)
    for i, c in enumerate(y):
        inicio, pendiente, periodo = 3 + 3 * c, (-1) ** c * 0.35, 6 + 2 * c
        fase = rng.randint(0, periodo)
        for t in range(CUADROS):
            paso = (t + fase) % periodo
            m = int(round(inicio + pendiente * paso + rng.randn() * 0.4))
            if 0 <= m < MELS and paso < 0.7 * periodo:
                X[i, m, t] += 1.5
    return torch.tensor(X, dtype=torch.float32).unsqueeze(1), torch.tensor(y)


class MezclaOculta:
    """Mezcla el lote actual con el anterior; guarda representaciones y etiquetas."""

    def __init__(self, alfa, rng):
        self.alfa = alfa
        self.rng = rng
        self.reiniciar()

    def reiniciar(self):
        self.h_prev = None
        self.y_prev = None

    def __call__(self, h, y):
        if self.h_prev is None or len(self.h_prev) != len(h):
            lam, mezcla, y_otro = 1.0, h, y
        else:
            lam = self.rng.beta(self.alfa, self.alfa)
            lam = max(lam, 1 - lam)          # domina siempre el lote actual
            mezcla = (lam * h + (1 - lam) * self.h_prev).detach()
            y_otro = self.y_prev
        self.h_prev = h
        self.y_prev = y
        return mezcla, y_otro, lam


class RedAves(nn.Module):
    def __init__(self, n_clases, ancho=8):
        super().__init__()
        self.tronco = nn.Sequential(
            nn.Conv2d(1, ancho, 3, padding=1), nn.BatchNorm2d(ancho), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(ancho, 2 * ancho, 3, padding=1), nn.BatchNorm2d(2 * ancho), nn.ReLU(), nn.MaxPool2d(2))
        self.cabeza = nn.Sequential(nn.Conv2d(2 * ancho, 2 * ancho, 3, padding=1), nn.ReLU(),
                                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * ancho, n_clases))

    def forward(self, x, y=None, mezclador=None):
        h = self.tronco(x)
        if mezclador is None:
            return self.cabeza(h)
        h, y_otro, lam = mezclador(h, y)
        return self.cabeza(h), y_otro, lam


def perdida(logits, y, y_otro, lam):
    return lam * F.cross_entropy(logits, y) + (1 - lam) * F.cross_entropy(logits, y_otro)


@torch.no_grad()
def evaluar(red, datos):
    red.eval()
    logits, y = [], []
    for xb, yb in datos:
        logits.append(red(xb))
        y.append(yb)
    logits, y = torch.cat(logits), torch.cat(y)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def entrenar(args):
    torch.manual_seed(args.semilla)
    entreno = DataLoader(TensorDataset(*simular(160, args.semilla)), batch_size=args.lote, shuffle=True, drop_last=True)
    prueba = DataLoader(TensorDataset(*simular(80, args.semilla + 1)), batch_size=40)

    red = RedAves(len(ESPECIES))
    opt = torch.optim.SGD(red.parameters(), lr=args.lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.lr, total_steps=args.epocas * len(entreno))
    mezclador = MezclaOculta(args.alfa, np.random.RandomState(args.semilla))

    mejor = 0.0
    with tempfile.TemporaryDirectory() as carpeta:
        for epoca in range(args.epocas):
            red.train()
            mezclador.reiniciar()
            suma = 0.0
            for xb, yb in entreno:
                logits, y_otro, lam = red(xb, yb, mezclador)
                loss = perdida(logits, yb, y_otro, lam)
                opt.zero_grad()
                loss.backward()
                opt.step()
                plan.step()
                suma += loss.item() / len(entreno)
            val, acierto = evaluar(red, prueba)
            print(f'época {epoca}: entrenamiento {suma:.6f}  prueba {val:.6f}  acierto {acierto:.4f}')
            if acierto >= mejor:
                mejor = acierto
                torch.save(red.state_dict(), os.path.join(carpeta, 'aves.pt'))
    print(f'mejor acierto {mejor:.4f}')


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--epocas', type=int, default=5)
    p.add_argument('--lote', type=int, default=20)
    p.add_argument('--lr', type=float, default=0.08)
    p.add_argument('--alfa', type=float, default=1.0)
    p.add_argument('--semilla', type=int, default=11)
    entrenar(p.parse_args())
