"""The lab's readable ViT: timm's numbers, one step that learns, and comments that are true of the code that runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from measuring import First
from torch import nn
from vit_data import checkpoint, lab, lab_run, lab_source, run as runs, tensors


@pytest.fixture(scope="module", params=["standin", "random:0"])
def theirs(request: pytest.FixtureRequest) -> nn.Module:
    return checkpoint.load(checkpoint.choose(request.param))[0].eval()


@pytest.fixture(scope="module")
def pictures(first: First) -> torch.Tensor:
    return torch.cat([first.x("dog"), first.x("cat")])


def test_logits_are_those_of_timm(theirs: nn.Module, pictures: torch.Tensor) -> None:
    own = lab_run.model_of(theirs.state_dict())
    with torch.inference_mode():
        assert (own(pictures) - theirs(pictures)).abs().max() < 1e-4


def test_every_parameter_of_timm_has_its_place(theirs: nn.Module) -> None:
    own, state = lab.ViT(), theirs.state_dict()
    assert sorted(lab.from_timm(state)) == sorted(own.state_dict())
    assert sum(p.numel() for p in own.parameters()) == sum(p.numel() for p in theirs.parameters())


def test_linear_and_conv2d_agree_on_every_feature(theirs: nn.Module, pictures: torch.Tensor) -> None:
    linear, conv = lab.make_layers()
    conv.load_state_dict(theirs.patch_embed.proj.state_dict())
    with torch.inference_mode():
        assert (lab.project_with_linear(pictures, linear) - lab.project_with_conv(pictures, conv)).abs().max() > 0.1  # each with numbers of its own
        lab.copy_weights(linear, conv)
        by_rows, by_conv = lab.project_with_linear(pictures, linear), lab.project_with_conv(pictures, conv)
        assert by_rows.shape == by_conv.shape == (2, 196, 192)
        torch.testing.assert_close(by_rows, by_conv, rtol=0, atol=2e-5)
        torch.testing.assert_close(by_conv, theirs.patch_embed(pictures), rtol=0, atol=1e-6)


def test_the_batch_axis(first: First) -> None:
    rgb = torch.arange(224 * 224 * 3).reshape(224, 224, 3)
    x = lab.to_batch(rgb)
    assert x.shape == (1, 3, 224, 224)
    assert x[0, 1, 5, 7] == rgb[5, 7, 1]


def test_attention_against_torch(pictures: torch.Tensor) -> None:
    """One random attention layer against PyTorch's own function, on rows that have nothing to do with pictures."""
    torch.manual_seed(0)
    layer, x = lab.Attention(), torch.randn(2, 197, 192)
    with torch.no_grad():
        q, k, v = layer.split(x)
        message = F.scaled_dot_product_attention(q, k, v)
        torch.testing.assert_close(layer.mix(q, k, v), message, rtol=0, atol=1e-5)
        torch.testing.assert_close(layer(x), layer.proj(message.transpose(1, 2).flatten(2)), rtol=0, atol=1e-5)


def test_one_step_lowers_the_loss_and_reaches_the_embedding(theirs: nn.Module, pictures: torch.Tensor) -> None:
    own, labels = lab_run.model_of(theirs.state_dict()), torch.tensor([256, 283])
    old = {name: p.detach().clone() for name, p in own.named_parameters()}
    optimizer = torch.optim.SGD(own.parameters(), lr=1e-3)
    before = lab.training_step(own, optimizer, pictures, labels)
    with torch.no_grad():
        after = F.cross_entropy(own(pictures), labels)
    assert after < before
    for name in ("pos", "cls", "patch.weight", "patch.bias", "blocks.0.attn.qkv.weight", "head.weight"):
        p = own.get_parameter(name)
        assert p.grad is not None and p.grad.abs().max() > 0, name
        torch.testing.assert_close(p.detach(), old[name] - 1e-3 * p.grad, rtol=0, atol=1e-7)


def test_blocks_share_no_parameters() -> None:
    model = lab.ViT(num_classes=5)
    assert len({id(p) for block in model.blocks for p in block.parameters()}) == 12 * len(list(model.blocks[0].parameters()))
    assert model(torch.zeros(3, 3, 224, 224)).shape == (3, 5)


def _written(line: lab_source.Line) -> tuple[list[int | str], int]:
    if line.comment == "scalar":
        return [], 1
    text, _, each = line.comment.partition(" each of ")
    return [a if a == "B" else int(a) for a in text.split(", ")], int(each or 1)


@pytest.mark.parametrize("which", ["measured now", "committed"])
def test_every_shape_in_a_comment_is_what_flows(first: First, which: str) -> None:
    run, commented = first.run if which == "measured now" else runs.load("standin"), 0
    flow = run.lab.flow
    for name in lab_source.functions():
        for line in lab_source.piece(name).lines:
            found = flow.get(name, {}).get(line.key)
            if line.comment:
                assert found is not None, f"{name}: '{line.key}' has a shape beside it and never ran"
                assert (found.shape, found.tensors) == _written(line), f"{name}: '{line.key}'"
                commented += 1
            else:
                assert found is None, f"{name}: '{line.key}' gives a tensor and says no shape"
    assert commented >= 35


def test_shapes_come_from_running_the_code(first: First, pictures: torch.Tensor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    changed = tmp_path / "lab.py"
    changed.write_text(lab_source.FILE.read_text(encoding="utf-8").replace("x.unsqueeze(0)", "x.unsqueeze(1)"), encoding="utf-8")
    monkeypatch.setattr(lab_source, "FILE", changed)
    flow = lab_run.flow(first.model.state_dict(), pictures, [0, 1], torch.zeros(224, 224, 3))
    found = flow["to_batch"]
    assert [f.shape for f in found.values()] == [[3, 224, 224], [3, 1, 224, 224]]


def test_watching_changes_no_number(theirs: nn.Module, pictures: torch.Tensor) -> None:
    seen: list[int] = []
    space = lab_source.watched(lambda number, value: seen.append(number))
    watched, plain = lab_run.model_of(theirs.state_dict(), space=space), lab_run.model_of(theirs.state_dict())
    with torch.inference_mode():
        assert torch.equal(watched(pictures), plain(pictures))
    forward = lab_source.piece("ViT.forward")
    assert {line.number for line in forward.lines if "=" in line.code or "return" in line.code} <= set(seen)


def test_a_piece_is_the_file_itself_without_docstrings() -> None:
    source = lab_source.FILE.read_text(encoding="utf-8").split("\n")
    for name in lab_source.functions():
        piece = lab_source.piece(name)
        assert '"""' not in piece.text and piece.lines[0].key.startswith("def ")
        assert all(source[line.number - 1].strip().startswith(line.key) for line in piece.lines)
        assert piece.lines[0].code == piece.lines[0].key  # dedented
    part = lab_source.piece("Block.__init__").part("self.norm1", "nn.Linear(768, 192))")
    assert [line.code for line in part.lines][:1] == ["self.norm1 = nn.LayerNorm(192, eps=1e-6)"] and len(part.lines) == 6
    with pytest.raises(KeyError):
        lab_source.piece("Attention.nothing")
    with pytest.raises(KeyError, match="2 lines"):
        lab_source.piece("Block.forward").index("x = x")


def test_slides_can_read_the_source_without_torch() -> None:
    code = ("import sys; sys.modules['torch'] = None; sys.modules['timm'] = None\n"
            "from vit_data import lab_source, tensors, stripe, figures\nprint(len(lab_source.piece('ViT.forward').lines))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "6"


def test_the_lab_in_a_run(first: First, pictures: torch.Tensor) -> None:
    kept, labels = first.run.lab, [first.run.dog.photo.known, first.run.cat.photo.known]
    assert 0 <= kept.logit_difference < 1e-4
    assert kept.step.labels == labels
    with torch.no_grad():
        loss = F.cross_entropy(first.model(pictures), torch.tensor(labels)).item()
    assert kept.step.before == pytest.approx(loss, abs=1e-4)
    assert kept.step.after < kept.step.before and min(kept.step.gradients.values()) > 0
    assert not any(p.grad is not None for p in first.model.parameters())
    np.testing.assert_allclose(tensors.filters(first.run), first.model.patch_embed.proj.weight[:12].detach(), atol=1e-3)


def test_whole_arrays_behind_the_pictures(first: First) -> None:
    x = first.x()
    np.testing.assert_allclose(tensors.pixel_rows(first.run), F.unfold(x, 16, stride=16)[0].T, atol=1e-6)
    with torch.inference_mode():
        c = first.model.patch_embed(x)[0].numpy()
    np.testing.assert_allclose(tensors.content(first.run), c, atol=5e-3)
    head = first.run.dog.block1.head1
    for receiver, row in head.attention.items():
        index = 0 if receiver == "CLS" else int(receiver[1:])
        np.testing.assert_allclose(tensors.weights(first.run)[index], row.values, atol=1e-4)
        np.testing.assert_allclose(tensors.scores(first.run)[index], row.scores, atol=2e-2)
    np.testing.assert_allclose(tensors.messages(first.run)[0], first.run.dog.block1.cls_messages[0].values, atol=5e-3)
    assert [h.shape for h in tensors.heads(first.run, "k")] == [(197, 64)] * 3


def test_arrays_that_the_published_figures_do_not_hold_are_unknown() -> None:
    published = runs.load("published")
    for array, shape in ((tensors.pixel_rows(published), (196, 768)), (tensors.content(published), (196, 192)), (tensors.weights(published), (197, 197)),
                         (tensors.messages(published), (197, 64)), (tensors.filters(published), (12, 3, 16, 16)), (tensors.table(published, "e"), (197, 192))):
        assert array.shape == shape and np.isnan(array).all()


@pytest.mark.parametrize("name", ["published", "standin"])
def test_the_printed_product_closes(name: str) -> None:
    """x × w = product, each at the six decimals that the slide prints, to one unit of the last."""
    q = runs.load(name).dog.projection.product
    assert round(q.x, 6) * round(q.weight, 6) == pytest.approx(round(q.product, 6), abs=2.0e-6)
    assert q.flat == q.channel * 256 + q.row * 16 + q.column
