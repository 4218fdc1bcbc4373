import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ['pdist', 'HardTriplet', 'RkdDistance', 'RKdAngle']


def pdist(e, squared=False, eps=1e-12):
    e_square = e.pow(2).sum(dim=1)
    prod = e @ e.t()
    res = (e_square.unsqueeze(1) + e_square.unsqueeze(0) - 2 * prod).clamp(min=eps)

    if not squared:
        res = res.sqrt()

    res = res * (1 - torch.eye(len(e)))
    return res


class HardTriplet(nn.Module):
    def __init__(self, margin=0.5):
        super(HardTriplet, self).__init__()
        self.margin = margin

    def forward(self, embeddings, labels):
        d = pdist(embeddings, squared=True)
        same = labels.unsqueeze(0) == labels.unsqueeze(1)
        far_pos = (d * same.float()).max(1)[0]
        near_neg = (d + 1e3 * same.float()).min(1)[0]
        return F.relu(far_pos - near_neg + self.margin).mean()


class RKdAngle(nn.Module):
    def forward(self, student, teacher):
        with torch.no_grad():
            td = teacher.unsqueeze(0) - teacher.unsqueeze(1)
            norm_td = F.normalize(td, p=2, dim=2)
            t_angle = torch.bmm(norm_td, norm_td.transpose(1, 2)).view(-1)

        sd = student.unsqueeze(0) - student.unsqueeze(1)
        norm_sd = F.normalize(sd, p=2, dim=2)
        s_angle = torch.bmm(norm_sd, norm_sd.transpose(1, 2)).view(-1)
        return F.smooth_l1_loss(s_angle, t_angle)


class RkdDistance(nn.Module):
    def forward(self, student, teacher):
        with torch.no_grad():
            t_d = pdist(teacher, squared=False)
            mean_td = t_d[t_d > 0].mean()
            t_d = t_d / mean_td

        d = pdist(student, squared=False)
        mean_d = d[d > 0].mean()
        d = d / mean_d
        return F.smooth_l1_loss(d, t_d)
