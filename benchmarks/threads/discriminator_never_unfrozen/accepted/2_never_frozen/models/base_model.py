class BaseModel:
    loss_names = []

    def get_current_losses(self):
        return {n: float(getattr(self, 'loss_' + n)) for n in self.loss_names}

    def set_requires_grad(self, nets, requires_grad=False):
        """Чтобы не считать лишние градиенты"""
        if not isinstance(nets, list):
            nets = [nets]
        for net in nets:
            for param in net.parameters():
                param.requires_grad = requires_grad
