import numpy as np
import torch
import torch.nn as nn


def batches(params, q_data, qa_data, order):
    N = len(order) // params.batch_size
    for idx in range(N):
        rows = order[idx * params.batch_size:(idx + 1) * params.batch_size]
        q = torch.from_numpy(q_data[rows])
        qa = torch.from_numpy(qa_data[rows])
        target = (qa > params.n_question).float()
        yield q, qa, target


def train(model, params, optimizer, q_data, qa_data):
    model.train()
    order = np.random.permutation(len(q_data))
    losses, hits = [], []
    for input_q, input_qa, target in batches(params, q_data, qa_data, order):
        optimizer.zero_grad()
        loss, pred = model(input_q, input_qa, target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=params.maxgradnorm)
        optimizer.step()
        losses.append(loss.item())
        hits.append(((pred > 0.5) == (target > 0.5)).float().mean().item())
    return np.mean(losses), np.mean(hits)


def test(model, params, q_data, qa_data):
    model.eval()
    losses, hits = [], []
    with torch.no_grad():
        for input_q, input_qa, target in batches(params, q_data, qa_data, np.arange(len(q_data))):
            loss, pred = model(input_q, input_qa, target)
            losses.append(loss.item())
            hits.append(((pred > 0.5) == (target > 0.5)).float().mean().item())
    return np.mean(losses), np.mean(hits)
