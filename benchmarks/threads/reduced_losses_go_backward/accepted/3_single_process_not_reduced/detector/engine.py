"""Train and eval functions used in main.py"""
import math
import sys

import torch

from .misc import MetricLogger, reduce_dict


def train_one_epoch(model, criterion, data_loader, optimizer, epoch, max_norm=0.1):
    model.train()
    criterion.train()
    logger = MetricLogger()

    for samples, targets in data_loader:
        outputs = model(samples)
        loss_dict = criterion(outputs, targets)
        weight_dict = criterion.weight_dict

        # reduce losses over all GPUs for logging purposes
        loss_dict_reduced = reduce_dict(loss_dict)
        loss_dict_reduced_unscaled = {f'{k}_unscaled': v for k, v in loss_dict_reduced.items()}
        losses = sum(loss_dict_reduced[k] * weight_dict[k] for k in loss_dict_reduced.keys() if k in weight_dict)

        loss_value = losses.item()
        if not math.isfinite(loss_value):
            print("Loss is {}, stopping training".format(loss_value))
            sys.exit(1)

        optimizer.zero_grad()
        losses.backward()
        if max_norm > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()

        logger.update(loss=loss_value, class_error=loss_dict_reduced['class_error'],
                      **loss_dict_reduced_unscaled)
    print('Epoch', epoch, logger)
    return logger


@torch.no_grad()
def evaluate(model, criterion, data_loader):
    model.eval()
    criterion.eval()
    logger = MetricLogger()
    for samples, targets in data_loader:
        logger.update(**reduce_dict(criterion(model(samples), targets)))
    print('Test', logger)
