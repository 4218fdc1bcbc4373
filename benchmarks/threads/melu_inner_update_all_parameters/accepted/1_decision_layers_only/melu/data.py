import torch


class Movies:
    """users with tastes; a support and a query set of ratings for each"""

    def __init__(self, config):
        self.c = config
        self.taste = torch.randn(config['num_age'], config['num_genre'])

    def rated(self, gender, age, n):
        genre, rate = torch.randint(self.c['num_genre'], (n,)), torch.randint(self.c['num_rate'], (n,))
        y = 3 + self.taste[age, genre] + 0.2 * rate + 0.3 * gender
        x = torch.stack([rate, genre, torch.full_like(rate, gender), torch.full_like(rate, age)], 1)
        return x, y

    def users(self, n):
        out = []
        for _ in range(n):
            g, a = int(torch.randint(self.c['num_gender'], ())), int(torch.randint(self.c['num_age'], ()))
            out.append(self.rated(g, a, 8) + self.rated(g, a, 5))
        return out
