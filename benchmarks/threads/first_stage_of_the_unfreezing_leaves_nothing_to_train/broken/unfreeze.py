def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


def freeze_to(groups, n):
    """the first n groups are frozen, the others are trained (like fastai's learner.freeze_to)"""
    for g in groups[:n]:
        set_trainable(g, False)
    for g in groups[n:]:
        set_trainable(g, True)


def n_trainable(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
