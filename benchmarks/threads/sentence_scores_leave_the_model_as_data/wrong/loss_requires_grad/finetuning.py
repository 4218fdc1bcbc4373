import numpy as np
import torch
import torch.nn as nn


def freeze_layers(model, unfrozen):
    for name, parameter in model.named_parameters():
        parameter.requires_grad = any(name.startswith(u) for u in unfrozen)


def evaluate_using_acc(model, batches):
    model.eval()
    hits, count = 0, 0
    for tokens, lengths, labels in batches:
        outputs = model(tokens, lengths)
        hits += int(np.sum(np.argmax(outputs.numpy(), axis=1) == labels.numpy()))
        count += len(labels)
    return hits / count


def fit_model(model, train, val, epochs, lr):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=lr)
    for epoch in range(epochs):
        model.train()
        losses = []
        for tokens, lengths, labels in train:
            optimizer.zero_grad()
            loss = criterion(model(tokens, lengths), labels)
            loss.requires_grad = True
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print("  %d Epoch val acc %.4f train loss %.5f" % (epoch + 1, evaluate_using_acc(model, val), np.mean(losses)))


def finetune(model, train, val, method="last"):
    if method == "last":
        stages = [(["output_layer"], 3, 2e-2)]
    elif method == "chain-thaw":
        stages = [(["output_layer"], 2, 2e-2), (["lstm_1", "attention_layer"], 1, 5e-3), ([""], 1, 2e-3)]
    else:
        raise ValueError(method)
    for unfrozen, epochs, lr in stages:
        print("training", ", ".join(u or "everything" for u in unfrozen))
        freeze_layers(model, unfrozen)
        fit_model(model, train, val, epochs, lr)
    return model
