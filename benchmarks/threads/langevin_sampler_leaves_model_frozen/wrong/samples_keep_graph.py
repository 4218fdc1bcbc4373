import random
import torch
import torch.nn as nn
import torch.optim as optim


class Sampler:
    """Langevin dynamics with a buffer of earlier samples."""

    def __init__(self, model, img_shape, sample_size, max_len=64):
        self.model, self.img_shape, self.sample_size, self.max_len = model, img_shape, sample_size, max_len
        self.examples = [torch.rand((1,) + img_shape) * 2 - 1 for _ in range(sample_size)]

    def sample_new_exmps(self, steps=10, step_size=5):
        n_new = sum(random.random() < 0.05 for _ in range(self.sample_size))
        rand_imgs = torch.rand((n_new,) + self.img_shape) * 2 - 1
        old_imgs = torch.cat(random.choices(self.examples, k=self.sample_size - n_new), dim=0)
        inp_imgs = torch.cat([rand_imgs, old_imgs], dim=0).detach()
        inp_imgs = Sampler.generate_samples(self.model, inp_imgs, steps=steps, step_size=step_size)
        self.examples = list(inp_imgs.chunk(self.sample_size, dim=0)) + self.examples
        self.examples = self.examples[:self.max_len]
        return inp_imgs

    @staticmethod
    def generate_samples(model, inp_imgs, steps=10, step_size=5):
        # Only the gradient of the input is needed: set required gradients of the model to False
        is_training = model.training
        model.eval()
        inp_imgs.requires_grad = True
        noise = torch.randn(inp_imgs.shape)
        for _ in range(steps):
            noise.normal_(0, 0.005)
            inp_imgs.data.add_(noise.data)
            inp_imgs.data.clamp_(min=-1.0, max=1.0)
            out_imgs = -model(inp_imgs)
            out_imgs.sum().backward()
            inp_imgs.grad.data.clamp_(-0.03, 0.03)
            inp_imgs.data.add_(-step_size * inp_imgs.grad.data)
            inp_imgs.grad.detach_()
            inp_imgs.grad.zero_()
            inp_imgs.data.clamp_(min=-1.0, max=1.0)
        model.train(is_training)
        return inp_imgs


class DeepEnergyModel(nn.Module):
    def __init__(self, img_shape, alpha=0.1, lr=1e-3, beta1=0.0):
        super().__init__()
        self.alpha = alpha
        self.cnn = nn.Sequential(nn.Linear(img_shape[0], 24), nn.SiLU(), nn.Linear(24, 24), nn.SiLU(), nn.Linear(24, 1))
        self.sampler = Sampler(self.cnn, img_shape, sample_size=12)
        self.optimizer = optim.Adam(self.cnn.parameters(), lr=lr, betas=(beta1, 0.999))

    def training_step(self, real_imgs):
        real_imgs = real_imgs.add(torch.randn_like(real_imgs) * 0.005).clamp(min=-1.0, max=1.0)
        fake_imgs = self.sampler.sample_new_exmps(steps=6, step_size=5)
        inp_imgs = torch.cat([real_imgs, fake_imgs], dim=0)
        real_out, fake_out = self.cnn(inp_imgs).squeeze(dim=-1).chunk(2, dim=0)
        reg_loss = self.alpha * (real_out ** 2 + fake_out ** 2).mean()
        cdiv_loss = fake_out.mean() - real_out.mean()
        loss = reg_loss + cdiv_loss
        loss.backward()
        nn.utils.clip_grad_norm_(self.cnn.parameters(), 0.1)
        self.optimizer.step()
        return loss.item(), cdiv_loss.item()


if __name__ == "__main__":
    torch.manual_seed(42)
    random.seed(42)
    ebm = DeepEnergyModel((4,))
    for it in range(6):
        data = torch.tanh(torch.randn(12, 1) * torch.tensor([1.0, -1.0, 0.5, 0.2]) + 0.1 * torch.randn(12, 4))
        print("it %d loss %.6f contrastive divergence %.6f" % (it, *ebm.training_step(data)))
