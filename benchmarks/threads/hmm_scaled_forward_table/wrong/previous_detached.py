"""Neural HMM: emission probabilities come from a network, transitions are learned. Rabiner's scaled forward pass."""
import torch
import torch.nn as nn


class NeuralHMM(nn.Module):
    def __init__(self, n_states, n_obs, dim=12):
        super().__init__()
        self.n_states = n_states
        self.state_emb = nn.Parameter(torch.randn(n_states, dim) * 0.5)
        self.emit = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, n_obs))
        self.trans_logits = nn.Parameter(torch.randn(n_states, n_states) * 0.3)
        self.init_logits = nn.Parameter(torch.zeros(n_states))

    def log_likelihood(self, obs):
        """obs: (T, B) integer observations"""
        T, B = obs.shape
        A = torch.softmax(self.trans_logits, dim=1)
        pi = torch.softmax(self.init_logits, dim=0)
        E = torch.softmax(self.emit(self.state_emb), dim=1)
        alpha = torch.zeros(T, B, self.n_states)
        scale = torch.zeros(T, B)
        alpha[0] = pi * E[:, obs[0]].t()
        scale[0] = alpha[0].sum(-1)
        alpha[0] = alpha[0].clone() / scale[0].clone().unsqueeze(-1)
        for t in range(1, T):
            alpha[t] = torch.matmul(alpha[t - 1].detach().clone(), A) * E[:, obs[t]].t()
            scale[t] = alpha[t].sum(-1)
            alpha[t] = alpha[t].clone() / scale[t].clone().unsqueeze(-1)
        return scale.log().sum(0)


def sample(T, B, n_obs):
    s = torch.randint(0, 2, (B,))
    out = []
    for _ in range(T):
        s = torch.where(torch.rand(B) < 0.15, 1 - s, s)
        out.append((s * (n_obs // 2) + torch.randint(0, n_obs // 2, (B,))))
    return torch.stack(out)


def main():
    torch.manual_seed(1)
    model = NeuralHMM(3, 6)
    optim = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(6):
        total = 0.
        for _ in range(2):
            obs = sample(8, 10, 6)
            nll = -model.log_likelihood(obs).mean()
            optim.zero_grad()
            nll.backward()
            optim.step()
            total += nll.item()
        print('epoch {} nll {:.5f}'.format(epoch, total / 2))
    print(torch.softmax(model.trans_logits, 1).diagonal().detach().numpy().round(5))


if __name__ == '__main__':
    main()
