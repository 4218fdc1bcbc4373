import numpy as np


class History:
    """keeps the losses and the coefficient of every epoch, tells when the coefficient does not move any more"""

    def __init__(self, window, tol):
        self.window, self.tol = window, tol
        self.data, self.pde, self.kappa = [], [], []

    def on_epoch_end(self, epoch, model, data_loss, pde_loss):
        self.data.append(data_loss.item())
        self.pde.append(pde_loss.item())
        self.kappa.append(model.kappa.numpy())

    def last(self):
        return self.data[-1], self.pde[-1], self.kappa[-1]

    def best(self):
        return self.kappa[int(np.argmin(self.data))]

    def converged(self):
        return len(self.kappa) >= self.window and np.ptp(self.kappa[-self.window:]) < self.tol
