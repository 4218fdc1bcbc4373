import torch
import torch.nn as nn
from model import StatefulTagger
from streams import StreamBatcher

torch.manual_seed(0)

batches = StreamBatcher()
model = StatefulTagger(3, 12, 2, batches.n_slots)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)

for epoch in range(3):
    model.reset()
    running, correct, count = 0.0, 0, 0
    for x, y, last in batches:
        optimizer.zero_grad()
        out = model(x, last)
        loss = criterion(out.view(-1, 2), y.view(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        model.detach_state()

        running += loss.item()
        correct += (out.argmax(-1) == y).sum().item()
        count += y.numel()
    print('epoch {}: loss {:.6f} acc {:.4f} |h| {:.6f}'.format(
        epoch, running / batches.n_chunks, correct / count, model.state[0].norm().item()))
