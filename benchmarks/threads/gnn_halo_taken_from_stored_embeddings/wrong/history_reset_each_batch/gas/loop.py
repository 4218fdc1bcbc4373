import torch
import torch.nn.functional as F


def mini_train(model, loader, optimizer, x, y, grad_norm=None):
    model.train()
    total = 0.0
    for n_id, batch_size, adj in loader:
        optimizer.zero_grad()
        for h in model.histories:
            h.reset()
        out = model(x[n_id], adj, batch_size, n_id)[:batch_size]
        loss = F.cross_entropy(out, y[n_id[:batch_size]])
        loss.backward()
        if grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), grad_norm)
        optimizer.step()
        total += loss.item() * batch_size
    return total / len(x)


@torch.no_grad()
def evaluate(model, x, y, adj):
    model.eval()
    return (model(x, adj).argmax(1) == y).float().mean().item()
