"""Matrix factorisation for movie ratings, written without nn.Module."""
import numpy as np
import torch


def ratings(n_users, n_movies, n, seed):
    rng = np.random.RandomState(seed)
    taste, genre = rng.randn(n_users, 2), rng.randn(n_movies, 2)
    users, movies = rng.randint(n_users, size=n), rng.randint(n_movies, size=n)
    stars = np.clip(np.round(3 + (taste[users] * genre[movies]).sum(1) + 0.2 * rng.randn(n)), 1, 5)
    return torch.tensor(users), torch.tensor(movies), torch.tensor(stars, dtype=torch.float32)


class MatrixFactorization:
    def __init__(self, n_users, n_movies, k=3, scale=0.3, lr=0.05, reg=0.02):
        # small random numbers, so that the predictions start near the mean
        self.user_factors = scale * torch.randn(n_users, k, requires_grad=True)
        self.movie_factors = scale * torch.randn(n_movies, k, requires_grad=True)
        self.user_bias = torch.zeros(n_users, requires_grad=True)
        self.movie_bias = torch.zeros(n_movies, requires_grad=True)
        self.user_factors.retain_grad()
        self.movie_factors.retain_grad()
        self.mean = 0.0
        self.reg = reg
        self.optimizer = torch.optim.Adam(
            [self.user_factors, self.movie_factors, self.user_bias, self.movie_bias], lr=lr
        )

    def predict(self, users, movies):
        dot = (self.user_factors[users] * self.movie_factors[movies]).sum(dim=1)
        return self.mean + self.user_bias[users] + self.movie_bias[movies] + dot

    def loss(self, users, movies, stars):
        error = (self.predict(users, movies) - stars).pow(2).mean()
        penalty = self.user_factors[users].pow(2).sum(1).mean() + self.movie_factors[movies].pow(2).sum(1).mean()
        return error + self.reg * penalty

    def fit(self, users, movies, stars, epochs=3, batch_size=40):
        self.mean = stars.mean()
        for epoch in range(epochs):
            order = torch.randperm(len(stars))
            total = 0.0
            for start in range(0, len(stars), batch_size):
                rows = order[start : start + batch_size]
                loss = self.loss(users[rows], movies[rows], stars[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(rows)
            print(f"epoch {epoch} loss {total / len(stars):.5f}")

    def rmse(self, users, movies, stars):
        with torch.no_grad():
            return (self.predict(users, movies) - stars).pow(2).mean().sqrt().item()


if __name__ == "__main__":
    torch.manual_seed(9)
    data = ratings(12, 15, 120, seed=1)
    model = MatrixFactorization(12, 15)
    model.fit(*data)
    print(f"rmse {model.rmse(*data):.5f}")
