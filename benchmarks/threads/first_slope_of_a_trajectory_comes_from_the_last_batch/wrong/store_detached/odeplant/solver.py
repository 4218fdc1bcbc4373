import torch


class BogackiShampine:
    """Explicit Runge-Kutta 3(2), fixed grid, with the error estimate of the embedded method.

    FSAL: la última etapa de un paso es la primera del siguiente, así que un paso cuesta
    tres evaluaciones del campo en lugar de cuatro.
    """

    def __init__(self, func, substeps=2):
        self.func = func
        self.substeps = substeps
        self._slope = None
        self.local_error = 0.0

    def _step(self, t, y, dt):
        k1 = self._slope if self._slope is not None else self.func(t, y)
        k2 = self.func(t + dt / 2, y + dt / 2 * k1)
        k3 = self.func(t + 3 * dt / 4, y + 3 * dt / 4 * k2)
        y_next = y + dt * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
        k4 = self.func(t + dt, y_next)
        self._slope = k4.detach()

        # diferencia con la solución de orden 2
        err = dt * (-5 / 72 * k1 + 1 / 12 * k2 + 1 / 9 * k3 - 1 / 8 * k4)
        self.local_error = self.local_error + err.abs().mean()
        return y_next

    def integrate(self, y0, times):
        """y0 [B, D], times [T] -> [T, B, D]"""
        self.local_error = 0.0
        ys = [y0]
        y = y0
        for t0, t1 in zip(times[:-1], times[1:]):
            dt = (t1 - t0) / self.substeps
            for i in range(self.substeps):
                y = self._step(t0 + i * dt, y, dt)
            ys.append(y)
        return torch.stack(ys)
