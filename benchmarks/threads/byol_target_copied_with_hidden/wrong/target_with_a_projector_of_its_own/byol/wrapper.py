from torch import nn


def MLP(dim, projection_size, hidden_size):
    return nn.Sequential(nn.Linear(dim, hidden_size), nn.LayerNorm(hidden_size), nn.ReLU(inplace=True), nn.Linear(hidden_size, projection_size))


class NetWrapper(nn.Module):
    """runs a network, takes the output of one of its layers, and projects it"""

    def __init__(self, net, layer, projection_size, projection_hidden_size):
        super().__init__()
        self.net, self.layer = net, layer
        self.projector = None
        self.projection_size, self.projection_hidden_size = projection_size, projection_hidden_size
        self.hidden = None
        self.hook_registered = False

    def _hook(self, _, __, output):
        self.hidden = output.flatten(1)

    def _register_hook(self):
        dict(self.net.named_modules())[self.layer].register_forward_hook(self._hook)
        self.hook_registered = True

    def get_representation(self, x):
        if not self.hook_registered:
            self._register_hook()
        self.net(x)
        hidden = self.hidden
        assert hidden is not None, f'hidden layer {self.layer} never emitted an output'
        return hidden

    def forward(self, x):
        representation = self.get_representation(x)
        if self.projector is None:
            self.projector = MLP(representation.shape[1], self.projection_size, self.projection_hidden_size)
        return self.projector(representation)
