import torch
import torch.nn.functional as F


class Client:
    """SCAFFOLD (option II): c_i+ = c_i - c + (x - y_i) / (K * lr)"""

    def __init__(self, cid, x, y, make_model, cfg):
        self.cid, self.x, self.y, self.cfg = cid, x, y, cfg
        self.model = make_model()
        self.control = {k: torch.zeros_like(p) for k, p in self.model.named_parameters()}

    def local_train(self, global_model, c_global):
        self.model.load_state_dict(global_model.state_dict())
        opt = torch.optim.SGD(self.model.parameters(), lr=self.cfg["lr"])
        n, steps = len(self.x), 0
        for _ in range(self.cfg["local_epochs"]):
            for i in range(0, n, self.cfg["batch"]):
                opt.zero_grad()
                loss = F.cross_entropy(self.model(self.x[i:i + self.cfg["batch"]]), self.y[i:i + self.cfg["batch"]])
                loss.backward()
                # 用控制变量修正漂移
                for k, p in self.model.named_parameters():
                    p.grad.data.add_(c_global[k].data - self.control[k].data)
                opt.step()
                steps += 1
        self.uploaded = {k: v.detach() for k, v in self._update_control(global_model, c_global, steps).items()}
        return loss.item()

    def _update_control(self, global_model, c_global, steps):
        local = dict(self.model.named_parameters())
        new = {}
        for k, w in global_model.named_parameters():
            new[k] = self.control[k] - c_global[k] + (w - local[k]) / (steps * self.cfg["lr"])
        return new
