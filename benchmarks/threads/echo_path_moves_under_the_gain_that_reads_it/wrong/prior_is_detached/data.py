import numpy as np
import torch


class EchoScenes:
    """far-end noise bursts through a short decaying room, plus near-end babble in a part of the scene"""

    def __init__(self, n, length, taps, seed):
        rng = np.random.RandomState(seed)
        env = np.repeat(rng.uniform(0.3, 1.2, (n, length // 16)), 16, 1)
        far = rng.randn(n, length) * env
        rir = rng.randn(n, taps) * np.exp(-0.5 * np.arange(taps))
        echo = np.stack([np.convolve(far[i], rir[i])[:length] for i in range(n)])
        near = 0.3 * rng.randn(n, length) * (np.arange(length) > length // 2)
        # x is stored newest sample last, so the filter that is found is rir reversed
        self.far, self.mic, self.echo = (torch.tensor(a, dtype=torch.float32) for a in (far, echo + near, echo))

    def batches(self, size):
        for i in range(0, len(self.far), size):
            yield self.far[i:i + size], self.mic[i:i + size], self.echo[i:i + size]
