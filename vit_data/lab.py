"""The implementation lab: the whole ViT in PyTorch, small enough to read, with the same numbers as timm's model.

The code slides show this file's own lines. A comment after a line is the shape of what the line gives: B counts
pictures, and the tests run the code to compare every one of these shapes with what really flows.
"""

import torch
import torch.nn.functional as F
from torch import nn


def to_batch(rgb):
    """One picture, height × width × RGB, as a batch of one with channels first."""
    x = rgb.permute(2, 0, 1)  # 3, 224, 224
    return x.unsqueeze(0)  # 1, 3, 224, 224


def make_layers():
    """The patch projection twice, each with its own random start."""
    linear = nn.Linear(768, 192, bias=True)
    conv = nn.Conv2d(3, 192, kernel_size=16, stride=16, padding=0, bias=True)
    return linear, conv


def project_with_linear(images, linear):
    """Patch features by flattened patches; a patch is all R, then G, then B, each row by row."""
    patches = F.unfold(images, kernel_size=16, stride=16)  # B, 768, 196
    patches = patches.transpose(1, 2)  # B, 196, 768
    return linear(patches)  # B, 196, 192


def project_with_conv(images, conv):
    """The same patch features by one convolution."""
    grid = conv(images)  # B, 192, 14, 14
    rows = grid.flatten(2)  # B, 192, 196
    return rows.transpose(1, 2)  # B, 196, 192


def copy_weights(linear, conv):
    """Give the Linear layer the numbers of the Conv2d."""
    with torch.no_grad():
        linear.weight.copy_(conv.weight.flatten(1))  # 192, 768
        linear.bias.copy_(conv.bias)  # 192


class Attention(nn.Module):
    """Three heads of width 64."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(192, 3 * 192)
        self.proj = nn.Linear(192, 192)

    def split(self, x):
        """Queries, keys and values of every row for every head."""
        B, N, D = x.shape  # B, 197, 192
        qkv = self.qkv(x)  # B, 197, 576
        qkv = qkv.reshape(B, N, 3, 3, 64)  # B, 197, 3, 3, 64
        return qkv.permute(2, 0, 3, 1, 4).unbind(0)  # B, 3, 197, 64 each of 3

    def mix(self, q, k, v):
        """One message for every query in every head."""
        scores = (q @ k.transpose(-2, -1)) / 8  # B, 3, 197, 197
        weights = scores.softmax(dim=-1)  # B, 3, 197, 197
        return weights @ v  # B, 3, 197, 64

    def forward(self, x):
        """The attention update of every row."""
        messages = self.mix(*self.split(x))  # B, 3, 197, 64
        joined = messages.transpose(1, 2)  # B, 197, 3, 64
        joined = joined.reshape(x.shape)  # B, 197, 192
        return self.proj(joined)  # B, 197, 192


class Block(nn.Module):
    """Attention, then the MLP, each behind a LayerNorm and inside a residual path."""

    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(192, eps=1e-6)
        self.attn = Attention()
        self.norm2 = nn.LayerNorm(192, eps=1e-6)
        self.mlp = nn.Sequential(
            nn.Linear(192, 768), nn.GELU(),
            nn.Linear(768, 192))

    def forward(self, x):
        """Both residual additions, in order."""
        x = x + self.attn(self.norm1(x))  # B, 197, 192
        x = x + self.mlp(self.norm2(x))  # B, 197, 192
        return x  # B, 197, 192


class ViT(nn.Module):
    """From pictures to class scores."""

    def __init__(self, num_classes=1000):
        super().__init__()
        self.patch = nn.Conv2d(3, 192, kernel_size=16, stride=16)
        self.cls = nn.Parameter(0.02 * torch.randn(1, 1, 192))  # 1, 1, 192
        self.pos = nn.Parameter(0.02 * torch.randn(1, 197, 192))  # 1, 197, 192
        self.blocks = nn.ModuleList([Block() for _ in range(12)])
        self.norm = nn.LayerNorm(192, eps=1e-6)
        self.head = nn.Linear(192, num_classes)

    def patch_rows(self, x):
        """One row of features for every patch."""
        grid = self.patch(x)  # B, 192, 14, 14
        rows = grid.flatten(2)  # B, 192, 196
        return rows.transpose(1, 2)  # B, 196, 192

    def embed(self, x):
        """The rows that enter block 1: CLS first, positions added."""
        rows = self.patch_rows(x)  # B, 196, 192
        cls = self.cls.expand(len(x), -1, -1)  # B, 1, 192
        rows = torch.cat([cls, rows], dim=1)  # B, 197, 192
        return rows + self.pos  # B, 197, 192

    def forward(self, x):
        """Logits; the loss applies the softmax."""
        rows = self.embed(x)  # B, 197, 192
        for block in self.blocks:
            rows = block(rows)  # B, 197, 192
        summary = self.norm(rows)[:, 0]  # B, 192
        return self.head(summary)  # B, 1000


def classify(images, patch_embed, cls, pos, blocks, norm, head):
    """The whole model once more, from its parts."""
    x = patch_embed(images)  # B, 196, 192
    x = torch.cat([cls.expand(len(x), -1, -1), x], dim=1) + pos  # B, 197, 192
    for block in blocks:
        x = block(x)  # B, 197, 192
    summary = norm(x)[:, 0]  # B, 192
    return head(summary)  # B, 1000


def training_step(model, optimizer, images, labels):
    """One update of the parameters that the optimizer owns; the loss before it."""
    model.train()
    optimizer.zero_grad(set_to_none=True)
    logits = model(images)  # B, 1000
    loss = F.cross_entropy(logits, labels)  # scalar
    loss.backward()
    optimizer.step()
    return loss.detach()  # scalar


def from_timm(state):
    """The parameters of timm's model under this file's names."""
    names = {"cls_token": "cls", "pos_embed": "pos", "patch_embed.proj": "patch", "mlp.fc1": "mlp.0", "mlp.fc2": "mlp.2"}
    renamed = {}
    for key, value in state.items():
        for theirs, ours in names.items():
            key = key.replace(theirs, ours)
        renamed[key] = value
    return renamed
