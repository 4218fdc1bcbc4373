"""POMO-less attention model for TSP, trained with REINFORCE and a greedy rollout baseline."""
import copy
import torch
from torch import nn


class TSPGenerator:
    def __init__(self, num_loc=6, seed=0):
        self.num_loc = num_loc
        self.g = torch.Generator().manual_seed(seed)

    def __call__(self, n):
        return {"locs": torch.rand(n, self.num_loc, 2, generator=self.g)}


def tour_length(locs, tour):
    d = locs.gather(1, tour.unsqueeze(-1).expand(-1, -1, 2))
    return (d - d.roll(-1, 1)).norm(dim=-1).sum(1)


class AttentionPolicy(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.init_embedding = nn.Linear(2, dim)
        self.encoder = nn.TransformerEncoderLayer(dim, 2, 24, dropout=0.0, batch_first=True)
        self.query = nn.Linear(2 * dim, dim)

    def forward(self, td, decode_type="sampling"):
        h = self.encoder(self.init_embedding(td["locs"]))
        n, k, _ = h.shape
        rows = torch.arange(n)
        first = last = torch.zeros(n, dtype=torch.long)
        visited = torch.zeros(n, k, dtype=torch.bool)
        visited[:, 0] = True
        tour, log_likelihood = [first], 0.0
        for _ in range(k - 1):
            q = self.query(torch.cat([h[rows, first], h[rows, last]], -1))
            scores = 5 * torch.tanh((h @ q.unsqueeze(-1)).squeeze(-1) / 4)
            logp = scores.masked_fill(visited, float("-inf")).log_softmax(-1)
            last = logp.argmax(-1) if decode_type == "greedy" else torch.multinomial(logp.exp(), 1).squeeze(1)
            log_likelihood = log_likelihood + logp[rows, last]
            visited = visited.scatter(1, last.unsqueeze(1), True)
            tour.append(last)
        return tour_length(td["locs"], torch.stack(tour, 1)), log_likelihood


class RolloutBaseline:
    """The greedy cost of a frozen copy of the policy, computed for an epoch's data in advance."""

    def __init__(self, policy):
        self.policy = copy.deepcopy(policy).eval()

    @torch.no_grad()
    def wrap_dataset(self, td, batch_size):
        out = []
        for i in range(0, len(td["locs"]), batch_size):
            locs = td["locs"][i:i + batch_size]
            locs = locs - locs.mean(1, keepdim=True)          # instances are centred once, here
            cost, _ = self.policy({"locs": locs}, decode_type="greedy")
            out.append({"locs": locs, "extra": cost})
        return out

    def epoch_callback(self, policy):
        self.policy.load_state_dict(policy.state_dict())


def main():
    torch.manual_seed(77)
    env = TSPGenerator()
    policy = AttentionPolicy()
    baseline = RolloutBaseline(policy)
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
    for epoch in range(3):
        for batch in baseline.wrap_dataset(env(24), batch_size=8):
            cost, log_likelihood = policy(batch)
            advantage = cost - batch["extra"]
            loss = (advantage * log_likelihood).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
            print(f"epoch {epoch} cost {cost.mean():.6f} baseline {batch['extra'].mean():.6f} loss {loss.item():.6f}")
        baseline.epoch_callback(policy)


if __name__ == "__main__":
    main()
