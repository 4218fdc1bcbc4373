import torch
import torch.nn as nn

torch.manual_seed(32)
text = "in the beginning the gradient was without form and void"
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
chunk_len = 9


class CharRNN(nn.Module):
    def __init__(self, n, hidden):
        super().__init__()
        self.hidden_size = hidden
        self.encoder = nn.Embedding(n, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.decoder = nn.Linear(hidden, n)

    def forward(self, inp, hidden):
        hidden = self.cell(self.encoder(inp), hidden)
        return self.decoder(hidden), hidden

    def init_hidden(self):
        return torch.zeros(1, self.hidden_size)


decoder = CharRNN(len(chars), 12)
decoder_optimizer = torch.optim.Adam(decoder.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()


def train(inp, target):
    hidden = decoder.init_hidden()
    decoder_optimizer.zero_grad()
    loss = 0

    for c in range(chunk_len):
        output, hidden = decoder(inp[c:c + 1], hidden)
        loss += criterion(output, target[c:c + 1])
    loss.backward()
    decoder_optimizer.step()

    return loss.item() / chunk_len


for epoch in range(5):
    start = epoch * chunk_len
    piece = torch.tensor([index[c] for c in text[start:start + chunk_len + 1]])
    value = train(piece[:-1], piece[1:])
print('%.6f' % value, '%.6f' % decoder.cell.weight_hh.norm().item())
