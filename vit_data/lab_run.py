"""Runs the lab's own code on the measured checkpoint and both pictures, and keeps what flowed through its lines."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from . import lab, lab_source
from .run import Flow, Grid, Lab, Step, significant

RATE = 1e-3  # of the one training step
FILTERS = 12  # kept for pictures
GRADIENTS = {"position": "pos", "cls": "cls", "patch projection": "patch.weight"}


def model_of(state: dict[str, Tensor], classes: int = 1000, space: dict[str, Any] | None = None) -> nn.Module:
    """The lab's model with the parameters of timm's; ``space`` holds the definitions to use instead of the module's."""
    model = (space or vars(lab))["ViT"](classes)
    model.load_state_dict(lab.from_timm(state))
    return model.eval()


def measure(model: nn.Module, pictures: Tensor, labels: list[int], logits: Tensor, rgb: Tensor) -> Lab:
    """Everything a run keeps of the lab.

    ``pictures`` (2 × 3 × 224 × 224) and ``labels`` are a batch, ``logits`` what timm's ``model`` gave for it, ``rgb``
    (224 × 224 × 3) one picture before the batch axis.
    """
    state = model.state_dict()
    with torch.inference_mode(False), torch.enable_grad():
        pictures, own = pictures.clone(), model_of({k: v.clone() for k, v in state.items()}, logits.shape[-1])
        with torch.no_grad():
            difference = (own(pictures) - logits).abs().max().item()
        return Lab(logit_difference=significant(difference), flow=flow(state, pictures, labels, rgb.clone()),
                   filters=Grid.of(own.patch.weight[:FILTERS].detach().flatten(1)), step=step(own, pictures, labels))


def step(model: nn.Module, pictures: Tensor, labels: list[int]) -> Step:
    """One step of gradient descent on a fixed batch; ``model`` is changed."""
    target, optimizer = torch.tensor(labels), torch.optim.SGD(model.parameters(), lr=RATE)
    before = lab.training_step(model, optimizer, pictures, target).item()
    gradients = {name: significant(model.get_parameter(parameter).grad.norm().item()) for name, parameter in GRADIENTS.items()}
    with torch.no_grad():
        after = torch.nn.functional.cross_entropy(model(pictures), target).item()
    return Step(rate=RATE, labels=labels, before=significant(before), after=significant(after), gradients=gradients)


def flow(state: dict[str, Tensor], pictures: Tensor, labels: list[int], rgb: Tensor) -> dict[str, dict[str, Flow]]:
    """What every line of the lab gives, by function and line.

    The code runs with one picture and with two: an axis whose length follows the number of pictures is called B.
    """
    one, two = (_values(state, pictures[:n], labels[:n], rgb) for n in (1, 2))
    found: dict[str, dict[str, Flow]] = {}
    for name in lab_source.functions():
        for line in lab_source.piece(name).lines:
            if line.number in two:
                (shape, tensors), (single, _) = two[line.number], one[line.number]
                axes = ["B" if a != b else a for a, b in zip(shape, single, strict=True)]
                found.setdefault(name, {})[line.key] = Flow(shape=axes, tensors=tensors)
    return found


def _values(state: dict[str, Tensor], pictures: Tensor, labels: list[int], rgb: Tensor) -> dict[int, tuple[list[int], int]]:
    """Shape and number of the tensors that each line gave, by line number."""
    seen: dict[int, tuple[list[int], int]] = {}

    def see(number: int, value: Any) -> None:
        if isinstance(value, torch.Size):
            seen[number] = (list(value), 1)
        elif isinstance(value, Tensor):
            seen[number] = (list(value.shape), 1)
        elif isinstance(value, tuple) and value and all(isinstance(v, Tensor) and v.shape == value[0].shape for v in value):
            seen[number] = (list(value[0].shape), len(value))
    space = lab_source.watched(see)
    model = model_of(state, len(state["head.bias"]), space)
    space["to_batch"](rgb)
    linear, conv = space["make_layers"]()
    space["copy_weights"](linear, conv)
    space["project_with_linear"](pictures, linear)
    space["project_with_conv"](pictures, conv)
    space["classify"](pictures, model.patch_rows, model.cls, model.pos, model.blocks, model.norm, model.head)
    space["training_step"](model, torch.optim.SGD(model.parameters(), lr=RATE), pictures, torch.tensor(labels))
    return seen
