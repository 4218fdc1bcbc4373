import torch

from lora import inject_lora
from model import CausalLM
from trainer import SFTConfig, SFTTrainer

if __name__ == "__main__":
    torch.manual_seed(3089)
    model = inject_lora(CausalLM(vocab=10, d=8, n_layers=2), r=2, alpha=4)
    trainer = SFTTrainer(model, SFTConfig(gradient_checkpointing=True, max_steps=5))
    print("train loss %.6f" % trainer.train())
    print("lora %.6f" % sum(p.norm().item() for n, p in model.named_parameters() if "lora" in n))
