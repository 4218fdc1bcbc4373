import torch


def table_saliency(logits, table, labels):
    """Input-times-gradient attribution of the true class to every cell of the symbolic table."""
    score = logits.gather(1, labels[:, None]).sum()
    grads = torch.autograd.grad(score, table, create_graph=True)[0]
    return (grads * table).detach()


def right_reasons(saliency, forbidden):
    return (saliency * forbidden).pow(2).sum(dim=(1, 2)).mean()
