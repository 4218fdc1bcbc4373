import torch

from agents import LolaAgent, NaiveLearner
from game import IteratedPrisonersDilemma


class Hp():
    def __init__(self):
        self.lr = 1.0
        self.lr_other = 3.0
        self.n_update = 80
        self.gamma = 0.9
        self.seed = 13
        self.opponent = 'lola'      # or 'naive'


def play(hp):
    torch.manual_seed(hp.seed)
    game = IteratedPrisonersDilemma(hp.gamma)
    first = LolaAgent(game, True, hp.lr, hp.lr_other)
    if hp.opponent == 'lola':
        second = LolaAgent(game, False, hp.lr, hp.lr_other)
    else:
        second = NaiveLearner(game, False, hp.lr)

    for update in range(hp.n_update):
        # both look at the same joint policy, then both step
        steps = []
        for me, other in ((first, second), (second, first)):
            objective = me.objective(other)
            me.optimizer.zero_grad()
            (-objective).backward(inputs=[me.theta])
            steps.append(me.optimizer)
        for optimizer in steps:
            optimizer.step()

        if (update + 1) % 20 == 0:
            with torch.no_grad():
                v1, v2 = game.values(first.theta, second.theta)
            print('update %3d  return %.6f %.6f  p(C|start) %.6f' %
                  (update + 1, v1.item(), v2.item(), first.coop()[0]))
    return first, second


if __name__ == '__main__':
    first, second = play(Hp())
    print('policy 1 ' + ' '.join('%.6f' % p for p in first.coop()))
    print('policy 2 ' + ' '.join('%.6f' % p for p in second.coop()))
