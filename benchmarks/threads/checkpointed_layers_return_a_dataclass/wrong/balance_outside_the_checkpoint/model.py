from torch import nn
from torch.utils.checkpoint import checkpoint

from layers import Layer


class TinyLM(nn.Module):
    def __init__(self, vocab, dim, n_layers):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(Layer(dim) for _ in range(n_layers))
        self.head = nn.Linear(dim, vocab, bias=False)
        self.gradient_checkpointing = False

    def forward(self, tokens):
        x = self.embed(tokens)
        if self.gradient_checkpointing:
            x.requires_grad_(True)     # reentrant checkpointing wants an input with grad
        balance = 0.0
        for layer in self.layers:
            if self.gradient_checkpointing:
                out = checkpoint(layer, x, use_reentrant=True)
            else:
                out = layer(x)
            x = out.hidden
            gate = layer.router(x.detach()).softmax(-1)
            balance = balance + 2 * (gate.mean(dim=(0, 1)) ** 2).sum()
        return self.head(x), balance / len(self.layers)
