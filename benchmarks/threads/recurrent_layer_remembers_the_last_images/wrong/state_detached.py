# -*- coding: utf-8 -*-
# Clasificador de dígitos leyendo cada imagen fila por fila con una capa RG-LRU (al estilo de RecurrentGemma)
import argparse
import math

import torch
from torch import nn
import torch.nn.functional as F


def hacer_digitos(n, gen):
    """Imágenes de 8x8: una plantilla por clase más ruido, en vez de MNIST."""
    plantillas = torch.randn(10, 8, 8, generator=torch.Generator().manual_seed(123))
    clases = torch.randint(0, 10, (n,), generator=gen)
    imagenes = plantillas[clases] + 0.4 * torch.randn(n, 8, 8, generator=gen)
    return imagenes, clases


class RgLru(nn.Module):
    """Real-Gated Linear Recurrent Unit, con su estado guardado para poder generar paso a paso."""

    def __init__(self, ancho, cabezas=2):
        super().__init__()
        self.cabezas = cabezas
        self.bloque = ancho // cabezas
        self.recurrent_param = nn.Parameter(torch.linspace(-4.0, -1.0, ancho))
        self.input_gate_weight = nn.Parameter(torch.randn(cabezas, self.bloque, self.bloque) / math.sqrt(self.bloque))
        self.input_gate_bias = nn.Parameter(torch.zeros(cabezas, self.bloque))
        self.recurrent_gate_weight = nn.Parameter(
            torch.randn(cabezas, self.bloque, self.bloque) / math.sqrt(self.bloque))
        self.recurrent_gate_bias = nn.Parameter(torch.zeros(cabezas, self.bloque))
        self.recurrent_states = None

    def puerta(self, x, peso, sesgo):
        b, t, _ = x.shape
        y = torch.einsum("bthi,hij->bthj", x.view(b, t, self.cabezas, self.bloque), peso) + sesgo
        return torch.sigmoid(y).reshape(b, t, -1)

    def forward(self, x):
        entrada = self.puerta(x, self.input_gate_weight, self.input_gate_bias)
        recurrente = self.puerta(x, self.recurrent_gate_weight, self.recurrent_gate_bias)
        log_a = -8.0 * recurrente * F.softplus(self.recurrent_param)
        a = log_a.exp()
        x = x * entrada * (1 - (2 * log_a).exp()).clamp(min=1e-6).sqrt()

        if self.recurrent_states is None:
            self.recurrent_states = torch.zeros_like(x[:, 0])
        self.recurrent_states = self.recurrent_states.detach()
        salidas = []
        for t in range(x.shape[1]):
            self.recurrent_states = a[:, t] * self.recurrent_states + x[:, t]
            salidas.append(self.recurrent_states)
        return torch.stack(salidas, dim=1)


class Clasificador(nn.Module):
    def __init__(self, ancho):
        super().__init__()
        self.entrada = nn.Linear(8, ancho)
        self.rglru = RgLru(ancho)
        self.salida = nn.Linear(ancho, 10)

    def forward(self, imagenes):
        h = torch.tanh(self.entrada(imagenes))   # (lote, filas, ancho)
        h = self.rglru(h)
        return self.salida(h[:, -1])


def evaluar(modelo, imagenes, clases, lote):
    modelo.eval()
    aciertos = 0
    with torch.no_grad():
        for x, y in zip(imagenes.split(lote), clases.split(lote)):
            aciertos += (modelo(x).argmax(1) == y).sum().item()
    return aciertos / len(clases)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epocas", type=int, default=3)
    p.add_argument("--lote", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-2)
    args = p.parse_args()

    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(7)
    x_entreno, y_entreno = hacer_digitos(256, gen)
    x_prueba, y_prueba = hacer_digitos(128, gen)

    modelo = Clasificador(ancho=16)
    optimizador = torch.optim.AdamW(modelo.parameters(), lr=args.lr)

    for epoca in range(args.epocas):
        modelo.train()
        orden = torch.randperm(len(x_entreno), generator=gen)
        suma = 0.0
        for indices in orden.split(args.lote):
            optimizador.zero_grad()
            perdida = F.cross_entropy(modelo(x_entreno[indices]), y_entreno[indices])
            perdida.backward()
            optimizador.step()
            suma += perdida.item()
        exactitud = evaluar(modelo, x_prueba, y_prueba, args.lote)
        print(f"época {epoca}: pérdida {suma / 8:.5f}, exactitud {exactitud:.4f}")


if __name__ == "__main__":
    main()
