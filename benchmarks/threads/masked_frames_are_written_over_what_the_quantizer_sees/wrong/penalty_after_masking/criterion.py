import torch.nn as nn
import torch.nn.functional as F


class Wav2vecCriterion(nn.Module):
    """infoNCE over the masked steps plus the extra losses of the model
    (diversity of the codes, penalty on the size of the features)"""

    def __init__(self, infonce=True, loss_weights=None):
        super().__init__()
        self.infonce = infonce
        self.loss_weights = loss_weights

    def forward(self, model, sample):
        net_output = model(sample["source"])
        logits = model.get_logits(net_output)
        target = logits.new_zeros(logits.size(0)).long()
        loss = F.cross_entropy(logits, target)
        logging_output = {"nce": loss.item()}
        for name, p, coef in zip(("diversity", "pen"), model.get_extra_losses(net_output),
                                 self.loss_weights):
            logging_output[name] = p.item()
            loss = loss + coef * p
        logging_output["acc"] = (logits.argmax(1) == 0).float().mean().item()
        return loss, logging_output
