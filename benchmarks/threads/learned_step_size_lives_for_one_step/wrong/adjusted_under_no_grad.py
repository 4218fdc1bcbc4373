# %% [markdown]
# # Gradient descent that learns its own step sizes
# every parameter group has an alpha, and alpha is itself descended ("the ultimate optimizer", SGD on top of SGD).
# No torch.optim in here, everything by hand.

# %%
import math
import torch
import torch.nn.functional as F
torch.manual_seed(42)

# %%
class Optimizable:
    """things whose tensors an optimizer can replace"""
    def __init__(self, parameters, optimizer):
        self.parameters = parameters       # name -> tensor
        self.optimizer = optimizer
        self.all_params_with_gradients = []

    def initialize(self):
        pass

    def begin(self):
        for p in self.all_params_with_gradients:
            p.grad = None
        self.all_params_with_gradients = []
        for name, param in self.parameters.items():
            param.requires_grad_()
            param.retain_grad()
            self.all_params_with_gradients.append(param)
        self.optimizer.begin()

    def zero_grad(self):
        for p in self.all_params_with_gradients: p.grad = None
        self.optimizer.zero_grad()

# %%
class NoOpOptimizer(Optimizable):
    def __init__(self): pass
    def begin(self): pass
    def zero_grad(self): pass
    def adjust(self, params): pass
    def __str__(self): return "static"

class SGD(Optimizable):
    def __init__(self, alpha=0.01, optimizer=None):
        super().__init__({'alpha': torch.tensor(alpha)}, optimizer or NoOpOptimizer())

    def adjust(self, params):
        self.optimizer.adjust(self.parameters)
        for name, param in params.items():
            if param.grad is None: continue        # nothing to do
            g = param.grad.detach()
            p = param
            params[name] = p - g * self.parameters['alpha']

    def __str__(self):
        return 'sgd(%s, alpha=%.6f)' % (self.optimizer, self.parameters['alpha'].item())

# %%
class SpiralNet(Optimizable):
    def __init__(self, n_hid, optimizer):
        s = lambda i, o: torch.randn(i, o) / math.sqrt(i)
        super().__init__({'w1': s(2, n_hid), 'b1': torch.zeros(n_hid),
                          'w2': s(n_hid, n_hid), 'b2': torch.zeros(n_hid),
                          'w3': s(n_hid, 3), 'b3': torch.zeros(3)}, optimizer)

    def forward(self, x):
        q = self.parameters
        x = torch.tanh(x @ q['w1'] + q['b1'])
        x = torch.tanh(x @ q['w2'] + q['b2'])
        return F.log_softmax(x @ q['w3'] + q['b3'], dim=1)

    def adjust(self):
        self.optimizer.adjust(self.parameters)

    def __str__(self): return 'net / ' + str(self.optimizer)

# %%
def spirals(n=150):
    k = torch.arange(n) % 3
    r = torch.linspace(0.1, 1, n)
    t = r * 4 + k * 2 * math.pi / 3 + 0.1 * torch.randn(n)
    return torch.stack([r * t.sin(), r * t.cos()], 1) * 2, k

X, Y = spirals()
BATCH = 50

# %% training
model = SpiralNet(16, SGD(alpha=0.1, optimizer=SGD(alpha=0.02)))
model.initialize()
history = []
for epoch in range(4):
    running = 0.
    perm = torch.randperm(len(X))
    for idx in perm.split(BATCH):
        model.begin()
        loss = F.nll_loss(model.forward(X[idx]), Y[idx])
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            model.adjust()
        running += loss.item() * len(idx)
    history.append(running / len(X))
    print(f"epoch {epoch:2d}  loss {history[-1]:.6f}   {model}")

# %%
acc = (model.forward(X).argmax(1) == Y).float().mean()
norms = {k: round(v.norm().item(), 5) for k, v in model.parameters.items()}
print('acc', round(acc.item(), 4), norms)
