import torch
import torch.nn as nn


class StatefulTagger(nn.Module):
    def __init__(self, n_in, n_hidden, n_out, n_slots):
        super().__init__()
        self.cell = nn.LSTMCell(n_in, n_hidden)
        self.head = nn.Linear(n_hidden, n_out)
        self.n_slots, self.n_hidden = n_slots, n_hidden
        self.state = None

    def reset(self):
        self.state = (torch.zeros(self.n_slots, self.n_hidden), torch.zeros(self.n_slots, self.n_hidden))

    def detach_state(self):
        # truncated BPTT: values survive the chunk, the graph does not
        self.state = tuple(s.detach() for s in self.state)

    def forward(self, x, last):
        h, c = self.state
        logits = []
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
            logits.append(self.head(h))
            # a recording is over: the next one in this slot starts from scratch
            with torch.no_grad():
                h[last[t]] = 0.
                c[last[t]] = 0.
        self.state = (h, c)
        return torch.stack(logits)
