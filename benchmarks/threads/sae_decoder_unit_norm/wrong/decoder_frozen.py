import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

# Sparse autoencoder on residual-stream activations (here: synthetic superposition, Elhage et al. style).
# Decoder rows are kept on the unit sphere, otherwise the L1 penalty can be cheated by shrinking W_enc / growing W_dec.


class SAE(nn.Module):
    def __init__(self, d_in, d_sae, l1):
        super().__init__()
        self.l1 = l1
        w = torch.randn(d_sae, d_in)
        self.W_dec = nn.Parameter(w / w.norm(dim=1, keepdim=True))
        self.W_enc = nn.Parameter(0.5 * self.W_dec.detach().t().clone())
        self.b_enc = nn.Parameter(torch.zeros(d_sae))
        self.b_dec = nn.Parameter(torch.zeros(d_in))

    def encode(self, x):
        return F.relu((x - self.b_dec) @ self.W_enc + self.b_enc)

    def decode(self, f):
        return f @ self.W_dec + self.b_dec

    def forward(self, x):
        f = self.encode(x)
        rec = self.decode(f)
        mse = (rec - x).pow(2).sum(-1).mean()
        sparsity = f.abs().sum(-1).mean()
        return mse + self.l1 * sparsity, mse, (f > 0).float().sum(-1).mean()

    def set_decoder_norm_to_unit_norm(self):
        self.W_dec.requires_grad_(False)
        self.W_dec /= torch.norm(self.W_dec, dim=1, keepdim=True)

    def remove_gradient_parallel_to_decoder_directions(self):
        if not self.W_dec.requires_grad or self.W_dec.grad is None:
            return
        dec = self.W_dec.detach()
        parallel = (self.W_dec.grad * dec).sum(1, keepdim=True)
        self.W_dec.grad -= parallel * dec


class ActivationStore:
    def __init__(self, d_in, n_features, p=0.08):
        self.dirs = F.normalize(torch.randn(n_features, d_in), dim=1)
        self.p = p

    def next_batch(self, n):
        on = (torch.rand(n, self.dirs.shape[0]) < self.p).float()
        return (on * torch.rand_like(on)) @ self.dirs


def warmup(step, n=4):
    return min(1.0, (step + 1) / n)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--d-in", type=int, default=12)
    parser.add_argument("--expansion", type=int, default=3)
    parser.add_argument("--l1", type=float, default=0.08)
    parser.add_argument("--steps", type=int, default=9)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--log-every", type=int, default=2)
    cfg = parser.parse_args([])
    torch.manual_seed(123)
    store = ActivationStore(cfg.d_in, 30)
    sae = SAE(cfg.d_in, cfg.expansion * cfg.d_in, cfg.l1)
    opt = torch.optim.Adam(sae.parameters(), lr=cfg.lr, betas=(0.0, 0.999))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, warmup)
    for step in range(cfg.steps):
        loss, mse, l0 = sae(store.next_batch(128))
        opt.zero_grad()
        loss.backward()
        sae.remove_gradient_parallel_to_decoder_directions()
        opt.step()
        sched.step()
        sae.set_decoder_norm_to_unit_norm()
        if step % cfg.log_every == 0:
            print(f"step {step} loss {loss.item():.5f} mse {mse.item():.5f} l0 {l0.item():.3f}")
    with torch.no_grad():
        best = (F.normalize(sae.W_dec, dim=1) @ store.dirs.t()).max(0).values.mean()
    print(f"mean max cosine {best.item():.5f}")


if __name__ == "__main__":
    main()
