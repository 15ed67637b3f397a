"""The recomputation refuses a model that does something else than the slides say; measuring puts torch back."""

from __future__ import annotations

import copy

import pytest
import torch
from measuring import First
from torch import nn
from vit_data import forward, measure, photos
from vit_data.run import Checkpoint


def tanh_gelu(model: nn.Module) -> None:
    model.blocks[5].mlp.act = nn.GELU(approximate="tanh")
    with torch.no_grad():
        model.blocks[5].mlp.fc1.weight.mul_(8)  # to where the two GELUs differ by more than rounding


def other_scale(model: nn.Module) -> None:
    model.blocks[2].attn.fused_attn = False
    model.blocks[2].attn.scale *= 4
    with torch.no_grad():
        model.blocks[2].attn.qkv.weight.mul_(5)


def pooled(model: nn.Module) -> None:
    model.global_pool = "avg"


@pytest.mark.parametrize(("change", "quantity"), [(tanh_gelu, "activated units"), (other_scale, "attention messages"), (pooled, "summary")])
def test_another_computation_is_refused(first: First, change: object, quantity: str) -> None:
    model = copy.deepcopy(first.model)
    change(model)
    with pytest.raises(forward.MeasureError, match=quantity):
        forward.verify(model, forward.record(model, first.x()[0]))


def test_the_recorder_leaves_no_hooks_and_changes_no_result(first: First) -> None:
    x = first.x()[0]
    with torch.inference_mode():
        plain = first.model(x[None])[0]
    done = forward.record(first.model, x)
    torch.testing.assert_close(done.logits, plain, rtol=0, atol=1e-6)
    assert not any(module._forward_hooks for module in first.model.modules())


def test_the_settings_of_torch_come_back() -> None:
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    with pytest.raises(KeyError), forward.deterministic():
        assert torch.get_num_threads() == 1
        raise KeyError
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == before


@pytest.mark.parametrize(("source", "lecture", "expected"), [
    ("hub", True, "lecture"), ("hub", False, "custom"), ("file", True, "custom"), ("standin", False, "standin"), ("standin", True, "custom"),
    ("random", True, "random"), ("random", False, "random"),
])
def test_the_kind_of_a_run(source: str, lecture: bool, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dog, cat = photos.drawn("dog"), photos.drawn("cat")
    if lecture:
        dog, cat = (photos.Picture(photos.LECTURE[s].id, s, "photograph", p.image, photos.LECTURE[s].sha256) for s, p in (("dog", dog), ("cat", cat)))
    assert measure.kind(Checkpoint(name="x", source=source, detail="x"), dog, cat) == expected
