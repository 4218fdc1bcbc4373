import torch


def fixed_point(params, hparams, K, fp_map, outer_loss):
    """Hypergradient at an (almost) fixed point: solves v = v J_w + dE/dw by K iterations.

    Accumulates into the .grad of the hyperparameters, returns the outer loss.
    """
    params = [w.detach().requires_grad_() for w in params]
    o_loss = outer_loss(params, hparams) + 0.01 * sum(h.pow(2).sum() for h in hparams)
    d_params = torch.autograd.grad(o_loss, params, retain_graph=True)
    direct = torch.autograd.grad(o_loss, hparams)

    mapped = fp_map(params, hparams)
    vs = [torch.zeros_like(w) for w in params]
    for _ in range(K):
        vjp = torch.autograd.grad(mapped, params, grad_outputs=vs, retain_graph=True)
        vs = [v + d for v, d in zip(vjp, d_params)]
    indirect = torch.autograd.grad(mapped, hparams, grad_outputs=vs)

    for h, a, b in zip(hparams, direct, indirect):
        g = a + b
        h.grad = g if h.grad is None else h.grad + g
    return o_loss.item()
