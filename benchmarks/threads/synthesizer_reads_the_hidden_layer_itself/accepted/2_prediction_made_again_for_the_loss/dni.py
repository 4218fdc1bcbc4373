"""Decoupled Neural Interfaces (Jaderberg et al.) - backward interfaces only."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Synthesizer(nn.Module):
    """Predicts dL/dh from the activation h and (optionally) the label as context."""

    def __init__(self, size_h, n_hidden, context_dim=None):
        super().__init__()
        self.input_trigger = nn.Linear(size_h, n_hidden)
        self.input_context = nn.Linear(context_dim, n_hidden) if context_dim else None
        self.hidden = nn.Linear(n_hidden, n_hidden)
        self.output = nn.Linear(n_hidden, size_h)
        # start from a small prediction, as in section 4 of the paper
        nn.init.normal_(self.output.weight, std=1e-2)
        nn.init.zeros_(self.output.bias)

    def forward(self, trigger, context=None):
        last = self.input_trigger(trigger)
        if context is not None:
            last = last + self.input_context(context)
        last = torch.relu(self.hidden(torch.relu(last)))
        return self.output(last)


class BackwardInterface(nn.Module):
    """Sits between two modules; the lower one is trained by a synthetic gradient
    right away, the synthesizer is trained later by the one that arrives from above.
    """

    def __init__(self, synthesizer):
        super().__init__()
        self.synthesizer = synthesizer
        self.prediction = None
        self.received = None

    def forward(self, activation, context=None):
        # what will the gradient be?
        with torch.no_grad():
            self.prediction = self.synthesizer(activation, context)
        # update of everything below (accumulates into .grad)
        activation.backward(self.prediction)
        # the upper module starts from here
        self.received = activation.detach().requires_grad_()
        self.context = context
        return self.received

    def synthesizer_loss(self):
        prediction = self.synthesizer(self.received.detach(), self.context)
        return F.mse_loss(prediction, self.received.grad)
