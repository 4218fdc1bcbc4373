import torch

from finetuning import finetune
from model_def import TorchMojiLike
from youtube import batched, comments

if __name__ == "__main__":
    torch.manual_seed(1337)
    train = batched(comments(128, seed=1), 32)
    val = batched(comments(64, seed=2), 32)
    model = TorchMojiLike(nb_classes=2, nb_tokens=40)
    finetune(model, train, val, method="chain-thaw")
