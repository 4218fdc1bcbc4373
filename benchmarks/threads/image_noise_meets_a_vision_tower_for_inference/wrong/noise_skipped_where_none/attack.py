import torch


class JointAttack:
    """Sign steps on one noise image for all prompts, Adam on a soft suffix."""

    def __init__(self, model, args):
        self.model, self.args = model, args
        self.adv_noise = torch.zeros(1, 3, 12, 12, requires_grad=True)
        dim = model.language_model.embed_tokens.embedding_dim
        self.suffix = (0.1 * torch.randn(1, args.suffix_len, dim)).requires_grad_(True)
        self.noise_opt = torch.optim.SGD([self.adv_noise], lr=args.alpha)
        self.suffix_opt = torch.optim.Adam([self.suffix], lr=5e-2)

    def apply(self, data):
        images = (data["images"] + self.adv_noise).clamp(0, 1)
        return {**data, "images": images}

    def run(self, data):
        rows = []
        for i in range(self.args.iters):
            loss = self.model(self.apply(data), self.suffix)
            self.noise_opt.zero_grad()
            self.suffix_opt.zero_grad()
            loss.backward()
            if self.adv_noise.grad is not None:
                self.adv_noise.grad = self.adv_noise.grad.detach().sign()
            self.noise_opt.step()
            self.suffix_opt.step()
            with torch.no_grad():
                self.adv_noise.clamp_(-self.args.eps, self.args.eps)
            rows.append({
                "iter": i,
                "loss": loss.item(),
                "noise": self.adv_noise.detach().abs().mean().item(),
                "suffix": self.suffix.detach().norm().item(),
            })
        return rows
