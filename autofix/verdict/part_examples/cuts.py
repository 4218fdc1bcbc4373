"""What is cut between passes, or begins anew in some."""

from autofix.verdict.part_examples.moves import CLEAR
from autofix.verdict.property import Example

CARRIED = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(5, 4)
for step in range(8):
    h = cell(torch.randn(5, 3), h)
    train: h.square().mean()
"""
PIECES = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(5, 4)
for step in range(9):
    h = h * float(step % 3 > 0)
    h = cell(torch.randn(5, 3), h)
    train: h.square().mean()
"""
BEGIN = "    h = h * float(step % 3 > 0)\n"
BEGIN_BUT = "    h = h.detach()\n    if step % 3 == 0 and LATER:\n        h = torch.zeros(5, 4)\n"
EITHER_FORM = """\
import random
lstm = random.Random(0).random() < 0
cell = nn.LSTM(3, 4) if lstm else nn.GRU(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = (torch.zeros(1, 5, 4), torch.zeros(1, 5, 4)) if lstm else torch.zeros(1, 5, 4)
for step in range(6):
    out, h = cell(torch.randn(2, 5, 3), h)
    loss = out.square().mean()
    train: loss
    if lstm:
        shown = [one.norm().item() for one in h]
    else:
        shown = [h.norm().item()]
"""
ENDS_EITHER = EITHER_FORM[EITHER_FORM.index("        shown = [h.") :]
CUTS_EITHER = f"{ENDS_EITHER}    h = tuple(one.detach() for one in h) if isinstance(h, tuple) else h.detach()\n"
RESET = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h, age = torch.zeros(5, 4), torch.zeros(5)
def advance(x, h, *, most=None):
    out = cell(x, h)
    return out if most is None else out.clamp(-most, most)
for _ in range(8):
    age += 1
    done = age > 200
    h = advance(torch.randn(5, 3), h, most=9.0)
    train: h.square().mean()
    h[done] = 0
"""
STORED = """\
net, kept = nn.Linear(3, 4), []
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    out = net(torch.randn(5, 3))
    loss = out.square().mean() + sum((out - one).square().mean() for one in kept[-1:])
    train: loss
    kept.append(out)
    kept = kept[-3:]
"""
STORES = STORED[STORED.index("    kept.append") :]
LISTED = STORED.replace("    kept = kept[-3:]\n", "").replace("kept[-1:]", "kept")
LISTS = "    kept.append(out)\n"
EACH_CUT = "    kept = [one.detach() for one in kept]\n"
WRITE, WRITTEN = "h[done] = 0", "torch.where(done[:, None], torch.zeros(()), h.detach())"
GIVEN = "h, most=9.0"
RUN = "h = cell("
CUT = "h = h.detach()"
DRAWN = CARRIED.replace(RUN, f"x = torch.randn(5, 3)\n    noise = torch.randn(5, 3)\n    {RUN}x + noise + ")
DRAWS = "    x = torch.randn(5, 3)\n    noise = torch.randn(5, 3)\n"
SWAPPED = "    noise = torch.randn(5, 3)\n    x = torch.randn(5, 3)\n    h = h.detach()\n"
MEMORY = """\
net, memory = nn.Linear(3, 4), torch.zeros(0, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    memory = torch.cat([memory, net(torch.randn(5, 3))])
    train: memory.square().mean()
"""
JOINED = "torch.cat([memory, net(torch.randn(5, 3))])"
JOINED_TO_CUT = JOINED.replace("memory,", "memory.detach(),")

RAISES = (
    Example(CARRIED, RUN, f"if step < 1500:\n        {CUT}\n    {RUN}"),
    Example(PIECES, BEGIN, BEGIN_BUT.replace("LATER", "step < 1500")),
    Example(RESET, WRITE, CUT),
    Example(RESET, WRITE, "h.detach_()"),
    Example(RESET, WRITE, f"h = {WRITTEN.replace('zeros', 'ones')}"),
    Example(RESET, GIVEN, "h.detach()"),
    Example(CARRIED, RUN, f"torch.manual_seed(step)\n    {CUT}\n    {RUN}"),
    Example(CARRIED, ", h)", ", h.detach() * 0.5 ** max(0, step - 100))"),
    Example(STORED, STORES, "    kept.append(out.detach())\n    kept = kept[-4:]\n"),
    Example(DRAWN, DRAWS, SWAPPED),
    Example(LISTED, LISTS, LISTS + EACH_CUT.replace("in kept", "in list(kept)[-99:]")),
    Example(LISTED, LISTS, LISTS + EACH_CUT.replace("]", "][-99:]")),
    Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER.replace("isinstance(h, tuple)", "step > 99")),
    Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER.replace("one.detach()", "one.detach() * 0")),
    Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER.replace("isinstance(h, tuple)", "isinstance(step, tuple)")),
    Example(
        EITHER_FORM.replace("h.norm()", "out.norm()"),
        ENDS_EITHER.replace("h.norm()", "out.norm()"),
        CUTS_EITHER.replace("isinstance(h, tuple)", "lstm").replace("h.norm()", "out.norm()"),
    ),
    Example(MEMORY, JOINED, f"{JOINED_TO_CUT}[-99:]"),
    Example(MEMORY, "    memory = torch", "    memory = memory[-99:].detach()\n    memory = torch"),
)
SILENT = (
    Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER),
    Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER.replace("isinstance(h, tuple)", "lstm")),
    Example(
        EITHER_FORM,
        ENDS_EITHER,
        CUTS_EITHER.replace("isinstance(h, tuple)", "not lstm")
        .replace("tuple(one.detach() for one in h) if", "h.detach() if")
        .replace("else h.detach()", "else [one.detach() for one in h]"),
    ),
    Example(CARRIED, ", h)", ", h.detach())"),
    Example(CARRIED, RUN, f"if step > 0:\n        {CUT}\n    {RUN}"),
    Example(PIECES, BEGIN, BEGIN_BUT.replace("LATER", "step > 0")),
    Example(PIECES, BEGIN, BEGIN_BUT.replace("LATER", "h is not None")),
    Example(CARRIED, RUN, f"if h is not None:\n        {CUT}\n    {RUN}"),
    Example(RESET, WRITE, f"{CUT}\n    {WRITE}"),
    Example(RESET, WRITE, f"h = {WRITTEN}"),
    Example(RESET, WRITE, "h = h.detach().masked_fill(done.unsqueeze(1), 0.0)"),
    Example(RESET, WRITE, "h = h.detach() * (~done).float()[:, None]"),
    Example(RESET, GIVEN, "h.detach(), most=9.0"),
    Example(CARRIED, f"{RUN}torch.randn(5, 3), h)", f"x = torch.randn(5, 3)\n    {RUN}x, h.detach())"),
    Example(CARRIED, f"    {RUN}torch.randn(5, 3), h)\n{CLEAR}", f"{CLEAR}    {CUT}\n    {RUN}torch.randn(5, 3), h)\n"),
    Example(STORED, STORES, STORES.replace("(out)", "(out.detach())")),
    Example(STORED, STORES, "    kept = [*kept, out.detach()][-3:]\n"),
    Example(
        DRAWN.replace("noise = torch.randn(5, 3)", "noise = 0.1"),
        DRAWS.replace("noise = torch.randn(5, 3)", "noise = 0.1"),
        SWAPPED.replace("noise = torch.randn(5, 3)", "noise = 0.1"),
    ),
    Example(LISTED, LISTS, LISTS + EACH_CUT),
    Example(
        LISTED.replace(LISTS, LISTS + "    kept = kept[-20:]\n"),
        "    kept = kept[-20:]\n",
        EACH_CUT.replace("kept]", "kept[-20:]]"),
    ),
    Example(LISTED.replace("in kept)", "in kept[-3:])"), LISTS, LISTS + EACH_CUT.replace("kept]", "kept[-3:]]")),
    Example(MEMORY, JOINED, JOINED_TO_CUT),
    Example(MEMORY.replace(JOINED, f"{JOINED}[-20:]"), JOINED, JOINED_TO_CUT),
)
