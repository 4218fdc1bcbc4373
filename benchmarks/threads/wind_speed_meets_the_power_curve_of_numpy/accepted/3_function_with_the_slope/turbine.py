import numpy as np
import torch


class _Interp(torch.autograd.Function):
    """np.interp with the slope of the segment as its derivative"""

    @staticmethod
    def forward(ctx, speed, xp, fp):
        x = speed.detach().numpy()
        k = np.clip(np.searchsorted(xp, x, side='right'), 1, len(xp) - 1) - 1
        slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
        ctx.save_for_backward(torch.from_numpy(slope).float())
        return torch.from_numpy(np.interp(x, xp, fp)).float()

    @staticmethod
    def backward(ctx, grad):
        slope, = ctx.saved_tensors
        return grad * slope, None, None


class PowerCurve:
    """power [MW] over wind speed [m/s], as printed in the data sheet of a 2 MW turbine"""

    speeds = np.array([0., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 25., 60.])
    powers = np.array([0., 0., .07, .16, .29, .47, .71, 1.01, 1.35, 1.68, 1.9, 2., 2., 2.])

    def __call__(self, speed):
        return _Interp.apply(speed, self.speeds, self.powers)

    def rated(self):
        return self.powers.max()
