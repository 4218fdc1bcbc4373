import argparse
import math
import torch
import torch.nn as nn

NEG = -1e5


class logadd:
    """log(exp(a) + exp(b) + exp(c)); torch.logsumexp of a stack is slower on cpu"""

    @staticmethod
    def two(a, b):
        m = torch.max(a, b)
        return m + torch.log(torch.exp(a - m) + torch.exp(b - m))

    @staticmethod
    def three(a, b, c):
        m = torch.max(torch.max(a, b), c)
        return m + torch.log(torch.exp(a - m) + torch.exp(b - m) + torch.exp(c - m))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0):
    """log_probs: T x B x V, targets: B x L; plain python CTC, one alpha per frame and state"""
    T, B, _ = log_probs.shape
    L = targets.shape[1]
    ext = torch.full((B, 2 * L + 1), blank, dtype=torch.long)
    ext[:, 1::2] = targets
    skip = torch.zeros(B, 2 * L + 1, dtype=torch.bool)
    skip[:, 2:] = (ext[:, 2:] != blank) & (ext[:, 2:] != ext[:, :-2])
    emit = log_probs.gather(-1, ext.expand(T, -1, -1))

    # two columns of padding on the left so that s - 1 and s - 2 always exist
    log_alpha = torch.full((T, B, 2 * L + 3), NEG)
    log_alpha[0, :, 2] = emit[0, :, 0]
    log_alpha[0, :, 3] = emit[0, :, 1]
    for t in range(1, T):
        prev = log_alpha[t - 1]
        stay, step, jump = prev[:, 2:], prev[:, 1:-1], prev[:, :-2]
        jump = jump.masked_fill(~skip, NEG)
        log_alpha[t, :, 2:] = emit[t] + logadd.three(stay, step, jump)

    last = log_alpha[input_lengths - 1, torch.arange(B)]
    end = 2 + 2 * target_lengths
    a = last.gather(1, end[:, None])
    b = last.gather(1, end[:, None] - 1)
    return -logadd.two(a, b).squeeze(1)


class AcousticModel(nn.Module):
    def __init__(self, n_mels, vocab, hidden=16):
        super().__init__()
        self.conv = nn.Conv1d(n_mels, hidden, 3, padding=1)
        self.rnn = nn.GRU(hidden, hidden, bidirectional=True)
        self.head = nn.Linear(2 * hidden, vocab)

    def forward(self, x):
        h = torch.relu(self.conv(x)).permute(2, 0, 1)
        h, _ = self.rnn(h)
        return self.head(h).log_softmax(-1)


def main(args):
    torch.manual_seed(args.seed)
    model = AcousticModel(6, args.vocab)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    x = torch.randn(args.batch, 6, args.frames)
    y = torch.randint(1, args.vocab, (args.batch, 4))
    x_len = torch.tensor([args.frames] * (args.batch - 1) + [args.frames - 2])
    y_len = torch.tensor([4] * (args.batch - 1) + [3])
    if args.check:
        with torch.no_grad():
            lp = model(x)
            ref = nn.functional.ctc_loss(lp, y, x_len, y_len, reduction="none")
            print("reference %.4f own %.4f" % (ref.mean().item(), ctc_loss(lp, y, x_len, y_len).mean().item()))
    for it in range(args.iters):
        loss = (ctc_loss(model(x), y, x_len, y_len) / y_len).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        assert math.isfinite(loss.item())
        print("iter %d ctc %.5f" % (it, loss.item()))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--vocab", type=int, default=6)
    p.add_argument("--frames", type=int, default=12)
    p.add_argument("--batch", type=int, default=3)
    p.add_argument("--iters", type=int, default=6)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--check", type=int, default=1)
    p.add_argument("--seed", type=int, default=0)
    main(p.parse_args())
