import torch


class _Splat(torch.autograd.Function):
    """Forward warping of 1-d frames: every pixel is thrown to x + flow and shared by its two neighbours."""

    @staticmethod
    def places(frame, flow):
        target = torch.arange(frame.shape[1]) + flow
        left = target.floor()
        return left.long(), target - left

    @staticmethod
    def forward(self, tenIn, tenFlow):
        self.save_for_backward(tenIn.clone(), tenFlow.clone())
        left, right_share = _Splat.places(tenIn, tenFlow)
        n, width = tenIn.shape
        out = tenIn.new_zeros(n, width + 2)
        out.scatter_add_(1, left.clamp(-1, width) + 1, tenIn * (1 - right_share))
        out.scatter_add_(1, (left + 1).clamp(-1, width) + 1, tenIn * right_share)
        return out[:, 1:-1].clone()

    @staticmethod
    def backward(self, gradOut):
        tenIn, tenFlow = self.saved_tensors
        left, right_share = _Splat.places(tenIn, tenFlow)
        padded = torch.nn.functional.pad(gradOut, (1, 1))
        width = tenIn.shape[1]
        at_left = padded.gather(1, left.clamp(-1, width) + 1)
        at_right = padded.gather(1, (left + 1).clamp(-1, width) + 1)
        return at_left * (1 - right_share) + at_right * right_share, tenIn * (at_right - at_left)


def splat(frame, flow):
    return _Splat.apply(frame, flow)
