import torch
import torch.nn as nn
import torch.nn.functional as F


class PolicyWithValueHead(nn.Module):
    def __init__(self, vocab=10, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab)
        self.v_head = nn.Linear(dim, 1)

    def forward(self, ids):
        h, _ = self.rnn(self.emb(ids))
        return self.lm_head(h), self.v_head(h).squeeze(-1)

    def logprobs_values(self, ids, n_prompt):
        """log-probs of the response tokens and the values of the states that they were drawn in"""
        logits, values = self(ids[:, :-1])
        logp = F.log_softmax(logits, dim=-1).gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)
        return logp[:, n_prompt - 1:], values[:, n_prompt - 1:]
