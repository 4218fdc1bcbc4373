"""Parameters that a pass uses otherwise than distributed training was told.

## What it does
Tells it: `find_unused_parameters=True` where a pass leaves parameters without a gradient; without it, or with
`static_graph=True`, where a parameter gets its gradient more often than was foreseen or past the forward. Where
`accelerate` or a trainer wraps the module, it is told in their words.

## Why autograd fails
`DistributedDataParallel` averages a gradient as soon as the backward has it, and counts on one for each parameter in
each pass. What stays away keeps the pass open; what comes twice (from two reentrant checkpoints, or for a parameter
that it took for unused because the forward did not return what was computed from it) has been averaged already.

## Fix safety
A flag is no part of what the program computes. Safe where the run shows the gradients that the program has without
distribution. The run has one process: what the others see of the parameters is taken to be the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, ensure_name, remove_keyword, replace, set_keyword

_HANDLER = "DistributedDataParallelKwargs"
_PLAIN = ("DistributedDataParallel", _HANDLER, "DDPStrategy")
"""What takes the flags of distributed training as they are."""
_FRAMEWORKS = ("Accelerator", "Trainer", "TrainingArguments", "Seq2SeqTrainingArguments")
_LIBRARIES = ("torch", "accelerate", "lightning", "pytorch_lightning", "transformers")
_UNUSED, _STATIC = "find_unused_parameters", "static_graph"
WHY_UNUSED = "Each forward then looks which parameters its result depends on, and waits for no others."
WHY_USED = "Each parameter is then averaged when its gradient comes, whether or not the forward returned what it is in."
WHY_COUNTED = "Each iteration then counts for itself, also where some of them accumulate without averaging."
WHY_STATIC = "The first iteration then shows how often each parameter gets a gradient, and later ones count on that."


class UnevenlyUsedParameters(Rule):
    code, name = "AG413", "unevenly-used-parameters"
    title = "Say that passes leave parameters out"
    causes = frozenset({Cause.REDUCER_REFUSED})
    tier = Tier.ANSWER
    usual = (
        "failed",
        "what a loss needs is usually computed by one forward of the wrapped module, each parameter in it once",
    )
    examples = Example.each("""\
import tempfile
! one head for each kind of batch
from torch.nn.parallel import DistributedDataParallel as DDP

torch.distributed.init_process_group("gloo", f"file://{tempfile.mkdtemp()}/store", rank=0, world_size=1)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(3, 1) for _ in range(2))

    def forward(self, x, k):
        return self.heads[k](x)


-net = DDP(Net())
+net = DDP(Net(), find_unused_parameters=True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for k in range(4):
    train: net(torch.ones(4, 3), k % 2).pow(2).mean()
torch.distributed.destroy_process_group()
! the loss takes a parameter past the forward
from torch import nn

torch.distributed.init_process_group("gloo", f"file://{tempfile.mkdtemp()}/store", rank=0, world_size=1)
net = nn.Linear(3, 2)
net.weights = nn.Parameter(torch.zeros(2))
-net = nn.parallel.DistributedDataParallel(net, find_unused_parameters=True)
+net = nn.parallel.DistributedDataParallel(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: (net(torch.ones(4, 3)).pow(2).mean(0) * net.module.weights.exp()).sum()
torch.distributed.destroy_process_group()
! one layer under two checkpoints
from torch.utils.checkpoint import checkpoint

torch.distributed.init_process_group("gloo", f"file://{tempfile.mkdtemp()}/store", rank=0, world_size=1)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.mix = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

    def forward(self, x):
        return checkpoint(self.mix, checkpoint(self.mix, self.first(x), use_reentrant=True), use_reentrant=True)


-net = torch.nn.parallel.DistributedDataParallel(Net(), bucket_cap_mb=1)
+net = torch.nn.parallel.DistributedDataParallel(Net(), bucket_cap_mb=1, static_graph=True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.ones(4, 3)).pow(2).mean()
torch.distributed.destroy_process_group()
! a framework wraps the module
import os
from accelerate import Accelerator, DistributedDataParallelKwargs

world = dict(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
os.environ.update(world)
-accelerator = Accelerator(cpu=True)
+accelerator = Accelerator(cpu=True, kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)])


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(3, 1) for _ in range(2))

    def forward(self, x, k):
        return self.heads[k](x)


net = Net()
net, opt = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
for k in range(4):
    opt.zero_grad()
    accelerator.backward(net(torch.ones(4, 3), k % 2).pow(2).mean())
    opt.step()
! its flags may be among what stands behind **
from torch.utils.checkpoint import checkpoint

torch.distributed.init_process_group("gloo", f"file://{tempfile.mkdtemp()}/store", rank=0, world_size=1)
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
net.forward = lambda x: checkpoint(net[1], net[0](x).relu(), use_reentrant=True)
flags = dict(find_unused_parameters=True)
ddp = torch.nn.parallel.DistributedDataParallel(net, **flags)
ddp(torch.ones(4, 3)).sum().backward()
! what wraps the module is no file of the user's
torch.distributed.init_process_group("gloo", f"file://{tempfile.mkdtemp()}/store", rank=0, world_size=1)
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
net.forward = lambda x: net[0](x)
ddp = getattr(torch.nn.parallel, "Distributed" + "DataParallel")(net)
for _ in range(2):
    ddp(torch.ones(4, 3)).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each place that says how modules are wrapped: in a forward something stayed away, else it came twice."""
        found = list(_wrapped(diagnosis, sources))
        if not found:
            raise Declined("no module is wrapped for distributed training in the program's own files")
        for source, call in found:
            if not diagnosis.failure.in_backward:
                yield self.propose(_told(source, call, _UNUSED), WHY_UNUSED)
                continue
            if calls.keyword(call, _UNUSED) is not None:
                title = "Look for no unused parameters"
                yield self.propose(remove_keyword(source, call, _UNUSED), WHY_USED, title=title)
            if calls.keyword(call, _STATIC) is not None:
                title = "Do not count on passes that are all alike"
                yield self.propose(remove_keyword(source, call, _STATIC), WHY_COUNTED, title=title, later=1)
                continue
            title = "Say that all passes use the parameters alike"
            yield self.propose(_told(source, call, _STATIC), WHY_STATIC, title=title, later=1)


def _wrapped(diagnosis: Diagnosis, sources: Sources) -> list[tuple[Source, ast.Call]]:
    """The calls that wrap modules, or hold the flags of what does, in the failing call's files and their imports."""
    every = ((one, node) for one in sources.reached(diagnosis.failure.stack) for node in one.walk())
    found = [(one, node) for one, node in every if isinstance(node, ast.Call) and _kind(one, node)]
    plain = [pair for pair in found if _kind(*pair) in _PLAIN]
    return plain or found


def _kind(source: Source, call: ast.Call) -> str:
    """By its last name, what wraps modules or holds its flags; '' for other calls."""
    name = calls.known(source, call.func, _LIBRARIES).rpartition(".")[2]
    return name if name in _PLAIN or name in _FRAMEWORKS else ""


def _told(source: Source, call: ast.Call, flag: str) -> list[Step]:
    """A flag for what wraps modules, in the words of the framework that does it."""
    match _kind(source, call):
        case "Accelerator":
            handler, imports = ensure_name(source, f"accelerate.{_HANDLER}")
            if calls.keyword(call, "kwargs_handlers") is not None:
                raise Declined("which handlers the accelerator has cannot be told from the text")
            return [*imports, *set_keyword(source, call, "kwargs_handlers", f"[{handler}({flag}=True)]")]
        case "Trainer":
            strategy = calls.keyword(call, "strategy")
            if flag != _UNUSED or not isinstance(strategy, ast.Constant) or strategy.value != "ddp":
                raise Declined("the trainer's strategy has no name that says so")
            return replace(source, strategy, f'"ddp_{_UNUSED}_true"')
        case "TrainingArguments" | "Seq2SeqTrainingArguments":
            if flag != _UNUSED:
                raise Declined("the trainer's arguments cannot say so")
            return set_keyword(source, call, f"ddp_{_UNUSED}", "True")
    return set_keyword(source, call, flag, "True")
