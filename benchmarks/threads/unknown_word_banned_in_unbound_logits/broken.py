import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

UNK, EOS, VOCAB = 3, 0, 12


class TinyLM(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, history):
        return self.out(self.gru(self.emb(history))[0][:, -1])


class DialogTuner:
    """REINFORCE on a sentence reward, with a KL leash to the frozen start model."""

    def __init__(self, lr=0.02, beta=0.1):
        self.policy = TinyLM()
        self.reference = copy.deepcopy(self.policy).requires_grad_(False)
        self.optim = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.beta = beta
        self.baseline = 0.0

    def next_tokens(self, history):
        logits = self.policy(history)
        tokens, logps = [], []
        for next_token_logit in logits.unbind(0):
            # never answer with an unknown word
            next_token_logit[UNK] = -float('Inf')
            probs = F.softmax(next_token_logit, dim=-1)
            token = torch.multinomial(probs, 1)
            tokens.append(token)
            logps.append(torch.log(probs[token]))
        # the leash is about the language model itself, i.e. about the whole vocabulary
        ref = F.log_softmax(self.reference(history), dim=-1)
        lp = F.log_softmax(logits, dim=-1)
        kl = (lp.exp() * (lp - ref)).sum(-1)
        return torch.stack(tokens), torch.cat(logps), kl

    def reward(self, answers, prompts):
        overlap = (answers.unsqueeze(2) == prompts.unsqueeze(1)).any(2).float().mean(1)
        return overlap - 0.3 * (answers == EOS).float().mean(1)

    def update(self, prompts, length=4):
        history, total_logp, total_kl = prompts, 0.0, 0.0
        for _ in range(length):
            token, logp, kl = self.next_tokens(history)
            history = torch.cat([history, token], dim=1)
            total_logp = total_logp + logp
            total_kl = total_kl + kl
        r = self.reward(history[:, prompts.shape[1]:], prompts)
        adv = r - self.baseline
        self.baseline = 0.8 * self.baseline + 0.2 * r.mean().item()
        loss = -(adv * total_logp).mean() + self.beta * total_kl.mean()
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        return r.mean().item(), total_kl.mean().item()


def main():
    torch.manual_seed(8)
    tuner = DialogTuner()
    for it in range(8):
        prompts = torch.randint(0, VOCAB, (8, 3))
        r, kl = tuner.update(prompts)
        print(f"iter {it} reward {r:.6f} kl {kl:.6f}")


if __name__ == "__main__":
    main()
