import torch, torch.nn as nn, torch.nn.functional as F

# "Free" adversarial training: each batch is replayed m times, and the perturbation goes on from batch to batch
torch.manual_seed(1904)
eps, step_size, m = 0.3, 0.1, 3
model = nn.Sequential(nn.Flatten(), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
global_noise_data = torch.zeros(12, 1, 4, 4)
prototypes = torch.randn(4, 1, 4, 4)
for i in range(3):
    target = torch.randint(4, (12,))
    input = prototypes[target] + 0.2 * torch.randn(12, 1, 4, 4)
    noise = global_noise_data.clone().requires_grad_(True)
    noise_batch = noise[0:input.size(0)].detach().clone().requires_grad_()
    for j in range(m):
        in1 = (input + noise_batch).clamp(-3, 3)
        loss = F.cross_entropy(model(in1), target)
        optimizer.zero_grad()
        loss.backward()
        pert = step_size * torch.sign(noise_batch.grad)
        global_noise_data[0:input.size(0)] += pert.data
        global_noise_data.clamp_(-eps, eps)
        noise.data.copy_(global_noise_data)
        optimizer.step()
    print('batch %d loss %.6f noise %.6f' % (i, loss.item(), global_noise_data.abs().mean().item()))
