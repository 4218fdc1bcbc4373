import torch
import torch.nn as nn


class LayeredDecoder(nn.Module):
    """Row-layered (serial) sum-product decoding. A check works with what the checks before it
    in the same sweep have already written, that is why it converges faster than flooding."""

    def __init__(self, H, sweeps):
        super().__init__()
        self.neighbours = [row.nonzero().flatten() for row in H]
        self.sweeps = sweeps
        self.max_degree = max(len(n) for n in self.neighbours)
        n_checks = H.size(0)
        self.edge_weight = nn.Parameter(torch.ones(sweeps, n_checks, self.max_degree))
        self.damping = nn.Parameter(torch.full((n_checks,), -1.5))   # before the sigmoid
        self.channel_weight = nn.Parameter(torch.ones(H.size(1)))

    def check_update(self, incoming, weight):
        """extrinsic tanh rule for one check: [batch, degree] -> [batch, degree]"""
        t = torch.tanh(incoming / 2).clamp(-0.999, 0.999)
        degree = t.size(1)
        others = [[k for k in range(degree) if k != j] for j in range(degree)]
        extrinsic = torch.stack([t[:, idx].prod(dim=1) for idx in others], dim=1)
        return 2 * torch.atanh(extrinsic) * weight[:degree]

    def forward(self, llr):
        batch = llr.size(0)
        messages = llr.new_zeros(batch, len(self.neighbours), self.max_degree)   # check -> variable
        total = llr * self.channel_weight
        outputs = []
        for sweep in range(self.sweeps):
            for c, idx in enumerate(self.neighbours):
                degree = len(idx)
                old = messages[:, c, :degree]
                incoming = total[:, idx] - old
                fresh = self.check_update(incoming, self.edge_weight[sweep, c])
                d = torch.sigmoid(self.damping[c])
                new = (1 - d) * fresh + d * old
                messages.data[:, c, :degree] = new.data
                total = total.index_add(1, idx, new - old)
            outputs.append(total)
        return outputs
