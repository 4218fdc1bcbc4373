import torch

from losses import FocalLoss, RegL1Loss, _sigmoid


class CtdetLoss(torch.nn.Module):
    def __init__(self, opt):
        super(CtdetLoss, self).__init__()
        self.crit = FocalLoss()
        self.crit_wh = RegL1Loss()
        self.opt = opt

    def forward(self, outputs, batch):
        opt = self.opt
        hm_loss, wh_loss = 0, 0
        for s in range(opt.num_stacks):
            output = outputs[s]
            output['hm'] = _sigmoid(output['hm'])
            hm_loss += self.crit(output['hm'], batch['hm']) / opt.num_stacks
            wh_loss += self.crit_wh(output['wh'], batch['reg_mask'], batch['wh']) / opt.num_stacks
        loss = opt.hm_weight * hm_loss + opt.wh_weight * wh_loss
        return loss, {'loss': loss, 'hm_loss': hm_loss, 'wh_loss': wh_loss}


class CtdetTrainer(object):
    def __init__(self, opt, model, optimizer):
        self.opt = opt
        self.model = model
        self.optimizer = optimizer
        self.loss = CtdetLoss(opt)

    def run_epoch(self, loader):
        self.model.train()
        log = {'loss': 0., 'hm_loss': 0., 'wh_loss': 0.}
        for batch in loader:
            outputs = self.model(batch['input'])
            loss, stats = self.loss(outputs, batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for k in log:
                log[k] += stats[k].item() / len(loader)
        return log
