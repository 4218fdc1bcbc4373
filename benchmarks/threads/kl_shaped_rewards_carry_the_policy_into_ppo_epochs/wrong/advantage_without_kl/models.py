import torch
import torch.nn as nn


class TinyLM(nn.Module):
    """A causal language model as small as possible."""

    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def logits(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.head(hidden)

    def log_probs(self, tokens):
        """Log-probability of each token given those before it: (B, T-1)."""
        lp = self.logits(tokens[:, :-1]).log_softmax(-1)
        return lp.gather(-1, tokens[:, 1:, None]).squeeze(-1)

    @torch.no_grad()
    def generate(self, prompt, length):
        tokens = prompt
        for _ in range(length):
            probs = self.logits(tokens)[:, -1].softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(probs, 1)], 1)
        return tokens


class Critic(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens[:, :-1]))
        return self.out(hidden).squeeze(-1)
