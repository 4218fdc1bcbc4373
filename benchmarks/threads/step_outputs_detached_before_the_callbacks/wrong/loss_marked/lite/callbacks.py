class Callback:
    def on_after_training_step(self, trainer, module, outputs):
        """may change the outputs, the trainer then goes on with these"""

    def on_epoch_end(self, trainer, logs):
        pass


class KLAnneal(Callback):
    """weight of the KL term rises linearly to 1"""

    def __init__(self, start, steps):
        self.start, self.steps = start, steps

    def on_after_training_step(self, trainer, module, outputs):
        beta = min(1.0, self.start + trainer.global_step / self.steps)
        outputs["loss"] = outputs["rec"] + beta * outputs["kl"]


class Progress(Callback):
    def on_after_training_step(self, trainer, module, outputs):
        print("step %d loss %.6f kl %.6f" % (trainer.global_step, outputs["loss"].item(), outputs["kl"].item()))

    def on_epoch_end(self, trainer, logs):
        print("epoch " + " ".join("%s %.6f" % kv for kv in logs.items()))
