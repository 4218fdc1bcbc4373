import copy


class GeneratorEMA(object):
    """Moving average of the generator, used for sampling only.

    warm up: decay grows from (1/10) to `decay`
    """

    def __init__(self, model, decay=0.995):
        self.decay = decay
        self.updates = 0
        self.shadow = copy.deepcopy(model)
        self.shadow.eval()

    def update(self, model):
        self.updates += 1
        d = min(self.decay, (1. + self.updates) / (10. + self.updates))
        for p_ema, p in zip(self.shadow.parameters(), model.parameters()):
            p_ema.mul_(d).add_(p, alpha=1 - d)
        for b_ema, b in zip(self.shadow.buffers(), model.buffers()):
            b_ema.copy_(b)

    def __call__(self, *args):
        return self.shadow(*args)
