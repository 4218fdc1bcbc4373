import numpy as np
import torch
import torch.nn as nn


# Streaming speech enhancement. The model sees one chunk at a time; what the last frame of a chunk
# contributes to the next one (overlap-add) waits in `tail`.

class StreamingDenoiser(nn.Module):
    def __init__(self, win=16, hidden=32):
        super().__init__()
        self.win, self.hop = win, win // 2
        self.register_buffer("window", torch.hann_window(win))
        self.encoder = nn.Linear(win, hidden)
        self.mask = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.Sigmoid())
        self.decoder = nn.Linear(hidden, win)
        self.reset()

    def reset(self):
        self.head = None     # last half frame of input
        self.tail = None     # overlap of the output

    def forward(self, chunk):
        """chunk: (batch, k * hop) -> the same number of finished samples"""
        if self.head is None:
            self.head = chunk.new_zeros(chunk.shape[0], self.hop)
            self.tail = chunk.new_zeros(chunk.shape[0], self.hop)
        x = torch.cat([self.head, chunk], 1)
        frames = x.unfold(1, self.win, self.hop)
        code = torch.relu(self.encoder(frames))
        out = self.decoder(code * self.mask(code)) * self.window
        first, second = out[..., :self.hop], out[..., self.hop:]
        carried = torch.cat([self.tail.unsqueeze(1), second[:, :-1]], 1)
        self.head, self.tail = x[:, -self.hop:], second[:, -1]
        return (first + carried).flatten(1)


def si_snr_loss(est, ref, eps=1e-8):
    est, ref = est - est.mean(1, keepdim=True), ref - ref.mean(1, keepdim=True)
    proj = (est * ref).sum(1, keepdim=True) * ref / (ref.pow(2).sum(1, keepdim=True) + eps)
    noise = est - proj
    return -10 * torch.log10((proj.pow(2).sum(1) + eps) / (noise.pow(2).sum(1) + eps)).mean()


def segmental_snr(ref, est, seg=16):
    """the usual numpy metric, per segment, limited to [-10, 35] dB"""
    ref, est = ref.numpy(), est.numpy()
    r = ref.reshape(len(ref), -1, seg)
    e = r - est.reshape(len(est), -1, seg)
    snr = 10 * np.log10((r ** 2).sum(-1) / ((e ** 2).sum(-1) + 1e-10) + 1e-10)
    return float(np.clip(snr, -10, 35).mean())


def utterance(batch, n):
    t = torch.arange(n) / 16.0
    f = 0.5 + torch.rand(batch, 2, 1)
    clean = torch.sin(6.28 * f[:, 0] * t) + 0.5 * torch.sin(6.28 * 2 * f[:, 1] * t)
    return clean + 0.4 * torch.randn(batch, n), clean


def main():
    torch.manual_seed(11)
    model = StreamingDenoiser()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for utt in range(3):
        noisy, clean = utterance(6, 4 * 48)
        model.reset()
        losses, metric = [], []
        for x, y in zip(noisy.split(48, 1), clean.split(48, 1)):
            est = model(x)
            loss = si_snr_loss(est, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            metric.append(segmental_snr(y, est))
        print(f"utterance {utt} loss {np.mean(losses):.5f} last {losses[-1]:.5f} segSNR {np.mean(metric):.5f}")


if __name__ == "__main__":
    main()
