import torch
import torch.nn.functional as F

from data import points_of


def targets(points, box):
    left_top = points - box[:2]
    right_bottom = box[2:] - points
    distances = torch.cat([left_top, right_bottom], dim=1)
    return distances, distances.min(dim=1).values > 0


def iou_loss(pred, target):
    inter_w = torch.min(pred[:, 0], target[:, 0]) + torch.min(pred[:, 2], target[:, 2])
    inter_h = torch.min(pred[:, 1], target[:, 1]) + torch.min(pred[:, 3], target[:, 3])
    inter = inter_w * inter_h
    area_p = (pred[:, 0] + pred[:, 2]) * (pred[:, 1] + pred[:, 3])
    area_t = (target[:, 0] + target[:, 2]) * (target[:, 1] + target[:, 3])
    return 1 - (inter + 1) / (area_p + area_t - inter + 1)


def detection_loss(outputs, boxes, strides):
    cls_total, reg_total, ctr_total, positives = 0.0, 0.0, 0.0, 0
    for (cls_score, bbox_pred, centerness), stride in zip(outputs, strides):
        points = points_of(cls_score.shape[-2:], stride)
        for i, box in enumerate(boxes):
            distances, inside = targets(points, box)
            logits = cls_score[i].reshape(-1)
            cls_total = cls_total + F.binary_cross_entropy_with_logits(logits, inside.float(), reduction="sum")
            if not inside.any():
                continue
            pred = bbox_pred[i].permute(1, 2, 0).reshape(-1, 4)[inside]
            goal = distances[inside]
            reg_total = reg_total + iou_loss(pred, goal).sum() + 0.02 * F.l1_loss(pred, goal, reduction="sum")
            near = (goal[:, [0, 2]].min(1).values / goal[:, [0, 2]].max(1).values
                    * goal[:, [1, 3]].min(1).values / goal[:, [1, 3]].max(1).values).sqrt()
            ctr_total = ctr_total + F.binary_cross_entropy_with_logits(centerness[i].reshape(-1)[inside], near, reduction="sum")
            positives += int(inside.sum())
    positives = max(positives, 1)
    return {"cls": cls_total / positives, "reg": reg_total / positives, "ctr": ctr_total / positives}
