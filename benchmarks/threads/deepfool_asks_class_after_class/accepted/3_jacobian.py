# DeepFool adversarial training on a small toy problem
# attack taken from the authors' code (LTS4/DeepFool) and ported from Variable to plain tensors
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
np.random.seed(3)

NUM_CLASSES = 4


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.fc1 = nn.Linear(4 * 3 * 3, 16)
        self.fc2 = nn.Linear(16, NUM_CLASSES)

    def forward(self, x):
        x = F.max_pool2d(torch.tanh(self.conv(x)), 2)
        x = torch.tanh(self.fc1(x.flatten(1)))
        return self.fc2(x)


def make_data(n=48):
    """bright quadrant = class"""
    x = 0.3 * torch.randn(n, 1, 6, 6)
    y = torch.randint(0, NUM_CLASSES, (n,))
    for i, c in enumerate(y.tolist()):
        r, s = divmod(c, 2)
        x[i, 0, 3 * r:3 * r + 3, 3 * s:3 * s + 3] += 1.0
    return x, y


def deepfool(image, net, num_classes=NUM_CLASSES, overshoot=0.02, max_iter=4):
    """
    :param image: 1 x H x W
    :return: minimal perturbation that fools the classifier, number of iterations, new label, perturbed image
    """
    f_image = net(image[None]).detach().numpy().flatten()
    I = f_image.argsort()[::-1][:num_classes].copy()
    label = int(I[0])

    pert_image = copy.deepcopy(image)
    r_tot = torch.zeros_like(image)
    loop_i = 0
    x = pert_image[None].clone().requires_grad_(True)
    fs = net(x)
    k_i = label

    while k_i == label and loop_i < max_iter:
        pert = np.inf
        jac = torch.autograd.functional.jacobian(lambda v: net(v)[0], x.detach())
        grad_orig = jac[I[0]]

        for k in range(1, num_classes):
            cur_grad = jac[I[k]]

            # set new w_k and new f_k
            w_k = cur_grad - grad_orig
            f_k = (fs[0, I[k]] - fs[0, I[0]]).item()
            pert_k = abs(f_k) / (w_k.norm().item() + 1e-8)

            # determine which w_k to use
            if pert_k < pert:
                pert = pert_k
                w = w_k

        # compute r_i and r_tot
        r_i = (pert + 1e-4) * w[0] / (w.norm() + 1e-8)
        r_tot = r_tot + r_i
        pert_image = image + (1 + overshoot) * r_tot

        x = pert_image[None].clone().requires_grad_(True)
        fs = net(x)
        k_i = int(fs[0].argmax())
        loop_i += 1

    return (1 + overshoot) * r_tot, loop_i, k_i, pert_image


def train(net, x, y, epochs=3, batch_size=8):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.5)
    for epoch in range(epochs):
        perm = torch.from_numpy(np.random.permutation(len(x)))
        running, moved, queries = 0.0, 0.0, 0
        for i in range(0, len(x), batch_size):
            xb, yb = x[perm[i:i + batch_size]], y[perm[i:i + batch_size]]
            adv = []
            for image in xb[:4]:
                r, n, _, p = deepfool(image, net)
                adv.append(p)
                moved += r.norm().item()
                queries += n
            adv = torch.stack(adv)

            optimizer.zero_grad()
            loss = F.cross_entropy(net(xb), yb) + 0.5 * F.cross_entropy(net(adv), yb[:4])
            loss.backward()
            optimizer.step()
            running += loss.item()
        print('epoch %d  loss %.5f  mean perturbation %.5f  iterations %d' % (epoch, running / 6, moved / 24, queries))


if __name__ == '__main__':
    net = Net()
    x, y = make_data()
    train(net, x, y)
    with torch.no_grad():
        print('accuracy %.4f' % (net(x).argmax(1) == y).float().mean().item())
