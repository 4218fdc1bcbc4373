import torch


class SignalTasks:
    """Each task has its own blur; support and query are different signals."""

    def sample(self, n=10):
        kernel = torch.softmax(torch.randn(3), 0).view(1, 1, 3)
        return self.pairs(n, kernel), self.pairs(n, kernel)

    def pairs(self, n, kernel):
        t = torch.linspace(0, 6.0, 16)
        high = torch.rand(n, 1) * torch.sin(t + 6.0 * torch.rand(n, 1)) + 0.3 * torch.cos(3 * t * torch.rand(n, 1))
        low = torch.nn.functional.conv1d(high.unsqueeze(1), kernel, padding=1).squeeze(1)[:, ::2]
        return low, high
