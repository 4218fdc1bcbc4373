import argparse
import random

import numpy as np
import torch
import torch.optim as optim

from data_loader import DATA
from model import MODEL
from run import train, test


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=10)
    parser.add_argument('--q_embed_dim', type=int, default=12)
    parser.add_argument('--qa_embed_dim', type=int, default=16)
    parser.add_argument('--memory_size', type=int, default=6)
    parser.add_argument('--final_fc_dim', type=int, default=16)
    parser.add_argument('--n_question', type=int, default=15)
    parser.add_argument('--seqlen', type=int, default=12)
    parser.add_argument('--max_iter', type=int, default=4)
    parser.add_argument('--lr', type=float, default=0.02)
    parser.add_argument('--maxgradnorm', type=float, default=5.0)
    params = parser.parse_args()

    random.seed(224)
    np.random.seed(224)
    torch.manual_seed(224)

    dat = DATA(n_question=params.n_question, seqlen=params.seqlen)
    train_q, train_qa = dat.simulate(60, seed=1)
    valid_q, valid_qa = dat.simulate(20, seed=2)

    model = MODEL(n_question=params.n_question,
                  batch_size=params.batch_size,
                  q_embed_dim=params.q_embed_dim,
                  qa_embed_dim=params.qa_embed_dim,
                  memory_size=params.memory_size,
                  memory_key_state_dim=params.q_embed_dim,
                  memory_value_state_dim=params.qa_embed_dim,
                  final_fc_dim=params.final_fc_dim)
    optimizer = optim.Adam(params=model.parameters(), lr=params.lr, betas=(0.9, 0.9))

    for idx in range(params.max_iter):
        train_loss, train_acc = train(model, params, optimizer, train_q, train_qa)
        valid_loss, valid_acc = test(model, params, valid_q, valid_qa)
        print('Epoch %d/%d, loss : %3.6f, accuracy : %3.6f, valid loss : %3.6f, valid accuracy : %3.6f'
              % (idx + 1, params.max_iter, train_loss, train_acc, valid_loss, valid_acc))


if __name__ == "__main__":
    main()
