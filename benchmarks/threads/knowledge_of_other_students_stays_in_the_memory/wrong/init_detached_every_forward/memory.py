import torch
from torch import nn


class DKVMNHeadGroup(nn.Module):
    def __init__(self, memory_size, memory_state_dim, is_write):
        super(DKVMNHeadGroup, self).__init__()
        self.is_write = is_write
        if self.is_write:
            self.erase = nn.Linear(memory_state_dim, memory_state_dim)
            self.add = nn.Linear(memory_state_dim, memory_state_dim)

    def addressing(self, control_input, memory):
        return torch.softmax(torch.matmul(control_input, memory.t()), dim=1)

    def read(self, memory, read_weight):
        return torch.bmm(read_weight.unsqueeze(1), memory).squeeze(1)

    def write(self, control_input, memory, write_weight):
        assert self.is_write
        erase_signal = torch.sigmoid(self.erase(control_input)).unsqueeze(1)
        add_signal = torch.tanh(self.add(control_input)).unsqueeze(1)
        w = write_weight.unsqueeze(2)
        return memory * (1 - w * erase_signal) + w * add_signal


class DKVMN(nn.Module):
    def __init__(self, memory_size, memory_key_state_dim, memory_value_state_dim, init_memory_key):
        super(DKVMN, self).__init__()
        self.key_head = DKVMNHeadGroup(memory_size, memory_key_state_dim, is_write=False)
        self.value_head = DKVMNHeadGroup(memory_size, memory_value_state_dim, is_write=True)
        self.memory_key = init_memory_key
        self.memory_value = None

    def init_value_memory(self, memory_value):
        # memory_value: batch_size x memory_size x value_dim
        self.memory_value = memory_value.detach()

    def attention(self, control_input):
        return self.key_head.addressing(control_input, self.memory_key)

    def read(self, read_weight):
        return self.value_head.read(self.memory_value, read_weight)

    def write(self, write_weight, control_input):
        self.memory_value = self.value_head.write(control_input, self.memory_value, write_weight)
        return self.memory_value
