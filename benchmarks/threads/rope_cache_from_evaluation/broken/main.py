import torch
from llm.config import ModelConfig, TrainConfig
from llm.model import Decoder
from llm.trainer import Trainer
from llm.data import Arithmetic


def main():
    cfg, tc = ModelConfig(), TrainConfig()
    torch.manual_seed(tc.seed)
    trainer = Trainer(Decoder(cfg), Arithmetic(cfg.vocab, cfg.max_len), tc)
    trainer.fit()


if __name__ == "__main__":
    main()
