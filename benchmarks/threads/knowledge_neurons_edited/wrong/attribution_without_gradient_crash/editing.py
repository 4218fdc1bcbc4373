import torch


class KnowledgeEditor:
    """Writes a new target into the value vectors of knowledge neurons."""

    def __init__(self, model, erase=1.0, write=1.5):
        self.model, self.erase, self.write = model, erase, write

    def attribution(self, prompt, answer, steps=4):
        """Integrated gradients of the answer's probability by the activations of the last layer."""
        layer = self.model.layers[-1]
        with torch.no_grad():
            act = layer.activate(self.model.hidden(prompt, upto=-1))
        total = torch.zeros_like(act)
        for i in range(1, steps + 1):
            scaled = (act * i / steps).requires_grad_()
            prob = self.model.head(layer.combine(self.model.hidden(prompt, upto=-1), scaled)).softmax(-1)[:, answer]
            total += torch.autograd.grad(prob.sum(), scaled)[0]
        return (act * total / steps).mean(0)

    @torch.no_grad()
    def edit(self, prompt, old, new, top=3):
        neurons = self.attribution(prompt, old).topk(top).indices
        old_emb, new_emb = self.model.head.weight[old], self.model.head.weight[new]
        value = self.model.layers[-1].value
        for pos in neurons.tolist():
            value.weight[:, pos] -= self.erase * old_emb / old_emb.norm()
            value.weight[:, pos] += self.write * new_emb / new_emb.norm()
        return neurons
