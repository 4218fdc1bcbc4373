# -*- coding: utf-8 -*-
"""
Pronóstico de la demanda diaria con suavizado exponencial "aprendido".

El nivel y la tendencia se actualizan cada día (Holt), alfa y beta los da una red a partir del
calendario, y otra red corrige el pronóstico.  Se entrena en línea: un paso por día.
"""
import torch
from torch import nn

torch.manual_seed(7)


def generar_serie(dias=60):
    t = torch.arange(dias, dtype=torch.float32)
    semana = 0.6 * torch.sin(2 * torch.pi * t / 7)
    serie = 5.0 + 0.03 * t + semana + 0.15 * torch.randn(dias)
    # calendario: día de la semana codificado + fin de semana
    calendario = torch.stack([
        torch.sin(2 * torch.pi * t / 7),
        torch.cos(2 * torch.pi * t / 7),
        ((t % 7) >= 5).float(),
    ], dim=1)
    return serie, calendario


class Suavizador(nn.Module):
    def __init__(self, n_cal=3, oculto=12):
        super().__init__()
        self.pesos = nn.Sequential(nn.Linear(n_cal, oculto), nn.Tanh(), nn.Linear(oculto, 2))
        self.correccion = nn.Sequential(nn.Linear(n_cal + 2, oculto), nn.Tanh(), nn.Linear(oculto, 1))
        self.reiniciar(0.0)

    def reiniciar(self, y0):
        """empieza una serie nueva"""
        self.nivel = torch.tensor(float(y0))
        self.tendencia = torch.tensor(0.0)

    def forward(self, cal):
        """pronóstico para hoy, con lo que se sabía ayer"""
        base = self.nivel + self.tendencia
        ajuste = self.correccion(torch.cat([cal, self.nivel.view(1) / 10, self.tendencia.view(1)]))
        return base + ajuste.squeeze()

    def observar(self, y, cal):
        """llega el dato de hoy: se actualizan nivel y tendencia"""
        alfa, beta = torch.sigmoid(self.pesos(cal)).unbind()
        nivel = alfa * y + (1 - alfa) * (self.nivel + self.tendencia)
        self.tendencia = beta * (nivel - self.nivel) + (1 - beta) * self.tendencia
        self.nivel = nivel


class EntrenadorEnLinea:
    def __init__(self, modelo, lr=0.01):
        self.modelo = modelo
        self.opt = torch.optim.RMSprop(modelo.parameters(), lr=lr)
        self.errores = []

    def dia(self, y_ayer, cal_ayer, y_hoy, cal_hoy):
        # 1. se incorpora lo de ayer (aquí se usan alfa y beta)
        self.modelo.observar(y_ayer, cal_ayer)
        # 2. pronóstico y error de hoy
        pron = self.modelo(cal_hoy)
        perdida = (pron - y_hoy) ** 2
        # 3. un paso de gradiente por día: el gradiente llega solo hasta la
        #    actualización de ayer, el estado anterior es ya historia
        self.opt.zero_grad()
        perdida.backward()
        self.opt.step()
        self.modelo.nivel = self.modelo.nivel.detach()
        self.modelo.tendencia = self.modelo.tendencia.detach()
        self.errores.append(perdida.item())
        return pron.item()


def main():
    serie, calendario = generar_serie()
    modelo = Suavizador()
    entrenador = EntrenadorEnLinea(modelo)

    for vuelta in range(2):
        modelo.reiniciar(serie[0])
        entrenador.errores.clear()
        for d in range(1, 40):
            entrenador.dia(serie[d - 1], calendario[d - 1], serie[d], calendario[d])
        ecm = sum(entrenador.errores) / len(entrenador.errores)
        print(f"vuelta {vuelta}: ECM = {ecm:.5f}")

    # validación: los últimos días, sin entrenar
    with torch.no_grad():
        total = 0.0
        for d in range(40, len(serie)):
            modelo.observar(serie[d - 1], calendario[d - 1])
            total += (modelo(calendario[d]) - serie[d]).abs().item()
    print(f"error absoluto medio: {total / (len(serie) - 40):.5f}")


if __name__ == "__main__":
    main()
