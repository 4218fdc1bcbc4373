import numpy as np
import torch

import data_utils
from models import NNFO

torch.manual_seed(432)
np.random.seed(432)
torch.set_num_threads(1)

params_dict = dict(hidden_size=12, p_hidden=10, prep_hidden=4, mixing=0.01, delta_t=0.1, T=1.0,
                   lr=0.01, epochs=3, batch_size=8, weight_decay=1e-4)

train_set = data_utils.simulate(32, params_dict["T"], seed=1)
val_set = data_utils.simulate(16, params_dict["T"], seed=2)

nnfo = NNFO(input_size=2, hidden_size=params_dict["hidden_size"], p_hidden=params_dict["p_hidden"],
            prep_hidden=params_dict["prep_hidden"], mixing=params_dict["mixing"])
optimizer = torch.optim.Adam(nnfo.parameters(), lr=params_dict["lr"], weight_decay=params_dict["weight_decay"])

for epoch in range(params_dict["epochs"]):
    nnfo.train()
    total = 0.0
    batches = data_utils.batches(train_set, params_dict["batch_size"])
    for times, time_ptr, X, obs_idx, n in batches:
        optimizer.zero_grad()
        loss, pre, post = nnfo(times, time_ptr, X, obs_idx, n, params_dict["delta_t"], params_dict["T"])
        loss.backward()
        optimizer.step()
        total += loss.item() / len(batches)

    with torch.no_grad():
        nnfo.eval()
        val = [nnfo(*b, params_dict["delta_t"], params_dict["T"])
               for b in data_utils.batches(val_set, params_dict["batch_size"])]
        pre = sum(v[1].item() for v in val) / len(val)
        post = sum(v[2].item() for v in val) / len(val)
    print(f"epoch {epoch}: train loss {total:.6f}, val before update {pre:.6f}, val after update {post:.6f}")
