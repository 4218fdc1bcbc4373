import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)


class Actor(nn.Module):
    def __init__(self, hid=12):
        super().__init__()
        self.embed = nn.Linear(2, hid)
        self.query = nn.Linear(hid, hid)

    def forward(self, cities):
        h = torch.tanh(self.embed(cities))
        b, n, _ = h.shape
        mask = torch.zeros(b, n)
        q, logps, order = h.mean(1), [], []
        for _ in range(n):
            scores = (h @ self.query(q).unsqueeze(-1)).squeeze(-1) + mask
            dist = torch.distributions.Categorical(logits=scores)
            pick = dist.sample()
            logps.append(dist.log_prob(pick))
            order.append(pick)
            mask = mask.scatter(1, pick[:, None], -1e9)
            q = h[torch.arange(b), pick]
        return torch.stack(order, 1), torch.stack(logps, 1).sum(1)


class Critic(nn.Module):
    def __init__(self, hid=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, hid), nn.ReLU(), nn.Linear(hid, 1))

    def forward(self, cities):
        return self.net(cities).mean(1).squeeze(-1)


def tour_length(cities, order):
    path = cities.gather(1, order.unsqueeze(-1).expand(-1, -1, 2))
    return (path - path.roll(1, 1)).norm(dim=-1).sum(1)


actor, critic = Actor(), Critic()
opt1 = torch.optim.Adam(actor.parameters(), lr=1e-2)
opt2 = torch.optim.Adam(critic.parameters(), lr=1e-2)

for i in range(6):
    cities = torch.rand(16, 5, 2)
    tour, log_prob = actor(cities)
    reward = tour_length(cities, tour)
    value = critic(cities)

    loss2 = F.mse_loss(value, reward)
    opt2.zero_grad(); loss2.backward(retain_graph=True)

    loss1 = ((reward - value) * log_prob).mean()
    opt1.zero_grad(); loss1.backward()
    opt1.step(); opt2.step()

print(f"{loss1.item():.6f} {loss2.item():.6f}")
