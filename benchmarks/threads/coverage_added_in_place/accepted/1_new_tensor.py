import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """Additive attention with coverage, as pointer-generators use it."""

    def __init__(self, hidden):
        super().__init__()
        self.W_h = nn.Linear(hidden, hidden, bias=False)
        self.W_c = nn.Linear(1, hidden, bias=False)
        self.decode_proj = nn.Linear(hidden, hidden)
        self.v = nn.Linear(hidden, 1, bias=False)

    def forward(self, s_t, encoder_outputs, coverage):
        e = self.W_h(encoder_outputs) + self.decode_proj(s_t).unsqueeze(1) + self.W_c(coverage.unsqueeze(2))
        attn_dist = self.v(torch.tanh(e)).squeeze(2).softmax(1)
        context = torch.bmm(attn_dist.unsqueeze(1), encoder_outputs).squeeze(1)
        return context, attn_dist


class Summarizer(nn.Module):
    def __init__(self, vocab=12, hidden=14):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.encoder = nn.GRU(hidden, hidden, batch_first=True)
        self.cell = nn.GRUCell(2 * hidden, hidden)
        self.attention = Attention(hidden)
        self.out = nn.Linear(2 * hidden, vocab)

    def forward(self, src, tgt):
        outputs, s_t = self.encoder(self.embed(src))
        s_t = s_t.squeeze(0)
        coverage = torch.zeros(src.shape)
        context = outputs.mean(1)
        step_losses, cov_losses = [], []
        y = torch.zeros(len(src), dtype=torch.long)
        for t in range(tgt.shape[1]):
            s_t = self.cell(torch.cat([self.embed(y), context], 1), s_t)
            context, attn_dist = self.attention(s_t, outputs, coverage)
            logits = self.out(torch.cat([s_t, context], 1))
            step_losses.append(F.cross_entropy(logits, tgt[:, t]))
            cov_losses.append(torch.min(attn_dist, coverage).sum(1).mean())
            coverage = coverage + attn_dist
            y = tgt[:, t]
        return torch.stack(step_losses).mean(), torch.stack(cov_losses).mean()


def main(iters=5, cov_weight=1.0):
    torch.manual_seed(44)
    model = Summarizer()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05, initial_accumulator_value=0.1)
    running = None
    for i in range(iters):
        src = torch.randint(1, 12, (6, 8))
        nll, cov = model(src, src[:, ::2])
        loss = nll + cov_weight * cov
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        running = loss.item() if running is None else 0.9 * running + 0.1 * loss.item()
        print("iter %d nll %.6f coverage %.6f running %.6f norm %.5f" % (i, nll.item(), cov.item(), running, norm))


main()
