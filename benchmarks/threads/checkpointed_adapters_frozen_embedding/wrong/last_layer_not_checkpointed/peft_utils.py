def mark_only_adapters_trainable(model):
    for name, p in model.named_parameters():
        p.requires_grad = "adapter" in name


def trainable(model):
    return [p for p in model.parameters() if p.requires_grad]


def summary(model):
    n = sum(p.numel() for p in trainable(model))
    return f"trainable {n} of {sum(p.numel() for p in model.parameters())}"
