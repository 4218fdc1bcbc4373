import numpy as np
import torch

from inc.learner import IncrementalLearner
from inc.tasks import split_tasks


def main():
    np.random.seed(1993)
    torch.manual_seed(1993)
    learner = IncrementalLearner(feature_dim=16, lr=0.05, T=2.0)
    for task, (classes, x, y) in enumerate(split_tasks(n_tasks=3, per_task=2)):
        learner.before_task(len(classes))
        losses = learner.train_task(x, y, epochs=2, batch=10)
        print('task %d ' % task + ' '.join('%.6f' % l for l in losses))
        learner.after_task(x, y)


if __name__ == '__main__':
    main()
