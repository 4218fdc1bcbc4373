"""Language model on a made-up grammar; weight decay is done by us, after the optimizer."""
import torch

from data import Corpus
from model import RNNModel
from trainer import Trainer

torch.manual_seed(1111)

corpus = Corpus(n_tokens=12, length=640)
train_data = corpus.batchify(bsz=8)
model = RNNModel(len(corpus.vocab), ninp=16, nhid=24)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
trainer = Trainer(model, optimizer, decay=0.2, clip=0.5, bptt=12)

for epoch in range(1, 3):
    loss = trainer.train_epoch(train_data)
    print("| end of epoch {:2d} | loss {:.5f} | weight norm {:.5f}".format(epoch, loss, model.weight_norm()))
