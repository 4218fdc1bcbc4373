import numpy as np


def dice_score(pred, target, threshold=0.5, eps=1e-7):
    """pred, target: arrays of shape (N, 1, H, W)"""
    pred = np.asarray(pred) > threshold
    target = np.asarray(target) > 0.5
    inter = np.logical_and(pred, target).sum(axis=(1, 2, 3))
    total = pred.sum(axis=(1, 2, 3)) + target.sum(axis=(1, 2, 3))
    return ((2 * inter + eps) / (total + eps)).mean()


def iou_score(pred, target, threshold=0.5, eps=1e-7):
    pred = np.asarray(pred) > threshold
    target = np.asarray(target) > 0.5
    inter = np.logical_and(pred, target).sum(axis=(1, 2, 3))
    union = np.logical_or(pred, target).sum(axis=(1, 2, 3))
    return ((inter + eps) / (union + eps)).mean()


class Meter:
    """collects the scores of one epoch"""

    def __init__(self, phase, epoch):
        self.phase = phase
        self.epoch = epoch
        self.dice, self.iou = [], []

    def update(self, targets, probs):
        self.dice.append(dice_score(probs, targets))
        self.iou.append(iou_score(probs, targets))

    def get_metrics(self):
        return np.mean(self.dice), np.mean(self.iou)
