import torch
import torch.nn.functional as F


def smoothness(d):
    return (d[..., 1:] - d[..., :-1]).abs().mean() + (d[..., 1:, :] - d[..., :-1, :]).abs().mean()


class Objective:
    def __init__(self, weights, smooth=0.1):
        self.weights = weights
        self.smooth = smooth

    def at_scale(self, pred, disp, weight):
        target = F.adaptive_avg_pool2d(disp, pred.shape[-2:])
        data = F.smooth_l1_loss(pred, target)
        return weight * (data + self.smooth * smoothness(pred))

    def __call__(self, pyramid, disp, terms=[]):
        # terms: 其他模块也可以先放进自己的损失 (others may have put theirs in before)
        for pred, w in zip(pyramid, self.weights):
            terms.append(self.at_scale(pred, disp, w))
        total = torch.stack(terms).mean()
        return total, {'total': total.item(), 'terms': len(terms), 'fine': terms[-3].item()}
