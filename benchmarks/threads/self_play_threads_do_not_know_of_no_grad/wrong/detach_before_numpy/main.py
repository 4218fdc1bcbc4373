import torch
from learner import Learner
from net import PolicyValue

torch.manual_seed(4)

learner = Learner(PolicyValue(), workers=3)
for it in range(10):
    batch = learner.collect(it)
    stats = learner.update(batch)
    if it % 2:
        print('iteration %d ' % it + '  '.join('%s %.5f' % kv for kv in stats.items()))
