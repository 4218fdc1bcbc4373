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
        self.shadow.load_state_dict(model.state_dict())
        for b_ema, b in zip(self.shadow.buffers(), model.buffers()):
            b_ema.copy_(b)

    def __call__(self, *args):
        return self.shadow(*args)
