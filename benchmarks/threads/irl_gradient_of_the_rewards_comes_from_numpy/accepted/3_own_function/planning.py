"""Soft value iteration and state visitation frequencies (Ziebart et al. 2008), plain numpy."""
import numpy as np


def soft_value_iteration(P, reward, horizon, gamma=0.95):
    """one policy per time step, (T, S, A)"""
    v = np.zeros(len(reward))
    policies = []
    for _ in range(horizon):
        q = reward[:, None] + gamma * P @ v
        m = q.max(1, keepdims=True)
        v = (m + np.log(np.exp(q - m).sum(1, keepdims=True)))[:, 0]
        policies.append(np.exp(q - v[:, None]))
    return policies[::-1]


def expected_svf(P, policies, start, gamma=0.95):
    """(discounted) expected visits of each state"""
    d = start.copy()
    svf = np.zeros_like(d)
    for t, pi in enumerate(policies):
        svf += gamma ** t * d
        d = np.einsum("s,sa,sax->x", d, pi, P)
    return svf


def sample_trajectories(P, policies, start, n, rng):
    out = []
    for _ in range(n):
        s = rng.choice(len(start), p=start)
        traj = []
        for pi in policies:
            traj.append(s)
            a = rng.choice(pi.shape[1], p=pi[s] / pi[s].sum())
            s = rng.choice(len(start), p=P[s, a])
        out.append(traj)
    return out


def empirical_svf(trajectories, n_states, gamma=0.95):
    svf = np.zeros(n_states)
    for traj in trajectories:
        for t, s in enumerate(traj):
            svf[s] += gamma ** t
    return svf / len(trajectories)
