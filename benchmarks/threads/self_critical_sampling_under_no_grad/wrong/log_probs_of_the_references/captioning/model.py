import torch
import torch.nn as nn
import torch.nn.functional as F


class ShowAttend(nn.Module):
    """Captions from region features, with additive attention."""

    def __init__(self, opt):
        super().__init__()
        self.vocab, self.length = opt["vocab_size"] + 1, opt["seq_length"]
        d = opt["rnn_size"]
        self.embed = nn.Embedding(self.vocab, d)
        self.att_embed = nn.Linear(opt["att_feat_size"], d)
        self.h2att, self.alpha = nn.Linear(d, d), nn.Linear(d, 1)
        self.cell = nn.LSTMCell(2 * d, d)
        self.logit = nn.Linear(d, self.vocab)
        self.d = d

    def init_hidden(self, n):
        return torch.zeros(n, self.d), torch.zeros(n, self.d)

    def core(self, token, att, state):
        score = self.alpha(torch.tanh(att + self.h2att(state[0]).unsqueeze(1))).squeeze(2)
        ctx = torch.bmm(score.softmax(1).unsqueeze(1), att).squeeze(1)
        state = self.cell(torch.cat([self.embed(token), ctx], 1), state)
        return F.log_softmax(self.logit(state[0]), dim=1), state

    def forward(self, feats, seq):
        att, state = self.att_embed(feats), self.init_hidden(len(feats))
        token, outputs = torch.zeros(len(feats), dtype=torch.long), []
        for t in range(seq.shape[1]):
            logp, state = self.core(token, att, state)
            outputs.append(logp)
            token = seq[:, t]
        return torch.stack(outputs, 1)

    @torch.no_grad()
    def sample(self, feats, sample_max=True, temperature=1.0):
        """Token 0 ends a caption; what comes after it is padding."""
        att, state = self.att_embed(feats), self.init_hidden(len(feats))
        token = torch.zeros(len(feats), dtype=torch.long)
        seq, seq_logprobs, unfinished = [], [], torch.ones(len(feats), dtype=torch.bool)
        for t in range(self.length):
            logp, state = self.core(token, att, state)
            if sample_max:
                token = logp.argmax(1)
            else:
                token = torch.multinomial((logp / temperature).exp(), 1).squeeze(1)
            chosen = logp.gather(1, token[:, None]).squeeze(1)
            token = token * unfinished.long()
            seq.append(token)
            seq_logprobs.append(chosen)
            unfinished = unfinished & (token > 0)
        return torch.stack(seq, 1), torch.stack(seq_logprobs, 1)
