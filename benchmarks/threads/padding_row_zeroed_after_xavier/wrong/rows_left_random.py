import argparse
import numpy as np
import torch
import torch.nn as nn


class PointWiseFeedForward(nn.Module):
    def __init__(self, hidden_units, dropout_rate):
        super().__init__()
        self.conv1 = nn.Conv1d(hidden_units, hidden_units, kernel_size=1)
        self.dropout1 = nn.Dropout(p=dropout_rate)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv1d(hidden_units, hidden_units, kernel_size=1)

    def forward(self, inputs):
        outputs = self.conv2(self.relu(self.dropout1(self.conv1(inputs.transpose(-1, -2)))))
        return outputs.transpose(-1, -2) + inputs


class SASRec(nn.Module):
    def __init__(self, item_num, args):
        super().__init__()
        self.item_emb = nn.Embedding(item_num + 1, args.hidden_units, padding_idx=0)
        self.pos_emb = nn.Embedding(args.maxlen + 1, args.hidden_units, padding_idx=0)
        self.ln1 = nn.LayerNorm(args.hidden_units)
        self.attn = nn.MultiheadAttention(args.hidden_units, args.num_heads, args.dropout_rate, batch_first=True)
        self.ffn = PointWiseFeedForward(args.hidden_units, args.dropout_rate)
        self.last = nn.LayerNorm(args.hidden_units)
        self.reset_parameters()

    def reset_parameters(self):
        for name, param in self.named_parameters():
            if param.dim() > 1:
                nn.init.xavier_normal_(param)
        # xavier has also filled the padding row, which never gets a gradient

    def log2feats(self, seqs):
        x = self.item_emb(seqs) * self.item_emb.embedding_dim ** 0.5
        poss = torch.arange(1, seqs.shape[1] + 1).expand_as(seqs) * (seqs != 0)
        x = x + self.pos_emb(poss)
        mask = ~torch.tril(torch.ones(seqs.shape[1], seqs.shape[1], dtype=torch.bool))
        q = self.ln1(x)
        x = q + self.attn(q, x, x, attn_mask=mask, need_weights=False)[0]
        return self.last(self.ffn(x))

    def forward(self, seqs, pos, neg):
        feats = self.log2feats(seqs)
        return (feats * self.item_emb(pos)).sum(-1), (feats * self.item_emb(neg)).sum(-1)

    @torch.no_grad()
    def predict(self, seqs, candidates):
        return (self.log2feats(seqs)[:, -1:] * self.item_emb(candidates)).sum(-1)


def sample_batch(rng, args, item_num):
    seq = np.zeros((args.batch_size, args.maxlen), dtype=np.int64)
    pos, neg = np.zeros_like(seq), np.zeros_like(seq)
    for b in range(args.batch_size):
        n = rng.randint(3, args.maxlen + 1)
        walk = (rng.randint(1, item_num + 1) + np.arange(n + 1)) % item_num + 1
        seq[b, -n:], pos[b, -n:] = walk[:-1], walk[1:]
        neg[b, -n:] = rng.randint(1, item_num + 1, n)
    return map(torch.from_numpy, (seq, pos, neg))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', default=6, type=int)
    parser.add_argument('--lr', default=0.005, type=float)
    parser.add_argument('--maxlen', default=8, type=int)
    parser.add_argument('--hidden_units', default=12, type=int)
    parser.add_argument('--num_steps', default=8, type=int)
    parser.add_argument('--num_heads', default=1, type=int)
    parser.add_argument('--dropout_rate', default=0.0, type=float)
    parser.add_argument('--l2_emb', default=1e-3, type=float)
    args = parser.parse_args()
    torch.manual_seed(42)
    rng, item_num = np.random.RandomState(42), 20
    model = SASRec(item_num, args)
    bce = nn.BCEWithLogitsLoss()
    adam = torch.optim.Adam(model.parameters(), lr=args.lr, betas=(0.9, 0.98))
    model.train()
    for step in range(args.num_steps):
        seq, pos, neg = sample_batch(rng, args, item_num)
        pos_logits, neg_logits = model(seq, pos, neg)
        idx = pos != 0
        adam.zero_grad()
        loss = bce(pos_logits[idx], torch.ones_like(pos_logits[idx])) + bce(neg_logits[idx], torch.zeros_like(neg_logits[idx]))
        for param in model.item_emb.parameters():
            loss += args.l2_emb * torch.norm(param)
        loss.backward()
        adam.step()
        print('step %d loss %.6f' % (step, loss.item()))
    model.eval()
    seq, pos, _ = sample_batch(rng, args, item_num)
    print('score %.6f' % model.predict(seq, pos[:, -1:]).mean().item())


if __name__ == '__main__':
    main()
