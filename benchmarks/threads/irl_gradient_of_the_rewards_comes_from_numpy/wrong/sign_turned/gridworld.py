import numpy as np


class Corridor:
    """Rasterwelt fuer einen Lieferroboter: 5 Aktionen, mit Wahrscheinlichkeit ``slip`` eine zufaellige andere."""

    MOVES = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]

    def __init__(self, size=5, slip=0.1):
        self.size, self.n_states, self.n_actions = size, size * size, len(self.MOVES)
        self.P = np.zeros((self.n_states, self.n_actions, self.n_states))
        for s in range(self.n_states):
            for a in range(self.n_actions):
                for b in range(self.n_actions):
                    prob = 1 - slip if a == b else slip / (self.n_actions - 1)
                    self.P[s, a, self._move(s, b)] += prob
        self.goal, self.puddles = (0, size - 1), [(2, 2), (1, 2), (3, 1)]

    def _move(self, s, a):
        r, c = divmod(s, self.size)
        dr, dc = self.MOVES[a]
        r, c = min(max(r + dr, 0), self.size - 1), min(max(c + dc, 0), self.size - 1)
        return r * self.size + c

    def features(self):
        f = []
        for s in range(self.n_states):
            r, c = divmod(s, self.size)
            d_goal = abs(r - self.goal[0]) + abs(c - self.goal[1])
            d_puddle = min(abs(r - p) + abs(c - q) for p, q in self.puddles)
            wall = min(r, c, self.size - 1 - r, self.size - 1 - c)
            f.append([d_goal / self.size, d_puddle / self.size, wall / self.size, float(d_puddle == 0)])
        return np.array(f, dtype=np.float32)

    def true_reward(self):
        f = self.features()
        return -1.0 * f[:, 0] - 1.5 * f[:, 3]
