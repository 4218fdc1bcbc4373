import torch
import torch.nn as nn
import torch.nn.functional as F

# Neural stack (Grefenstette et al. 2015) with an LSTM controller, reversing short strings


class NeuralStack(nn.Module):
    """values: list of (batch, width), strengths: (batch, max_depth)"""

    def __init__(self, width, max_depth):
        super().__init__()
        self.width = width
        self.max_depth = max_depth

    def reset(self, batch_size):
        self.values = []
        self.strengths = torch.zeros(batch_size, self.max_depth)

    def pop(self, u):
        # take u off the top, what is left of it off the next one, and so on
        left = u
        for i in range(len(self.values) - 1, -1, -1):
            taken = torch.minimum(self.strengths[:, i], left)
            self.strengths[:, i] = self.strengths[:, i] - taken
            left = left - taken

    def push(self, v, d):
        self.strengths[:, len(self.values)] = d
        self.values.append(v)

    def read(self):
        result = torch.zeros_like(self.values[0])
        left = torch.ones(result.size(0))
        for i in range(len(self.values) - 1, -1, -1):
            weight = torch.minimum(self.strengths[:, i].clone(), left)
            result = result + weight.unsqueeze(1) * self.values[i]
            left = F.relu(left - weight)
        return result

    def forward(self, v, u, d):
        self.push(v, d)
        return self.read()


class StackRNN(nn.Module):
    def __init__(self, n_symbols, hidden=24, width=8, max_depth=16):
        super().__init__()
        self.hidden, self.width = hidden, width
        self.embed = nn.Embedding(n_symbols, 8)
        self.cell = nn.LSTMCell(8 + width, hidden)
        self.control = nn.Linear(hidden, 2)
        self.value = nn.Linear(hidden, width)
        self.out = nn.Linear(hidden + width, n_symbols)
        self.stack = NeuralStack(width, max_depth)
        nn.init.constant_(self.control.bias[0].data, -1.0)  # pop little at first

    def forward(self, tokens):
        b, t = tokens.shape
        h, c = torch.zeros(b, self.hidden), torch.zeros(b, self.hidden)
        r = torch.zeros(b, self.width)
        self.stack.reset(b)
        logits = []
        for k in range(t):
            h, c = self.cell(torch.cat([self.embed(tokens[:, k]), r], 1), (h, c))
            u, d = torch.sigmoid(self.control(h)).unbind(1)
            r = self.stack(torch.tanh(self.value(h)), u, d)
            logits.append(self.out(torch.cat([h, r], 1)))
        return torch.stack(logits, 1)


LENGTH, SYMBOLS, SEP = 5, 4, 4


def batch(n, gen):
    word = torch.randint(0, SYMBOLS, (n, LENGTH), generator=gen)
    tokens = torch.cat([word, torch.full((n, LENGTH), SEP)], 1)
    return tokens, word.flip(1)


torch.manual_seed(9)
gen = torch.Generator().manual_seed(10)
model = StackRNN(SYMBOLS + 1)
optimizer = torch.optim.RMSprop(model.parameters(), lr=4e-3)

for it in range(30):
    tokens, answer = batch(16, gen)
    logits = model(tokens)[:, LENGTH:]
    loss = F.cross_entropy(logits.reshape(-1, SYMBOLS + 1), answer.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if it % 10 == 9:
        acc = (logits.argmax(-1) == answer).float().mean()
        print('iter %d loss %.6f acc %.4f' % (it + 1, loss.item(), acc.item()))
