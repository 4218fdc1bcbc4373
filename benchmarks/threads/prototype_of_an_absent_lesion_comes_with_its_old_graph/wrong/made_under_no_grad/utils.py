class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, v):
        self.sum += v
        self.count += 1

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


def class_dice(pred, true, num_classes):
    scores = []
    for c in range(num_classes):
        p, t = pred == c, true == c
        scores.append((2.0 * (p & t).sum() / (p.sum() + t.sum()).clamp(min=1)).item())
    return scores
