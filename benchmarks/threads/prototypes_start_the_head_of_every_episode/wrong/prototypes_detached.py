"""First-order ProtoMAML on toy intents: the linear head of an episode begins at its class prototypes."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Intents:
    """Sentences are bags of word ids; a class is a distribution over words."""

    def __init__(self, classes=20, vocabulary=60, length=8, seed=0):
        self.gen = torch.Generator().manual_seed(seed)
        self.words = torch.softmax(2.0 * torch.randn(classes, vocabulary, generator=self.gen), dim=1)
        self.length = length

    def sample(self, cls, n):
        flat = torch.multinomial(self.words[cls], n * self.length, replacement=True, generator=self.gen)
        return flat.view(n, self.length)

    def episode(self, n_way, k_shot, k_query):
        chosen = torch.randperm(len(self.words), generator=self.gen)[:n_way].tolist()
        support = torch.cat([self.sample(c, k_shot) for c in chosen])
        query = torch.cat([self.sample(c, k_query) for c in chosen])
        y_support = torch.arange(n_way).repeat_interleave(k_shot)
        y_query = torch.arange(n_way).repeat_interleave(k_query)
        return support, y_support, query, y_query


class SentenceEncoder(nn.Module):
    def __init__(self, vocabulary=60, dim=16, out=12):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.project = nn.Linear(dim, out)

    def forward(self, tokens):
        states, _ = self.gru(self.embed(tokens))
        return torch.tanh(self.project(states.mean(dim=1)))


class ProtoMAML:
    def __init__(self, n_way=4, k_shot=3, k_query=5, inner_steps=3, inner_lr=0.3, outer_lr=5e-3):
        self.n_way, self.k_shot, self.k_query = n_way, k_shot, k_query
        self.inner_steps, self.inner_lr = inner_steps, inner_lr
        self.encoder = SentenceEncoder()
        self.optimizer = torch.optim.Adam(self.encoder.parameters(), lr=outer_lr)

    def init_head(self, features, labels):
        prototypes = torch.stack([features[labels == c].mean(dim=0) for c in range(self.n_way)])
        weight = 2 * prototypes
        bias = -(prototypes ** 2).sum(dim=1)
        return weight, bias

    def adapt(self, features, labels):
        features = features.detach()
        weight, bias = self.init_head(features, labels)
        weight.requires_grad_()
        bias.requires_grad_()
        for _ in range(self.inner_steps):
            weight.retain_grad()
            bias.retain_grad()
            loss = F.cross_entropy(F.linear(features, weight, bias), labels)
            loss.backward()
            weight = (weight - self.inner_lr * weight.grad).detach().requires_grad_()
            bias = (bias - self.inner_lr * bias.grad).detach().requires_grad_()
        return weight, bias

    def meta_step(self, episodes):
        self.optimizer.zero_grad()
        total, correct, count = 0.0, 0, 0
        for support, y_support, query, y_query in episodes:
            features = self.encoder(support)
            weight, bias = self.adapt(features, y_support)
            logits = F.linear(self.encoder(query), weight, bias)
            loss = F.cross_entropy(logits, y_query) / len(episodes)
            loss.backward()
            total += loss.item()
            correct += (logits.argmax(1) == y_query).sum().item()
            count += len(y_query)
        nn.utils.clip_grad_norm_(self.encoder.parameters(), 5.0)
        self.optimizer.step()
        return total, correct / count


def main():
    torch.manual_seed(21)
    data = Intents()
    learner = ProtoMAML()
    for iteration in range(8):
        episodes = [data.episode(learner.n_way, learner.k_shot, learner.k_query) for _ in range(2)]
        loss, accuracy = learner.meta_step(episodes)
        print(f"iteration {iteration}  query loss {loss:.5f}  accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
