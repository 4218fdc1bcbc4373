import torch.nn.functional as F

from .regularizer import calc_fix_target_reg, get_current_targets


def train_task(task_id, batches, mnet, hnet, optimizer, args):
    # 训练新任务之前, 先记下旧任务的输出
    targets = get_current_targets(task_id, hnet)
    for i, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        loss_task = F.mse_loss(mnet(x, hnet(task_id)), y)
        loss_reg = calc_fix_target_reg(hnet, task_id, targets)
        loss = loss_task + args.beta * loss_reg
        loss.backward()
        optimizer.step()
        print("task %d it %d loss %.6f reg %.8f" % (task_id, i, loss_task.item(), float(loss_reg)))
