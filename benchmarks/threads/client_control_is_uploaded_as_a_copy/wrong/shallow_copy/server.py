import copy
import logging

import torch

logger = logging.getLogger("server")


class Server:
    def __init__(self, clients, make_model, cfg):
        self.clients, self.cfg = clients, cfg
        self.global_model = make_model()
        self.c_global = {k: torch.zeros_like(p) for k, p in self.global_model.named_parameters()}

    @torch.no_grad()
    def aggregate(self, states, controls):
        n = len(states)
        mean = states[0]
        for s in states[1:]:
            for k in mean:
                mean[k] += s[k]
        self.global_model.load_state_dict({k: v / n for k, v in mean.items()})
        c = controls[0]
        for other in controls[1:]:
            for k in c:
                c[k] += other[k]
        self.c_global = {k: v / n for k, v in c.items()}

    def round(self, r):
        states, controls, losses = [], [], []
        for client in self.clients:
            losses.append(client.local_train(self.global_model, self.c_global))
            states.append(copy.deepcopy(client.model.state_dict()))
            # 上传的是副本，下面会被累加
            controls.append(copy.copy(client.control))
        self.aggregate(states, controls)
        norm = sum(v.pow(2).sum() for v in self.c_global.values()).sqrt().item()
        logger.info("round %d finished", r)
        print("round %d loss %.6f |c| %.6f" % (r, sum(losses) / len(losses), norm))
