import numpy as np
import torch

import losses
from models import D, G, G_D

config = {
    'seed': 8, 'dim_z': 5, 'n_class': 3, 'batch_size': 16, 'num_D_steps': 2, 'num_iters': 5,
    'G_lr': 1e-3, 'D_lr': 2e-3, 'lecam_ratio': 0.3, 'ema_decay': 0.9, 'ema_start': 1,
}


def toggle_grad(model, on):
    for p in model.parameters():
        p.requires_grad = on


def sample_data(rng, n):
    y = rng.randint(0, config['n_class'], n)
    x = np.tanh(np.eye(8)[y] * 1.5 + 0.2 * rng.normal(size=(n, 8)))
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)


def create_train_fn(gen, dis, gd, opt_G, opt_D, ema_losses):
    def noise(n):
        return torch.randn(n, config['dim_z']), torch.randint(config['n_class'], (n,))

    def train(x, y, itr):
        opt_G.zero_grad()
        opt_D.zero_grad()
        xs, ys = torch.split(x, config['batch_size']), torch.split(y, config['batch_size'])
        toggle_grad(dis, True)
        toggle_grad(gen, False)
        for step in range(config['num_D_steps']):
            opt_D.zero_grad()
            z, gy = noise(config['batch_size'])
            D_fake, D_real = gd(z, gy, xs[step], ys[step], train_G=False)
            D_loss_real, D_loss_fake = losses.loss_hinge_dis(D_fake, D_real)
            # track
            ema_losses.update(torch.mean(D_loss_real).item(), 'D_loss_real', itr)
            ema_losses.update(torch.mean(D_loss_fake).item(), 'D_loss_fake', itr)
            ema_losses.update(torch.mean(D_real).item(), 'D_real', itr)
            ema_losses.update(torch.mean(D_fake).item(), 'D_fake', itr)
            D_loss = D_loss_real + D_loss_fake
            if config['lecam_ratio'] > 0 and itr > config['ema_start']:
                lecam = losses.lecam_reg(D_real, D_fake, ema_losses) * config['lecam_ratio']
            else:
                lecam = torch.tensor(0.)
            (D_loss + lecam).backward()
            opt_D.step()

        toggle_grad(dis, False)
        toggle_grad(gen, True)
        opt_G.zero_grad()
        z, gy = noise(config['batch_size'])
        G_loss = losses.loss_hinge_gen(gd(z, gy, train_G=True))
        G_loss.backward()
        opt_G.step()
        ema_losses.update(G_loss.item(), 'G_loss', itr)
        return {'G_loss': G_loss.item(), 'D_loss': D_loss.item(), 'lecam': lecam.item()}

    return train


def run():
    torch.manual_seed(config['seed'])
    rng = np.random.RandomState(config['seed'])
    gen, dis = G(config['dim_z'], config['n_class']), D(config['n_class'])
    opt_G = torch.optim.Adam(gen.parameters(), lr=config['G_lr'], betas=(0., 0.99))
    opt_D = torch.optim.Adam(dis.parameters(), lr=config['D_lr'], betas=(0., 0.99))
    ema_losses = losses.EMA(decay=config['ema_decay'], start_itr=config['ema_start'])
    train = create_train_fn(gen, dis, G_D(gen, dis), opt_G, opt_D, ema_losses)
    for itr in range(config['num_iters']):
        x, y = sample_data(rng, config['batch_size'] * config['num_D_steps'])
        metrics = train(x, y, itr)
        print(itr, ' '.join('%s: %.6f' % kv for kv in metrics.items()))


if __name__ == '__main__':
    run()
