from torch import nn

from toy_gpt import ToyGPT


class Bridge(nn.Module):
    """Shows a model's weights in the layout that the analysis tools want: (head, d_model, d_head)."""

    def __init__(self, original, n_heads):
        super().__init__()
        self.__dict__["original_model"] = original
        self.n_heads = n_heads

    @classmethod
    def boot(cls, vocab, d_model, n_heads):
        return cls(ToyGPT(vocab, d_model, n_heads), n_heads)

    def get_params(self):
        params = {}
        for i, name in enumerate(("W_Q", "W_K", "W_V")):
            weight = self.original_model.attn.qkv.weight.chunk(3)[i]
            params[f"blocks.0.attn.{name}"] = weight.view(self.n_heads, -1, weight.shape[1]).transpose(1, 2)
        params["embed.W_E"] = self.original_model.embed.weight
        params["unembed.W_U"] = self.original_model.head.weight.t()
        return params

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self.get_params().items()

    def forward(self, tokens):
        return self.original_model(tokens)
