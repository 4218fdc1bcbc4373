import torch
import torch.nn as nn
import torch.nn.functional as F


class JacobianDistillation(nn.Module):
    """CE + softened KL + distance between the (normalised) input gradients of the
    winning logit, cf. "Knowledge Transfer with Jacobian Matching"."""

    def __init__(self, T, w_jac):
        super().__init__()
        self.T = T
        self.w_jac = w_jac

    def input_gradient(self, logits, x, winner):
        score = logits.gather(1, winner.unsqueeze(1)).sum()
        grad = torch.autograd.grad(score, x, create_graph=True)[0]
        return F.normalize(grad, dim=1)

    def forward(self, student, teacher, x, y):
        x = x.clone().requires_grad_(True)

        # the teacher only gives targets
        with torch.no_grad():
            t_logits = teacher(x)
            winner = t_logits.argmax(dim=1)
        t_grad = self.input_gradient(teacher(x), x, winner).detach()

        s_logits = student(x)
        s_grad = self.input_gradient(s_logits, x, winner)

        ce = F.cross_entropy(s_logits, y)
        kd = F.kl_div(F.log_softmax(s_logits / self.T, dim=1), F.softmax(t_logits / self.T, dim=1),
                      reduction='batchmean') * self.T ** 2
        jac = self.w_jac * (s_grad - t_grad).pow(2).sum(dim=1).mean()
        return ce, kd, jac
