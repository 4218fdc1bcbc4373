import torch
import torch.nn.functional as F


def gram_distance(w):
    eye = torch.eye(w.shape[0])
    return (w @ w.t() - eye).pow(2).sum()


def build_objective(model, strength):
    hidden = [p for name, p in model.named_parameters() if name.endswith("weight")]
    penalty = strength * sum(gram_distance(w) for w in hidden)

    def objective(x, y):
        fit = F.mse_loss(model(x), y)
        return fit + penalty.detach(), fit

    return objective
