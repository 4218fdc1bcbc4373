"""A character language model with a carried hidden state."""

import torch
import torch.nn as nn

TEXT = "the quick brown fox jumps over the lazy dog. " * 40


class CharLM(nn.Module):
    def __init__(self, vocab, hidden=32, layers=1):
        super().__init__()
        self.hidden, self.layers = hidden, layers
        self.embed = nn.Embedding(vocab, hidden)
        self.lstm = nn.LSTM(hidden, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, x, state):
        out, state = self.lstm(self.embed(x), state)
        return self.head(out), state

    def init_state(self, batch):
        zeros = torch.zeros(self.layers, batch, self.hidden)
        return zeros, zeros.clone()


def batches(ids, batch, window):
    ids = ids[: len(ids) // batch * batch].view(batch, -1)
    for i in range(0, ids.size(1) - window - 1, window):
        yield ids[:, i : i + window], ids[:, i + 1 : i + 1 + window]


def train():
    torch.manual_seed(0)
    chars = sorted(set(TEXT))
    ids = torch.tensor([chars.index(c) for c in TEXT])
    model = CharLM(len(chars))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        state = model.init_state(4)
        total = 0.0
        for x, y in batches(ids, 4, 16):
            optimizer.zero_grad()
            logits, state = model(x, state)
            loss = criterion(logits.reshape(-1, len(chars)), y.reshape(-1))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total:.3f}")


if __name__ == "__main__":
    train()
