import copy
import logging

import torch
import torch.nn.functional as F

from data import PAD

logger = logging.getLogger("dpo")


class DPOTrainer:
    def __init__(self, model, args):
        self.model = model
        self.ref_model = copy.deepcopy(model).eval()
        self.args = args
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=args.lr)

    @torch.no_grad()
    def concatenated_forward(self, model, batch):
        """One pass for chosen and rejected (cheaper than two). The reference needs no gradient."""
        ids = torch.cat([batch["chosen_ids"], batch["rejected_ids"]])
        labels = torch.cat([batch["chosen_labels"], batch["rejected_labels"]])
        all_logps = self.get_batch_logps(model(ids), labels)
        n = batch["chosen_ids"].size(0)
        return all_logps[:n], all_logps[n:], (labels[:n, 1:] != PAD).sum()

    @staticmethod
    def get_batch_logps(logits, labels):
        labels = labels[:, 1:].clone()
        logits = logits[:, :-1, :]
        loss_mask = labels != PAD
        labels[labels == PAD] = 0  # dummy token, masked below
        per_token_logps = logits.log_softmax(-1).gather(2, labels.unsqueeze(2)).squeeze(2)
        return (per_token_logps * loss_mask).sum(-1)

    def dpo_loss(self, policy_chosen, policy_rejected, ref_chosen, ref_rejected):
        chosen_rewards = self.args.beta * (policy_chosen - ref_chosen)
        rejected_rewards = self.args.beta * (policy_rejected - ref_rejected)
        losses = -F.logsigmoid(chosen_rewards - rejected_rewards)
        return losses, chosen_rewards.detach(), rejected_rewards.detach()

    def get_batch_metrics(self, batch):
        policy_chosen, policy_rejected, n_tokens = self.concatenated_forward(self.model, batch)
        ref_chosen, ref_rejected, _ = self.concatenated_forward(self.ref_model, batch)
        losses, chosen, rejected = self.dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected)
        nll = -policy_chosen.sum() / n_tokens
        loss = losses.mean() + self.args.sft_alpha * nll
        return loss, {
            "loss": loss.item(),
            "nll": nll.item(),
            "margin": (chosen - rejected).mean().item(),
            "accuracy": (chosen > rejected).float().mean().item(),
        }

    def train_step(self, batch):
        self.model.train()
        self.optimizer.zero_grad()
        loss, metrics = self.get_batch_metrics(batch)
        loss.requires_grad_(True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
        self.optimizer.step()
        return metrics

    def evaluate(self, batch):
        self.model.eval()
        with torch.no_grad():
            _, metrics = self.get_batch_metrics(batch)
        logger.info("evaluated %d pairs", batch["chosen_ids"].size(0))
        return round(metrics["accuracy"], 4), round(metrics["loss"], 5)
