# -*- coding: utf-8 -*-
"""Relleno de huecos en mapas de humedad del suelo con una GAN condicional (datos sintéticos)."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(21)
TAM = 12          # lado del mapa
LOTE = 8
PASOS = 16


def mapas(n, gen):
    """Campos suaves: ruido filtrado y normalizado a [-1, 1]."""
    ruido = torch.rand(n, 1, TAM + 4, TAM + 4, generator=gen)
    campo = F.avg_pool2d(ruido, 5, stride=1)
    campo = campo - campo.mean((2, 3), keepdim=True)
    return campo / campo.abs().amax((2, 3), keepdim=True)


def huecos(n, gen):
    """Un rectángulo sin observaciones por mapa (1 = observado)."""
    m = torch.ones(n, 1, TAM, TAM)
    for k in range(n):
        i, j = torch.randint(1, TAM - 5, (2,), generator=gen).tolist()
        m[k, :, i:i + 4, j:j + 4] = 0
    return m


class Generador(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.red = nn.Sequential(
            nn.Conv2d(2, c, 3, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(c, c, 3, padding=2, dilation=2), nn.LeakyReLU(0.2),
            nn.Conv2d(c, 1, 3, padding=1), nn.Tanh())

    def forward(self, mapa, mascara):
        return self.red(torch.cat([mapa * mascara, mascara], 1))


class Discriminador(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.red = nn.Sequential(
            nn.Conv2d(1, c, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(c, c, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(c * 9, 1))

    def forward(self, x):
        return self.red(x)


class Entrenador:
    def __init__(self, peso_l1=5.0):
        self.G, self.D = Generador(), Discriminador()
        self.opt_G = torch.optim.SGD(self.G.parameters(), lr=0.05, momentum=0.5)
        self.opt_D = torch.optim.SGD(self.D.parameters(), lr=0.05, momentum=0.5)
        self.bce = nn.BCEWithLogitsLoss()
        self.peso_l1 = peso_l1

    def paso(self, mapa, mascara):
        self.opt_G.zero_grad()
        self.opt_D.zero_grad()
        falso = self.G(mapa, mascara)

        # --- discriminador: el generador no se entrena en este paso
        falso.requires_grad = False
        d_real, d_falso = self.D(mapa), self.D(falso)
        perdida_D = 0.5 * (self.bce(d_real, torch.ones_like(d_real)) + self.bce(d_falso, torch.zeros_like(d_falso)))
        perdida_D.backward()
        self.opt_D.step()

        # --- generador: engañar a D y reconstruir lo que falta
        falso.requires_grad = True
        d_falso = self.D(falso)
        adv = self.bce(d_falso, torch.ones_like(d_falso))
        rec = F.l1_loss(falso, mapa)
        perdida_G = adv + self.peso_l1 * rec
        perdida_G.backward()
        self.opt_G.step()
        return perdida_D.item(), adv.item(), rec.item()


def main():
    gen = torch.Generator().manual_seed(4)
    entrenador = Entrenador()
    for paso in range(PASOS):
        mapa, mascara = mapas(LOTE, gen), huecos(LOTE, gen)
        d, adv, rec = entrenador.paso(mapa, mascara)
        if paso % 5 == 0:
            print(f'paso {paso:2d}  D {d:.6f}  adv {adv:.6f}  L1 {rec:.6f}')
    mapa, mascara = mapas(32, gen), huecos(32, gen)
    with torch.no_grad():
        error = ((entrenador.G(mapa, mascara) - mapa).abs() * (1 - mascara)).sum() / (1 - mascara).sum()
    print(f'error medio en los huecos: {error.item():.6f}')


if __name__ == '__main__':
    main()
