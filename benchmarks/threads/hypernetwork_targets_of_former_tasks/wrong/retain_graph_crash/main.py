# 任务增量学习: 超网络给每个任务生成主网络的权重
import argparse

import torch

from hnet.data import task_stream
from hnet.nets import ChunkedHyperNet, MainNet
from hnet.trainer import train_task

parser = argparse.ArgumentParser()
parser.add_argument("--num_tasks", type=int, default=3)
parser.add_argument("--n_iter", type=int, default=5)
parser.add_argument("--beta", type=float, default=0.5, help="strength of the output regulariser")
parser.add_argument("--lr_hyper", type=float, default=1e-2)
parser.add_argument("--use_adam", action="store_true", default=True)
parser.add_argument("--plastic_prev_tembs", action="store_true", default=True, help="keep training the embeddings of former tasks")


if __name__ == "__main__":
    args = parser.parse_args()
    torch.manual_seed(42)
    mnet = MainNet(n_in=3, n_hidden=5)
    hnet = ChunkedHyperNet(args.num_tasks, mnet.shapes, te_dim=4)
    optimizer = torch.optim.Adam(hnet.parameters(), lr=args.lr_hyper)
    for task_id, batches in enumerate(task_stream(args.num_tasks, args.n_iter)):
        train_task(task_id, batches, mnet, hnet, optimizer, args)
    with torch.no_grad():
        for t in range(args.num_tasks):
            print("task", t, "norm of weights %.6f" % torch.cat([w.flatten() for w in hnet(t)]).norm().item())
