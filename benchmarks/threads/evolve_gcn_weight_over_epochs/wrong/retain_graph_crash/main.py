import argparse

import torch

from data import temporal_signal, temporal_signal_split
from layers import RecurrentGCN

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--lags", type=int, default=4)
parser.add_argument("--device", default="cpu")
args = parser.parse_args()

torch.manual_seed(42)
train_set, test_set = temporal_signal_split(temporal_signal(lags=args.lags))
model = RecurrentGCN(node_features=args.lags).to(args.device)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

for epoch in range(args.epochs):
    model.train()
    cost = 0
    # walk through the training weeks from the first one on; one update per walk
    for time, snapshot in enumerate(train_set):
        y_hat = model(snapshot.x, snapshot.adj)
        cost = cost + torch.mean((y_hat - snapshot.y) ** 2)
    cost = cost / (time + 1)
    cost.backward(retain_graph=True)
    optimizer.step()
    optimizer.zero_grad()

    print(f"epoch {epoch}  train {cost.item():.5f}")

# the test weeks follow right on the training weeks
model.eval()
with torch.no_grad():
    mse = [torch.mean((model(s.x, s.adj) - s.y) ** 2).item() for s in test_set]
print(f"test {sum(mse) / len(mse):.5f}")
