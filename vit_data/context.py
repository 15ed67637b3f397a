"""How far attention reaches, and what a moved pattern changes: measurements for the comparison with CNNs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from . import rows, stripe
from .forward import Pass, record
from .run import AttentionMap, MovedStripe, StripeView, Vector, significant


def distances(columns: int, size: int) -> Tensor:
    """Pixels between the centres of any two patches, float64, patches × patches."""
    y, x = torch.meshgrid(torch.arange(columns), torch.arange(columns), indexing="ij")
    places = torch.stack((y.flatten(), x.flatten()), dim=-1).double() * size
    return torch.cdist(places, places)


def attention_distance(done: Pass, columns: int, size: int) -> list[list[float]]:
    """Mean distance between a patch and the patches it reads, weighted by attention, blocks × heads, in pixels.

    CLS has no place, so each row's weights over the patches are made to sum to one.
    """
    far = distances(columns, size)
    found = []
    for block in done.blocks:
        weights = block.weights[:, 1:, 1:].double()
        weights = weights / weights.sum(-1, keepdim=True)
        found.append([significant(v) for v in (weights * far).sum(-1).mean(-1).tolist()])
    return found


def moved_stripe(model: nn.Module, mean: float, std: float) -> MovedStripe:
    """The stripe at both places through the model: its patches' content, and what its middle patch reads in block 1, head 1."""
    columns, size = model.patch_embed.grid_size[1], model.patch_embed.patch_size[0]
    views, contents = [], []
    for place in (stripe.BEFORE, stripe.AFTER):
        pixels = torch.from_numpy(stripe.picture(place, columns, size)).permute(2, 0, 1).float()
        done = record(model, (pixels / 255 - mean) / std)
        names = stripe.cells(place, columns)
        query = stripe.middle(place, columns)
        weights = done.blocks[0].weights[0, rows.index(query)]
        strongest = max((i for i in range(1, len(weights)) if rows.name(i) != query), key=lambda i: weights[i].item())
        contents.append(done.c[[rows.index(n) - 1 for n in names]])
        views.append(StripeView(
            cells=names, content=Vector.of(done.c[rows.index(query) - 1]),
            attention=AttentionMap(block=1, head=1, query=query, values=[significant(v) for v in weights.tolist()], cls_weight=significant(weights[0].item()),
                                   strongest=rows.name(strongest), strongest_weight=significant(weights[strongest].item()),
                                   largest=significant(weights[1:].max().item())),
            on_stripe=significant(sum(weights[rows.index(n)].item() for n in names))))
    return MovedStripe(before=views[0], after=views[1], content_difference=significant((contents[0] - contents[1]).abs().max().item()))
