import torch
import torch.nn as nn
import torch.nn.functional as F

from box_utils import match


class MultiBoxLoss(nn.Module):
    """SSD weighted loss: smooth L1 for matched priors, focused cross entropy
    for them and for the hardest negatives (neg:pos at most 3:1)."""

    def __init__(self, num_classes, overlap_thresh, neg_pos, gamma):
        super(MultiBoxLoss, self).__init__()
        self.num_classes = num_classes
        self.threshold = overlap_thresh
        self.negpos_ratio = neg_pos
        self.gamma = gamma

    def encode(self, priors, targets):
        loc_t, conf_t = [], []
        for t in targets:
            loc, conf = match(self.threshold, t[:, :4], priors, t[:, 4])
            loc_t.append(loc)
            conf_t.append(conf)
        return torch.stack(loc_t), torch.stack(conf_t)

    def forward(self, predictions, targets):
        loc_data, conf_data, priors = predictions
        num = loc_data.size(0)
        loc_t, conf_t = self.encode(priors, targets)
        pos = conf_t > 0

        # Localization Loss (Smooth L1)
        loss_l = F.smooth_l1_loss(loc_data[pos], loc_t[pos], reduction='sum')

        # Confidence of every prior, once for mining and for the loss
        loss_c = F.cross_entropy(conf_data.view(-1, self.num_classes), conf_t.view(-1),
                                 reduction='none').view(num, -1)

        neg = self.hard_negatives(loss_c, pos)
        focal = (1 - torch.exp(-loss_c)) ** self.gamma * loss_c
        keep = (pos | neg).float()
        loss_c = (focal * keep).sum()

        N = pos.sum().clamp(min=1).float()
        return loss_l / N, loss_c / N

    def hard_negatives(self, loss_c, pos):
        loss_c[pos] = 0  # filter out pos boxes for now
        _, loss_idx = loss_c.sort(1, descending=True)
        _, idx_rank = loss_idx.sort(1)
        num_pos = pos.long().sum(1, keepdim=True)
        num_neg = torch.clamp(self.negpos_ratio * num_pos, max=pos.size(1) - 1)
        return (idx_rank < num_neg.expand_as(idx_rank)) & ~pos

    def recall(self, predictions, targets):
        _, conf_data, priors = predictions
        _, conf_t = self.encode(priors, targets)
        pos = conf_t > 0
        return (conf_data.argmax(-1)[pos] == conf_t[pos]).float().mean().item()
