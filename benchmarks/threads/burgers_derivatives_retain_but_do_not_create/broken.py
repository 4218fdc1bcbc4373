import numpy as np
import torch
from torch import nn
from torch.autograd import grad

torch.manual_seed(1234)
np.random.seed(1234)

nu = 0.05


class MLP(nn.Module):

    def __init__(self, layers):
        super(MLP, self).__init__()
        mods = []
        for i in range(len(layers) - 2):
            lin = nn.Linear(layers[i], layers[i + 1])
            nn.init.xavier_normal_(lin.weight)
            nn.init.zeros_(lin.bias)
            mods += [lin, nn.Tanh()]
        mods.append(nn.Linear(layers[-2], layers[-1]))
        self.net = nn.Sequential(*mods)

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


class BurgersPINN():

    def __init__(self, X_u, u, X_f, layers):
        self.x_u = torch.tensor(X_u[:, 0:1], requires_grad=True).float()
        self.t_u = torch.tensor(X_u[:, 1:2], requires_grad=True).float()
        self.x_f = torch.tensor(X_f[:, 0:1], requires_grad=True).float()
        self.t_f = torch.tensor(X_f[:, 1:2], requires_grad=True).float()
        self.u = torch.tensor(u).float()

        self.dnn = MLP(layers)
        self.optimizer = torch.optim.Adam(self.dnn.parameters(), lr=2e-3)
        self.iter = 0

    def net_u(self, x, t):
        return self.dnn(x, t)

    def net_f(self, x, t):
        """ residual  u_t + u u_x - nu u_xx """
        u = self.net_u(x, t)

        u_t = grad(u, t, grad_outputs=torch.ones_like(u), retain_graph=True)[0]
        u_x = grad(u, x, grad_outputs=torch.ones_like(u), retain_graph=True)[0]
        u_xx = grad(u_x, x, grad_outputs=torch.ones_like(u_x), retain_graph=True)[0]

        return u_t + u * u_x - nu * u_xx

    def train(self, nIter):
        self.dnn.train()
        for epoch in range(nIter):
            u_pred = self.net_u(self.x_u, self.t_u)
            f_pred = self.net_f(self.x_f, self.t_f)
            loss_u = torch.mean((self.u - u_pred) ** 2)
            loss_f = torch.mean(f_pred ** 2)
            loss = loss_u + loss_f

            self.optimizer.zero_grad()
            # x_f and t_f are the same tensors in all iterations
            loss.backward(retain_graph=True)
            self.optimizer.step()

            self.iter += 1
            if self.iter % 5 == 0:
                print('Iter %d, Loss: %.5e, Loss_u: %.5e, Loss_f: %.5e'
                      % (self.iter, loss.item(), loss_u.item(), loss_f.item()))

    def predict(self, X):
        x = torch.tensor(X[:, 0:1], requires_grad=True).float()
        t = torch.tensor(X[:, 1:2], requires_grad=True).float()
        self.dnn.eval()
        u = self.net_u(x, t)
        f = self.net_f(x, t)
        return u.detach().numpy(), f.detach().numpy()


def boundary_data(n):
    x0 = np.random.uniform(-1, 1, (n, 1))
    initial = np.hstack([x0, np.zeros_like(x0)])
    t0 = np.random.uniform(0, 1, (n, 1))
    left = np.hstack([-np.ones_like(t0), t0])
    right = np.hstack([np.ones_like(t0), t0])
    X = np.vstack([initial, left, right])
    u = np.vstack([-np.sin(np.pi * x0), np.zeros((2 * n, 1))])
    return X, u


if __name__ == "__main__":
    X_u, u = boundary_data(16)
    X_f = np.vstack([np.random.uniform([-1, 0], [1, 1], (60, 2)), X_u])

    model = BurgersPINN(X_u, u, X_f, [2, 16, 16, 1])
    model.train(20)

    X_star = np.stack(np.meshgrid(np.linspace(-1, 1, 9), np.linspace(0, 1, 5)), -1).reshape(-1, 2)
    u_star, f_star = model.predict(X_star)
    print('mean |u| %.5f' % np.abs(u_star).mean())
    print('mean |f| %.5f' % np.abs(f_star).mean())
