"""What numpy computes, said in torch: the same value and, by finite differences of numpy's own, the same gradient."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import pytest

from autofix.core.edit import Declined
from autofix.syntax.source import Source
from autofix.syntax.translate.expressions import Way, Wrap
from autofix.syntax.translate.functions import Translation
from autofix.syntax.translate.words import WORDS

ROOT = Path(__file__).parent.parent
HEAD = """\
import math
import numpy as np
import torch
from numpy.linalg import norm
out = net(x)
a, b = out.detach().cpu().numpy(), (out * 2).numpy()
v, w = out[0].numpy(), out[1].detach().numpy()
m = (out @ out.T + 3 * torch.eye(3)).numpy()
s = out.mean().item()
p = out.sigmoid().detach().numpy()
items = [row.mean().item() for row in out]
"""
# a, b: 3 x 4; v, w: 4; m: 3 x 3 and symmetric; s: a number; p: between 0 and 1; items: a list of numbers.
EXPRESSIONS = """
np.mean(np.abs(a - b))
np.sqrt(np.mean((a - b) ** 2))
np.sum(a, axis=1, keepdims=True) + np.sum(b, 1, keepdims=True)
np.mean(a, axis=(0, 1))
np.prod(p, axis=0)
np.var(a) + a.var(axis=1).sum()
np.std(a, axis=0, ddof=1)
a.std(ddof=1) + a.std()
np.max(a, axis=1) - a.min(axis=0).mean()
np.amin(a) + np.amax(b, axis=0)
np.median(a)
np.median(a, axis=1)
np.percentile(a, 25) + np.percentile(a, 75, axis=1)
np.quantile(a, 0.3, axis=0)
np.average(a, axis=1)
np.average(v, weights=[0.1, 0.4, 0.3, 0.4]) * 2 + np.average(items, weights=[0.2, 0.5, 0.3])
np.nansum(a) + np.nanmean(b, axis=0)
np.exp(a) + np.expm1(b) + np.exp2(a)
np.log(p) + np.log2(p) + np.log10(p) + np.log1p(p)
np.square(a) + np.power(p, 3) + np.power(2.0, a) + np.reciprocal(p)
np.float_power(p, 1.5) + np.fabs(a) + np.absolute(b)
np.sin(a) * np.cos(b) + np.tan(p) - np.arcsin(p) + np.arccos(p) + np.arctan(a)
np.sinh(a) + np.cosh(a) * np.tanh(b) + np.arcsinh(a) + np.arctanh(p * 0.5) + np.arccosh(p + 1.5)
np.deg2rad(a) + np.rad2deg(b) + np.radians(a) + np.degrees(b)
np.arctan2(a, b) + np.hypot(a, b) + np.logaddexp(a, b) + np.logaddexp2(a, b)
np.fmax(a, b) + np.fmin(a, b) + np.copysign(p, a)
np.maximum(a, b) + np.minimum(a, 0.1) + np.maximum(0, a)
np.add(a, b) * np.subtract(a, 1) - np.multiply(a, 2) / np.divide(3.0, p)
np.negative(a) + np.true_divide(a, p) + np.positive(b)
np.clip(a, -0.5, 0.5) + a.clip(-0.2, 0.2) + np.clip(a, a_min=None, a_max=0.1)
np.where(a > 0, a, 0.1 * a)
np.where(a > b, a, b).mean(axis=0)
np.where(np.logical_and(a > 0, b > 0), a * b, 0.0)
np.where(np.isfinite(a), a, b) + np.nan_to_num(a)
np.sinc(a) + np.i0(p)
np.linalg.norm(a) + norm(a, axis=1).sum()
np.linalg.norm(v, 2) + np.linalg.norm(a, ord=1, axis=0) + np.linalg.norm(v, np.inf)
np.linalg.norm(a, axis=1, keepdims=True) * a
np.dot(v, w) / (np.linalg.norm(v) * np.linalg.norm(w))
np.dot(a, w) + a.dot(w)
np.matmul(a, b.T) + a @ b.T
np.vdot(v, w) + np.inner(v, w) + np.inner(a, b)
np.outer(v, w) + np.outer(v, v)
np.kron(m, m)
np.gradient(a[0], 0.5) + np.gradient(a[:, 0][:4])[0]
np.abs(np.fft.rfft(a, axis=-1)) + np.fft.fft(b).real.mean() + np.fft.ifft(a, axis=0).imag.sum()
np.real(np.fft.irfft(np.fft.rfft(a, n=6), n=4)) + np.imag(np.fft.fft(a)) + np.conj(np.fft.ifft2(a)).real
np.square(np.abs(np.fft.fft2(b))).mean() + np.angle(np.fft.fft(a)).sum()
np.abs(np.fft.rfft2(a, axes=(0, 1))).mean() + np.fft.irfft2(np.fft.rfft2(b)).mean()
np.fft.irfftn(np.fft.rfftn(a)).mean()
np.abs(np.fft.fftn(a)).sum() + np.fft.ifftn(np.fft.fftn(b)).real.sum()
np.einsum("ij,kj->ik", a, b) + np.einsum("ij,ij->", a, a)
np.tensordot(a, b, axes=2)
np.trace(m) + m.trace() + np.diag(m) + np.diagonal(m) + np.diag(m, k=0) + np.diagonal(m, offset=0)
np.linalg.inv(m) + np.linalg.det(m)
np.linalg.solve(m, a)
np.linalg.pinv(m) + np.linalg.cholesky(m)
np.interp(a, [-2.0, 0.0, 1.0, 3.0], [0.0, 1.0, 3.0, 2.0])
np.interp(0.3, [-1.0, 0.5, 4.0], v[:3]) + np.interp(s, np.cumsum(p[0]), w).mean()
np.polyval([1, 2, 0.5], a) + np.polyval(v, b)
np.convolve(v, w) + np.convolve([1.0, 0.5, 0.2, 1.0], v)
np.correlate(v, w[:2]) + np.correlate(v, [1.0, 0.5])
np.convolve(v, w[:2], mode="same") + np.convolve(v, [0.5, 1.0, 0.2], "same") + np.convolve(v, w[:1], mode="valid")
np.correlate(v, w[:3], "full").sum() + np.correlate(v, [1.0, 0.5], mode="same")
np.unwrap(7 * v) + np.unwrap(9 * a)
np.cbrt(a) + np.remainder(a, 0.7) + np.mod(b, p) + np.fmod(a, 0.6)
np.ediff1d(v) + np.append(v, w).mean() + np.append(a, [1.0, 2.0]).sum()
np.take(a, [0, 5, 2]) + np.take_along_axis(a, a.argmax(axis=1)[:, None], axis=1)[:, 0]
np.rot90(a) + np.rot90(a.T, k=2)
np.linalg.slogdet(m)[1] + np.linalg.eigvalsh(m) + np.linalg.eigh(m)[0] + np.linalg.matrix_power(m, 2)
np.cumsum(v) + np.cumprod(w) + v.cumsum()
np.cumsum(a, axis=1) + np.cumprod(p, axis=1)
np.diff(a) + np.diff(b, axis=1)
np.diff(v, n=2)
np.diff(a, prepend=0.0) + np.diff(b, append=1)
np.sort(v)
np.sort(a, axis=0)[0]
np.concatenate([a, b], axis=1)
np.concatenate((v, w))
np.stack([v, w]) * np.stack([v, w], axis=0)
np.vstack([a, b]).mean(axis=0) + np.hstack((v, w)).sum()
np.dstack([a, b])
np.column_stack([v, w])
np.reshape(a, (4, 3)) + a.reshape(4, 3) + a.reshape((4, -1))
np.ravel(a) + a.flatten() + a.ravel()
np.squeeze(a[None], axis=0) + a[None].squeeze()
np.expand_dims(v, 0) + v[np.newaxis, :] + v[None]
np.swapaxes(a, 0, 1) + np.transpose(a) + a.T + a.transpose() + a.transpose(1, 0) + np.transpose(a, (1, 0))
np.moveaxis(a, 0, 1)
np.broadcast_to(v, (3, 4)) * a
np.tile(v, 2)
np.repeat(v, 2)
np.roll(v, 1) + np.flipud(v) + np.flip(v, axis=0) + np.roll(a, shift=1, axis=1)
np.fliplr(a) + np.flipud(a)
np.tril(m) + np.triu(m, k=1) + np.tril(m, -1)
np.cross(a[:, :3], b[:, 1:]) + np.cross(v[:3], w[:3])
np.cov(a).sum() + np.corrcoef(b).sum() + np.ptp(a)
np.abs(np.fft.fftshift(np.fft.fft(a))) + np.abs(np.fft.ifftshift(np.fft.fft(b), axes=1))
np.pad(a, ((0, 0), (1, 2))) + np.pad(b, ((0, 0), (2, 1)), mode="constant", constant_values=0.5)
np.atleast_2d(v) + np.atleast_1d(v)
a[p > 0.5].mean() + a[:, 1:].sum() + a[0, -1]
v[np.argmax(w)] + a[np.arange(3), p.argmax(axis=1)]
np.array(items).mean() + np.asarray(items).std() + np.float64(s)
np.mean(items) + max(items) - min(items) + sum(items) / len(items)
np.array([s, s ** 2]).sum() + np.std([i * 2 for i in items])
math.sqrt(s ** 2 + 1) + math.exp(s) + math.log(abs(s) + 1) + math.log1p(s ** 2) + math.fabs(s)
math.sin(s) * math.cos(s) + math.tanh(s) + math.atan(s) + math.pow(abs(s), 1.5) + math.atan2(s, 2.0) + math.erf(s)
math.fsum(items) + math.lgamma(s ** 2 + 1) + math.pi * s
float(np.mean(a)) * np.pi + np.e
a.astype(np.float64).mean() + a.astype(float).sum() + a.copy().sum()
a.mean() if s > 100 else b.mean(axis=-1)
(a.sum() + np.log(2 * np.pi)) / a.shape[0] - a.size
sum(abs(row).max() for row in a)
[x - y for x, y in zip(v, w)][0] + sorted(items)[0]
""".strip().splitlines()
DECLINED = {
    "np.average(a, axis=1, weights=w)": "with weights has no counterpart",
    "np.argmax(a)": "an index has no gradient",
    "np.round(a.mean(), 2)": "rounding has no gradient",
    "round(s, 2)": "rounding has no gradient",
    "int(s)": "a whole number has no gradient",
    "np.mean(a > 0.5)": "a comparison counts",
    "np.mean((a > 0.5) == (b > 0.5))": "a comparison counts",
    "(a > 0.5).astype(np.float32).mean()": "a comparison counts",
    "np.floor(a).sum()": "rounding has no gradient",
    "(a // 2).sum()": "leaves whole numbers",
    "np.sign(a).sum()": "a sign has no gradient",
    "a.astype(int).sum()": "a whole number has no gradient",
    "np.polyfit(v, w, 1)[0]": "has no counterpart in torch",
    "np.convolve(v, w, mode=how)": "mode",
    "np.mean(a, where=p > 0.5)": "where= of np.mean",
    "np.histogram(a)[0].sum()": "has no counterpart in torch",
    "a[::-1].sum()": "no slice that goes backwards",
    "sorted_by(a)": "takes an array",
    "np.mean(*[a])": "has no counterpart|does not say",
}
RUN = """
import json, math, sys, warnings
import numpy as np
import torch
from numpy.linalg import norm

warnings.simplefilter("ignore")
torch.set_default_dtype(torch.float64)


def values(out):
    array = out.numpy()
    return {
        "a": array, "b": (out * 2).numpy(), "v": out[0].numpy(), "w": out[1].numpy(),
        "m": (out @ out.T + 3 * torch.eye(3)).numpy(), "s": out.mean().item(), "p": out.sigmoid().numpy(),
        "items": [row.mean().item() for row in out],
    }


def tensors(out):
    return {
        "a": out, "b": out * 2, "v": out[0], "w": out[1], "m": out @ out.T + 3 * torch.eye(3), "s": out.mean(),
        "p": out.sigmoid(), "items": [row.mean() for row in out],
    }


words = globals()


def numbers(expression, out):
    return np.asarray(eval(expression, words | values(out.detach())), dtype=np.float64)


failed = {}
for old, new in json.load(sys.stdin):
    out = torch.randn(3, 4, generator=torch.Generator().manual_seed(5), requires_grad=True)
    try:
        wanted = numbers(old, out)
        got = eval(new, words | tensors(out))
        if not isinstance(got, torch.Tensor) or got.shape != wanted.shape:
            failed[old] = f"{new}: shape {getattr(got, 'shape', type(got))}, not {wanted.shape}"
            continue
        if not np.allclose(got.detach().numpy(), wanted, 1e-5, 1e-7):
            failed[old] = f"{new}: {got} where numpy gives {wanted}"
            continue
        weights = torch.rand(got.shape, generator=torch.Generator().manual_seed(6))
        (gradient,) = torch.autograd.grad((got * weights).sum(), out)
        for index in range(out.numel()):
            sides = []
            for step in (1e-6, -1e-6):
                moved = out.detach().clone()
                moved.view(-1)[index] += step
                sides.append(float((numbers(old, moved) * weights.numpy()).sum()))
            slope = (sides[0] - sides[1]) / 2e-6
            if not math.isclose(slope, gradient.reshape(-1)[index], rel_tol=2e-3, abs_tol=2e-4):
                failed[old] = f"{new}: gradient {gradient.reshape(-1)[index]} where differences give {slope}"
    except Exception as error:
        failed[old] = f"{new}: {type(error).__name__}: {error}"
print(json.dumps(failed))
"""


FOLLOW = """
import json, math, sys, warnings
import numpy as np
import torch
from autofix.probe.arrays.follow import Follow
from autofix.probe.arrays.followed import Followed, followed, gathered

warnings.simplefilter("ignore")


class Nowhere:
    def here(self):
        return ()


lost = []
follow = Follow(Nowhere(), None, nudged=False, detached=True)
Followed.lost = lambda: lost.append(1) or False


def values(out):
    array = out.numpy()
    return {
        "a": array, "b": array * 2, "v": array[0], "w": array[1], "m": array @ array.T + 3 * np.eye(3),
        "s": float(array.mean()), "p": 1 / (1 + np.exp(-array)), "items": [float(row.mean()) for row in array],
    }


def tensors(out):
    made = {
        "a": out, "b": out * 2, "v": out[0], "w": out[1], "m": out @ out.T + 3 * torch.eye(3, dtype=out.dtype),
        "s": out.mean(), "p": out.sigmoid(),
    }
    found = {name: Followed(one, made[name]) for name, one in values(out.detach()).items() if name != "items"}
    return found | {"items": [Followed(float(row.mean()), row.mean()) for row in out]}


plain = {"np": np, "math": math, "norm": np.linalg.norm}
watched = {name: follow._named(one) for name, one in plain.items()}


def numbers(expression, out):
    return np.asarray(eval(expression, plain | values(out.detach())), dtype=np.float64)


failed = {}
for expression in json.load(sys.stdin):
    out = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(5), requires_grad=True)
    lost.clear()
    try:
        called = expression.replace("np.float64(s)", "call(np.float64, s)").replace("float(np.m", "call(float, np.m")
        got = eval(called, watched | tensors(out) | {"call": follow._call})
        got = gathered(got) if isinstance(got, list) else got
        if not followed(got) or lost:
            failed[expression] = f"lost: {type(got)}"
            continue
        if not np.allclose(got.value, numbers(expression, out)):
            failed[expression] = "another value"
            continue
        weights = torch.rand(got.tensor.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(6))
        (gradient,) = torch.autograd.grad((got.tensor * weights).sum(), out)
        for index in range(out.numel()):
            sides = []
            for step in (1e-6, -1e-6):
                moved = out.detach().clone()
                moved.view(-1)[index] += step
                sides.append(float((numbers(expression, moved) * weights.numpy()).sum()))
            slope = (sides[0] - sides[1]) / 2e-6
            if not math.isclose(slope, gradient.reshape(-1)[index], rel_tol=1e-4, abs_tol=1e-5):
                failed[expression] = f"gradient {gradient.reshape(-1)[index]} where differences give {slope}"
    except Exception as error:
        failed[expression] = f"{type(error).__name__}: {error}"
print(json.dumps(failed))
"""


IN_PLACE = """
import numpy as np
import torch
from autofix.probe.arrays.followed import Followed, followed

lost = []
Followed.lost = lambda: lost.append(1) or False
out = torch.arange(3.0, dtype=torch.float64, requires_grad=True)


def array():
    return Followed(out.detach().numpy().copy(), out.view_as(out))


total, plain = np.zeros(3), out.detach().numpy()
known_by_another_name = total
total += array()
total[1:] *= array()[1:]
np.multiply(total, array(), out=total)
np.add.at(total, [0, 0], array()[:2])
assert type(total) is np.ndarray and np.allclose(total, [1, 1, 8]) and len(lost) == 4, (total, lost)
assert np.add.reduce(array()) == 3 and np.allclose(np.maximum.accumulate(array()), plain) and len(lost) == 6
written = array()
written[0] = array()[2]
assert np.allclose(written.value, [2, 1, 2]) and not written.tensor.requires_grad
for change in (lambda one: np.multiply(one, 2, out=one), lambda one: np.add.at(one, [0], 1.0)):
    change(written := array())
    assert np.allclose(written.value, written.tensor) and not written.tensor.requires_grad


def summed():
    total = np.zeros(3, dtype=np.float32)
    for _ in range(2):
        total += array()
    return total


lost.clear()
total = summed()
assert followed(total) and np.allclose(total.value, 2 * plain) and total.value.dtype == np.float32 and not lost
assert torch.allclose(torch.autograd.grad(total.tensor.sum(), out)[0], torch.full((3,), 2.0, dtype=torch.float64))
kept = np.ones(3) * array() + plain
assert followed(kept) and kept.tensor.requires_grad and np.allclose(kept.value, 2 * plain)
"""


def translated(expression: str) -> str:
    """An expression in torch's words; raises Declined."""
    source = Source(Path("script.py"), f"{HEAD}loss = {expression}\nloss.backward()\n".encode())
    statement = source.tree.body[-2]
    assert isinstance(statement, ast.Assign)
    translation = Translation(lambda *_: None, (), Way(Wrap.ALL))
    scope = translation.scope(source, source.tree)
    made = translation.put(scope, statement.value)
    if made.why:
        raise Declined(made.why)
    return made.text


@pytest.mark.torch
def test_torch_computes_what_numpy_computes(python: Path) -> None:
    pairs = [(one, translated(one)) for one in EXPRESSIONS]
    ran = subprocess.run([python, "-c", RUN], input=json.dumps(pairs), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {}


@pytest.mark.torch
def test_a_reference_follows_a_gradient_through_numpy(python: Path) -> None:
    ran = subprocess.run(
        [python, "-c", FOLLOW], input=json.dumps(EXPRESSIONS), capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {}


def test_every_word_with_a_derivative_is_tried() -> None:
    text = "\n".join(EXPRESSIONS)
    names = (name for name, word in WORDS.items() if word.smooth)
    missing = [name for name in names if f"{name}(" not in text.replace("arc", "a") and f"{name}(" not in text]
    assert sorted(set(missing) - {"trapz", "trapezoid"}) == []


def test_there_are_words_for_most_of_what_people_write() -> None:
    assert len([name for name, word in WORDS.items() if word.smooth]) >= 60


@pytest.mark.parametrize("expression", DECLINED)
def test_what_has_no_derivative_or_no_word_is_declined(expression: str) -> None:
    with pytest.raises(Declined, match=DECLINED[expression]):
        translated(expression)


@pytest.mark.torch
def test_what_is_followed_never_makes_numpy_fail_where_it_is_written_into_an_array(python: Path) -> None:
    done = subprocess.run([python, "-c", IN_PLACE], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
