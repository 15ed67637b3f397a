"""One forward pass, recorded at the model's own modules and recomputed by hand.

The hooks say what the model did; :func:`verify` works the same numbers out again from the parameters and says how
far the two are apart. Arrays are float32 as the model made them; what is recomputed is float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

TOLERANCE = 1e-4  # float32: largest |by hand − model| allowed, times the model's largest value where that is above one


class MeasureError(Exception):
    """Numbers that can't be trusted; the message is one sentence for the user."""


@dataclass(frozen=True)
class BlockPass:
    """One block: rows are tokens, CLS first."""

    e: Tensor  # 197 × 192, input
    ln1: Tensor  # 197 × 192
    q: Tensor  # 3 × 197 × 64, by head
    k: Tensor
    v: Tensor
    scores: Tensor  # 3 × 197 × 197, float64, by hand
    weights: Tensor  # 3 × 197 × 197, float64, by hand
    joined: Tensor  # 197 × 192, messages of the heads side by side
    update: Tensor  # 197 × 192, after the output projection
    u: Tensor  # 197 × 192, after the residual addition
    ln2: Tensor
    before: Tensor  # 197 × 768, MLP units before GELU
    after: Tensor
    mlp_update: Tensor  # 197 × 192
    out: Tensor  # 197 × 192


@dataclass(frozen=True)
class Pass:
    """Everything that one picture's forward pass went through."""

    x: Tensor  # 3 × 224 × 224, normalized input
    c: Tensor  # 196 × 192, content rows
    e: Tensor  # 197 × 192, rows that enter block 1
    blocks: list[BlockPass]
    norm: Tensor  # 197 × 192, after the final LayerNorm
    h: Tensor  # 192, what the head reads
    logits: Tensor  # 1,000
    probabilities: Tensor  # 1,000, float64


@contextmanager
def deterministic() -> Iterator[None]:
    """One thread and deterministic kernels inside, so that sums are added in one order on any machine."""
    threads, strict, warn = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict, warn_only=warn)


def record(model: nn.Module, x: Tensor) -> Pass:
    """Run ``model`` on one normalized picture (3 × 224 × 224) and keep what its modules read and gave."""
    seen: dict[str, tuple[Tensor, Tensor]] = {}
    handles = []

    def watch(name: str, module: nn.Module) -> None:
        def keep(_: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
            seen[name] = (inputs[0][0].clone(), output[0].clone())
        handles.append(module.register_forward_hook(keep))

    watch("patch", model.patch_embed.proj)
    watch("e", model.norm_pre)
    for number, block in enumerate(model.blocks):
        for name, module in (("block", block), ("ln1", block.norm1), ("qkv", block.attn.qkv), ("proj", block.attn.proj),
                             ("ln2", block.norm2), ("fc1", block.mlp.fc1), ("act", block.mlp.act), ("fc2", block.mlp.fc2)):
            watch(f"{number}.{name}", module)
    watch("norm", model.norm)
    watch("head", model.head)
    try:
        with torch.inference_mode():
            logits = model(x[None])[0].clone()
    finally:
        for handle in handles:
            handle.remove()
    heads = model.blocks[0].attn.num_heads
    blocks = [_block(seen, number, heads) for number in range(len(model.blocks))]
    return Pass(x=x, c=seen["patch"][1].flatten(1).T.contiguous(), e=seen["e"][1], blocks=blocks, norm=seen["norm"][1],
                h=seen["head"][0], logits=logits, probabilities=softmax(logits))


def _block(seen: dict[str, tuple[Tensor, Tensor]], number: int, heads: int) -> BlockPass:
    def taken(name: str, side: int = 1) -> Tensor:
        return seen[f"{number}.{name}"][side]
    qkv = taken("qkv")
    q, k, v = qkv.reshape(len(qkv), 3, heads, -1).permute(1, 2, 0, 3).contiguous()
    # the model's fused attention never shows its weights, so they come from the same q and k
    scores = q.double() @ k.double().transpose(1, 2) / math.sqrt(q.shape[-1])
    return BlockPass(e=taken("block", 0), ln1=taken("ln1"), q=q, k=k, v=v, scores=scores, weights=softmax(scores), joined=taken("proj", 0),
                     update=taken("proj"), u=taken("ln2", 0), ln2=taken("ln2"), before=taken("fc1"), after=taken("act"),
                     mlp_update=taken("fc2"), out=taken("block"))


def softmax(values: Tensor) -> Tensor:
    """exp(value) / sum of exp over the last axis, in float64."""
    powers = (values.double() - values.double().amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)


def layer_norm(rows: Tensor, norm: nn.LayerNorm) -> Tensor:
    """(row − mean) / √(variance + ε) × weight + bias for each row, in float64."""
    rows = rows.double()
    centred = rows - rows.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight.double() + norm.bias.double()


def gelu(values: Tensor) -> Tensor:
    """Exact GELU, z · Φ(z) by the error function, in float64."""
    values = values.double()
    return values * 0.5 * (1 + torch.erf(values / math.sqrt(2)))


def linear(rows: Tensor, layer: nn.Linear) -> Tensor:
    """rows W + b, in float64."""
    return rows.double() @ layer.weight.double().T + layer.bias.double()


def patch_rows(x: Tensor, size: int) -> Tensor:
    """Flattened patches (196 × 768) of a picture: all R, then G, then B, row by row, as F.unfold orders them."""
    return F.unfold(x[None], kernel_size=size, stride=size)[0].T.contiguous()


def linear_projection(model: nn.Module, x: Tensor) -> Tensor:
    """Content rows (196 × 192) by one float32 Linear layer on flattened patches, with the weights of the model's Conv2d."""
    conv = model.patch_embed.proj
    return F.linear(patch_rows(x, conv.kernel_size[0]), conv.weight.flatten(1), conv.bias)


def verify(model: nn.Module, done: Pass) -> dict[str, float]:
    """Largest |by hand − model| of each quantity over all rows and blocks.

    Raises MeasureError where one is above the tolerance or not finite: then this timm computes something else than
    the slides say, and no run may be written.
    """
    far: dict[str, float] = {}

    def compare(name: str, by_hand: Tensor, own: Tensor, each: bool = False) -> None:
        """``each``: a number may differ in proportion to itself only, where it comes from one number and not from a sum."""
        own = own.double()
        differences, size = (by_hand.double() - own).abs(), own.abs().clamp(min=1)
        difference = differences.max().item()
        if not (differences <= TOLERANCE * (size if each else size.max())).all():  # NaN is refused too
            raise MeasureError(f"The model's {name} differ from what the lecture's formulas give by {difference:.2g}; this checkpoint or this "
                               "version of timm computes something else, so no run was written.")
        far[name] = max(far.get(name, 0.0), difference)

    with torch.inference_mode():
        position = model.pos_embed[0].double()
        compare("content rows", linear_projection(model, done.x), done.c)
        compare("input rows", torch.cat((model.cls_token[0].double(), done.c.double())) + position, done.e)
        incoming = done.e
        for block, own in zip(done.blocks, model.blocks, strict=True):
            compare("block inputs", incoming, block.e)
            compare("normalized rows", layer_norm(block.e, own.norm1), block.ln1)
            qkv = torch.cat([part.transpose(0, 1).flatten(1) for part in (block.q, block.k, block.v)], dim=1)
            compare("queries, keys and values", linear(block.ln1, own.attn.qkv), qkv)
            compare("attention messages", (block.weights @ block.v.double()).transpose(0, 1).flatten(1), block.joined)
            compare("attention updates", linear(block.joined, own.attn.proj), block.update)
            compare("rows after attention", block.e.double() + block.update.double(), block.u)
            compare("normalized rows", layer_norm(block.u, own.norm2), block.ln2)
            compare("hidden units", linear(block.ln2, own.mlp.fc1), block.before)
            compare("activated units", gelu(block.before), block.after, each=True)
            compare("MLP updates", linear(block.after, own.mlp.fc2), block.mlp_update)
            compare("block outputs", block.u.double() + block.mlp_update.double(), block.out)
            incoming = block.out
        compare("final rows", layer_norm(incoming, model.norm), done.norm)
        compare("summary", done.norm[0], done.h)
        compare("logits", linear(done.h, model.head), done.logits)
        compare("probabilities", done.probabilities, torch.softmax(done.logits, -1))
    return far
