import torch
from torch import nn
from torch.nn import functional as F


class Trainer:
    def __init__(self, max_steps):
        self.max_steps = max_steps

    def fit(self, module, batches):
        opt = module.configure_optimizers()
        module.on_train_epoch_start()
        for i, batch in zip(range(self.max_steps), batches):
            loss = module.training_step(batch, i)
            opt.zero_grad()
            loss.backward()
            opt.step()
        return loss


class LanguageModel(nn.Module):
    def __init__(self, vocab=10, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnns = nn.ModuleDict({"low": nn.LSTM(dim, dim), "high": nn.LSTM(dim, dim)})
        self.out = nn.Linear(dim, vocab)
        self.previous_hidden = None  # cache

    def on_train_epoch_start(self):
        self.previous_hidden = {name: None for name in self.rnns}

    def forward(self, text, hidden):
        x, new = self.embed(text), {}
        for name, rnn in self.rnns.items():
            x, new[name] = rnn(x, hidden[name])
        return self.out(x), new

    def training_step(self, batch, batch_idx):
        text, target = batch
        self.on_train_epoch_start()
        output, hidden = self(text, self.previous_hidden)
        self.previous_hidden = hidden
        return F.cross_entropy(output.flatten(0, 1), target.flatten())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=8e-3)


def chunks(n=6, length=5):
    g = torch.Generator().manual_seed(655)
    stream = torch.randint(0, 10, (n * length + 1, 3), generator=g).cumsum(0) % 10
    for i in range(0, n * length, length):
        yield stream[i:i + length], stream[i + 1:i + length + 1]


torch.manual_seed(655)
module = LanguageModel()
loss = Trainer(6).fit(module, chunks())
print(f"{loss.item():.6f} {module.previous_hidden['high'][1].norm().item():.6f}")
