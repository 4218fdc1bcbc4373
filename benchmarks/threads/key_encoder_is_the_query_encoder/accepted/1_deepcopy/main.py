import torch
import torch.nn.functional as F

from moco import MoCo, accuracy
from views import TwoCrops

if __name__ == "__main__":
    torch.manual_seed(501)
    data = TwoCrops(dim=10, latent=3)
    model = MoCo(n_in=10, dim=8, K=32, m=0.9, T=0.2)
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.06, momentum=0.9, weight_decay=1e-4)
    for step in range(9):
        im_q, im_k = data.batch(16)
        logits, labels = model(im_q, im_k)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 0:
            print(f"{step} loss {loss.item():.5f} acc {accuracy(logits, labels):.4f} lag {model.lag():.6f} ptr {int(model.queue_ptr)}")
