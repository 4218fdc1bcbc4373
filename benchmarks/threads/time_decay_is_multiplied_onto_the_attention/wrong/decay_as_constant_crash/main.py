import argparse
import torch
import torch.nn.functional as F

from data import build_sessions
from model import SASRecTime

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', default=16, type=int)
parser.add_argument('--lr', default=3e-3, type=float)
parser.add_argument('--maxlen', default=10, type=int)
parser.add_argument('--n_items', default=20, type=int)
parser.add_argument('--num_epochs', default=5, type=int)
parser.add_argument('--seed', default=11, type=int)


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    items, times = build_sessions(max_len=args.maxlen, n_items=args.n_items, seed=args.seed)
    model = SASRecTime(args.n_items, args.maxlen)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, betas=(0.9, 0.98))

    for epoch in range(1, args.num_epochs + 1):
        model.train()
        perm = torch.randperm(items.size(0))
        total = 0.0
        for i in range(0, len(perm), args.batch_size):
            idx = perm[i:i + args.batch_size]
            seq, target = items[idx, :-1], items[idx, 1:]
            logits = model(seq, times[idx, :-1])
            loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), target.reshape(-1), ignore_index=0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        print('epoch %d loss %.6f' % (epoch, total / len(perm)))

    model.eval()
    with torch.no_grad():
        logits = model(items[:, :-1], times[:, :-1])[:, -1]
        rank = (logits > logits.gather(1, items[:, -1:])).sum(1)
        print('HR@5 %.6f' % (rank < 5).float().mean().item())
        print('tau', ['%.6f' % t for t in model.attn[0].log_tau.exp().tolist()])


if __name__ == '__main__':
    main()
