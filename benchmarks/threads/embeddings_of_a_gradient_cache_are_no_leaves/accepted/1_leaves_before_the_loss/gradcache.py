"""A step over a batch that does not fit into memory (after Gao et al., 2021)."""
import torch


class GradCacheStep:
    def __init__(self, towers, chunk, loss_fn):
        self.towers, self.chunk, self.loss_fn = towers, chunk, loss_fn

    def embed_all(self, tower, ids):
        """First pass: representations of the whole batch, without activations."""
        with torch.no_grad():
            return torch.cat([tower(part) for part in ids.split(self.chunk)])

    def build_cache(self, reps):
        """Gradients of the loss of the whole batch with respect to the representations."""
        for r in reps:
            r.requires_grad_()
        loss = self.loss_fn(*reps)
        loss.backward()
        return [r.grad for r in reps], loss.detach()

    def push_back(self, tower, ids, cache):
        """Second pass: chunk by chunk, with activations."""
        for part, grad in zip(ids.split(self.chunk), cache.split(self.chunk)):
            rep = tower(part)
            surrogate = (rep * grad).sum()
            surrogate.backward()

    def __call__(self, *inputs):
        reps = [self.embed_all(t, x) for t, x in zip(self.towers, inputs)]
        cache, loss = self.build_cache(reps)
        for tower, ids, grads in zip(self.towers, inputs, cache):
            self.push_back(tower, ids, grads)
        return loss
