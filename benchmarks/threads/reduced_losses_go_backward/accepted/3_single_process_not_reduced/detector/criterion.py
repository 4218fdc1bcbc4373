import torch
import torch.nn.functional as F
from torch import nn


class SetCriterion(nn.Module):
    """ This class computes the loss for the detector (queries are already in the order of the targets). """

    def __init__(self, weight_dict):
        super().__init__()
        self.weight_dict = weight_dict

    def loss_labels(self, outputs, targets):
        logits, labels = outputs['pred_logits'], targets['labels']
        losses = {'loss_ce': F.cross_entropy(logits.transpose(1, 2), labels)}
        # TODO this should probably be a separate loss, not hacked in this one here
        losses['class_error'] = 100 - 100 * (logits.argmax(-1) == labels).float().mean()
        return losses

    def loss_boxes(self, outputs, targets):
        src, tgt = outputs['pred_boxes'], targets['boxes']
        return {'loss_bbox': F.l1_loss(src[..., :2], tgt[..., :2]),
                'loss_size': F.smooth_l1_loss(src[..., 2:].log(), tgt[..., 2:].clamp(min=.05).log())}

    def forward(self, outputs, targets):
        losses = {}
        losses.update(self.loss_labels(outputs, targets))
        losses.update(self.loss_boxes(outputs, targets))
        return losses
