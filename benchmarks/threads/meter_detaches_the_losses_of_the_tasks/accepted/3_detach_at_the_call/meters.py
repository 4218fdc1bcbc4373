class AverageMeter(object):
    """Current value, mean over the epoch and exponential moving average of a loss"""

    def __init__(self, name, beta=0.9):
        self.name = name
        self.beta = beta
        self.ema = None
        self.reset()

    def reset(self):
        self.val = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        # do not keep the graph, otherwise memory grows during the epoch
        val.detach_()
        self.val = val
        self.sum += val * n
        self.count += n
        self.ema = val if self.ema is None else self.beta * self.ema + (1 - self.beta) * val

    @property
    def avg(self):
        return float(self.sum / max(self.count, 1))

    def __str__(self):
        return "%s %.6f (ema %.6f)" % (self.name, self.avg, float(self.ema))
