# CTR prediction with DeepFM + a small attention over fields (AFM style)
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class FeaturesLinear(nn.Module):
    def __init__(self, field_dims):
        super().__init__()
        self.fc = nn.Embedding(sum(field_dims), 1)
        self.bias = nn.Parameter(torch.zeros((1,)))

    def forward(self, x):
        return self.fc(x).sum(dim=1) + self.bias


class FactorizationMachine(nn.Module):
    """0.5 * ((sum v)^2 - sum v^2), memory lean because the criteo batches did not fit"""

    def __init__(self, reduce_sum=True):
        super().__init__()
        self.reduce_sum = reduce_sum

    def forward(self, emb):
        square_of_sum = emb.sum(dim=1) ** 2
        emb.data.pow_(2)
        sum_of_square = emb.sum(dim=1)
        ix = 0.5 * (square_of_sum - sum_of_square)
        return ix.sum(dim=1, keepdim=True) if self.reduce_sum else ix


class FieldAttention(nn.Module):
    def __init__(self, embed_dim, attn_size=6):
        super().__init__()
        self.attention = nn.Linear(embed_dim, attn_size)
        self.projection = nn.Linear(attn_size, 1)
        self.fc = nn.Linear(embed_dim, 1)

    def forward(self, emb):
        scores = torch.softmax(self.projection(F.relu(self.attention(emb))), dim=1)
        return self.fc((scores * emb).sum(dim=1)), scores


class DeepFM(nn.Module):
    def __init__(self, field_dims, embed_dim, mlp_dims, dropout=0.0):
        super().__init__()
        self.register_buffer("offsets", torch.tensor((0, *torch.tensor(field_dims).cumsum(0)[:-1].tolist())))
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        nn.init.xavier_uniform_(self.embedding.weight)
        self.linear = FeaturesLinear(field_dims)
        self.fm = FactorizationMachine(reduce_sum=True)
        self.attention = FieldAttention(embed_dim)
        layers, width = [], len(field_dims) * embed_dim
        for d in mlp_dims:
            layers += [nn.Linear(width, d), nn.ReLU(), nn.Dropout(dropout)]
            width = d
        self.mlp = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, x):
        x = x + self.offsets
        emb = self.embedding(x)
        deep = self.mlp(emb.flatten(1))
        cross = self.fm(emb)
        attended, _ = self.attention(emb)
        logit = self.linear(x) + cross + deep + attended
        return logit.squeeze(1), emb.abs().mean()


class EarlyStopper:
    def __init__(self, num_trials):
        self.num_trials, self.best, self.counter = num_trials, float("inf"), 0

    def is_continuable(self, loss):
        if loss < self.best:
            self.best, self.counter = loss, 0
            return True
        self.counter += 1
        return self.counter < self.num_trials


def main(args):
    torch.manual_seed(args.seed)
    field_dims = [7, 5, 11]
    model = DeepFM(field_dims, args.embed_dim, (12, 8))
    opt = torch.optim.Adam(model.parameters(), lr=args.learning_rate, weight_decay=args.weight_decay)
    stopper = EarlyStopper(num_trials=50)
    for step in range(args.steps):
        x = torch.stack([torch.randint(0, d, (20,)) for d in field_dims], dim=1)
        y = ((x[:, 0] + x[:, 2]) % 3 == 0).float()
        logit, size = model(x)
        loss = F.binary_cross_entropy_with_logits(logit, y) + args.l1 * size
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("step %d loss %.6f size %.6f" % (step, loss.item(), size.item()))
        if not stopper.is_continuable(loss.item()):
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--embed_dim", type=int, default=4)
    parser.add_argument("--learning_rate", type=float, default=0.02)
    parser.add_argument("--weight_decay", type=float, default=1e-6)
    parser.add_argument("--l1", type=float, default=0.1)
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--seed", type=int, default=2020)
    parser.add_argument("--dataset_path", default="criteo/train.txt")
    main(parser.parse_args())
