import torch


def rnnt_loss(log_probs, labels, blank=0):
    """log_probs: (T, U + 1, V) of one utterance."""
    T, U1, _ = log_probs.shape
    alpha = [[None] * U1 for _ in range(T)]
    for t in range(T):
        for u in range(U1):
            ways = []
            if t > 0:
                ways.append(alpha[t - 1][u] + log_probs[t - 1, u, blank])
            if u > 0:
                ways.append(alpha[t][u - 1] + log_probs[t, u - 1, labels[u - 1]])
            if not ways:
                alpha[t][u] = log_probs.new_zeros(())
            else:
                alpha[t][u] = ways[0] if len(ways) == 1 else torch.logaddexp(ways[0], ways[1])
    return -(alpha[T - 1][U1 - 1] + log_probs[T - 1, U1 - 1, blank])
