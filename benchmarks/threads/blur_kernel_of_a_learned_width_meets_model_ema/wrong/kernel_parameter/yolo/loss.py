from torch.nn import functional as F


def detection_loss(out, target):
    obj = F.binary_cross_entropy_with_logits(out[:, 0], target[:, 0])
    where = target[:, 0] > 0
    box = F.l1_loss(out[:, 1:].sigmoid().permute(0, 2, 3, 1)[where], target[:, 1:].permute(0, 2, 3, 1)[where])
    return obj + 0.5 * box, (obj.item(), box.item())
