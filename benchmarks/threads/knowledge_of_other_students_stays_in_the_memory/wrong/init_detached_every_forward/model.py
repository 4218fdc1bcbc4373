import torch
import torch.nn as nn
import torch.nn.functional as F

from memory import DKVMN


class MODEL(nn.Module):

    def __init__(self, n_question, batch_size, q_embed_dim, qa_embed_dim,
                 memory_size, memory_key_state_dim, memory_value_state_dim, final_fc_dim):
        super(MODEL, self).__init__()
        self.n_question = n_question
        self.batch_size = batch_size

        self.init_memory_key = nn.Parameter(torch.randn(memory_size, memory_key_state_dim) * 0.4)
        # what a student knows before the first exercise, learned as well
        self.init_memory_value = nn.Parameter(torch.randn(memory_size, memory_value_state_dim) * 0.4)

        self.mem = DKVMN(memory_size, memory_key_state_dim, memory_value_state_dim,
                         init_memory_key=self.init_memory_key)
        self.q_embed = nn.Embedding(n_question + 1, q_embed_dim, padding_idx=0)
        self.qa_embed = nn.Embedding(2 * n_question + 1, qa_embed_dim, padding_idx=0)
        self.read_embed_linear = nn.Linear(memory_value_state_dim + q_embed_dim, final_fc_dim)
        self.predict_linear = nn.Linear(final_fc_dim, 1)

    def forward(self, q_data, qa_data, target):
        batch_size, seqlen = q_data.shape
        q_embed_data = self.q_embed(q_data)
        qa_embed_data = self.qa_embed(qa_data)

        memory_value = self.init_memory_value.unsqueeze(0).repeat(batch_size, 1, 1)
        self.mem.init_value_memory(memory_value)

        logits = []
        for i in range(seqlen):
            q = q_embed_data[:, i]
            correlation_weight = self.mem.attention(q)
            read_content = self.mem.read(correlation_weight)
            mastery = torch.cat([read_content, q], 1)
            hidden = torch.tanh(self.read_embed_linear(mastery))
            logits.append(self.predict_linear(hidden))
            if i < seqlen - 1:      # nothing is read after the last exercise
                self.mem.write(correlation_weight, qa_embed_data[:, i])

        pred = torch.cat(logits, 1)
        loss = F.binary_cross_entropy_with_logits(pred, target)
        return loss, torch.sigmoid(pred)
