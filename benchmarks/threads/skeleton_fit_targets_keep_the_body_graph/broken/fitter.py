import torch
import torch.nn.functional as F


def to_params(x, device):
    return x.detach().clone().to(device).requires_grad_(True)


class SkeletonFitter:
    def __init__(self, body, skel, cfg):
        self.body = body.eval()
        self.skel = skel.eval()
        self.cfg = cfg
        self.result = None

    def init_params(self, seq):
        frames = seq["pose"].shape[0]
        device = self.cfg.device
        return {
            "poses": to_params(torch.zeros(frames, self.skel.n_pose), device),
            "betas": to_params(0.5 * self.body.betas, device),
            "trans": to_params(torch.zeros(frames, 3), device),
        }

    def build_targets(self, seq):
        out = self.body(seq["pose"], seq["trans"])
        verts = out["vertices"]
        return {"verts": verts, "joints": self.skel.regress_joints(verts)}

    def losses(self, params, targets):
        cfg = self.cfg
        out = self.skel(**params)
        terms = {
            "verts": cfg.w_verts * F.mse_loss(out["vertices"], targets["verts"]),
            "joints": cfg.w_joints * (out["joints"] - targets["joints"]).abs().mean(),
            "pose": cfg.w_pose * params["poses"].pow(2).mean(),
        }
        speed = params["poses"][1:] - params["poses"][:-1]
        terms["smooth"] = cfg.w_smooth * speed.pow(2).mean()
        return terms

    def run_fit(self, seq, stages):
        params = self.init_params(seq)
        targets = self.build_targets(seq)
        history = {}
        for stage in stages:
            free = [params[name] for name in stage["free"]]
            optimizer = torch.optim.Adam(free, lr=self.cfg.lr)
            scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, self.cfg.gamma)
            values = []
            for _ in range(stage["iters"]):
                optimizer.zero_grad()
                terms = self.losses(params, targets)
                loss = sum(terms.values())
                loss.backward()
                optimizer.step()
                scheduler.step()
                values.append(loss.item())
            history[stage["name"]] = values
        self.result = {k: v.detach() for k, v in params.items()}
        return history
