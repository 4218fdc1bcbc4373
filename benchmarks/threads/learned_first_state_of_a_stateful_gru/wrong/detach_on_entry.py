"""Stateful GRU language model, one long stream cut into windows (truncated BPTT); the initial state is learned."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
VOCAB, EMB, HIDDEN, STREAMS, WINDOW = 12, 12, 24, 4, 8


class StatefulGRU(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, EMB)
        self.gru = nn.GRU(EMB, HIDDEN, num_layers=layers, batch_first=True)
        self.out = nn.Linear(HIDDEN, VOCAB)
        self.h_init = nn.Parameter(0.1 * torch.randn(layers, 1, HIDDEN))
        self.hidden = None

    def reset_hidden(self, batch):
        """Every epoch starts at the beginning of the stream, from the learned state."""
        self.hidden = self.h_init.expand(-1, batch, -1).contiguous()

    def forward(self, tokens):
        y, self.hidden = self.gru(self.embed(tokens), self.hidden.detach())
        return self.out(y)


def make_stream(n):
    """A second-order pattern, so that the state matters."""
    seq = [1, 2]
    for _ in range(n - 2):
        nxt = (seq[-1] + 2 * seq[-2] + 1) % VOCAB
        if torch.rand(()) < 0.1:
            nxt = torch.randint(0, VOCAB, ()).item()
        seq.append(nxt)
    return torch.tensor(seq)


def batchify(stream):
    usable = (len(stream) - 1) // (STREAMS * WINDOW) * WINDOW * STREAMS
    x = stream[:usable].view(STREAMS, -1)
    y = stream[1 : usable + 1].view(STREAMS, -1)
    return x, y


def train_epoch(model, opt, x, y):
    model.train()
    model.reset_hidden(STREAMS)
    losses = []
    for i in range(0, x.shape[1], WINDOW):
        logits = model(x[:, i : i + WINDOW])
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), y[:, i : i + WINDOW].reshape(-1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def perplexity(model, x, y):
    model.eval()
    model.reset_hidden(STREAMS)
    total = 0.0
    for i in range(0, x.shape[1], WINDOW):
        logits = model(x[:, i : i + WINDOW])
        total += F.cross_entropy(logits.reshape(-1, VOCAB), y[:, i : i + WINDOW].reshape(-1), reduction="sum").item()
    return torch.tensor(total / x.numel()).exp().item()


def main():
    model = StatefulGRU()
    opt = torch.optim.SGD(model.parameters(), lr=1.0)
    x, y = batchify(make_stream(200))
    start = model.h_init.detach().clone()
    for epoch in range(4):
        losses = train_epoch(model, opt, x, y)
        moved = (model.h_init.detach() - start).norm().item()
        print(f"epoch {epoch} first {losses[0]:.4f} last {losses[-1]:.4f} ppl {perplexity(model, x, y):.3f} h_init moved {moved:.5f}")


if __name__ == "__main__":
    main()
