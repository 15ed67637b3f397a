"""An independent ViT in float64 numpy, straight from the lecture's formulas; it shares no code with vit_data."""

from __future__ import annotations

import math

import numpy as np

erf = np.vectorize(math.erf)


def softmax(s: np.ndarray) -> np.ndarray:
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def norm(rows: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-6) * w + b


def forward(state: dict[str, np.ndarray], x: np.ndarray) -> dict[str, object]:
    """``x`` (3 × 224 × 224) through ViT-Tiny; what each step gave, blocks as a list."""
    patches = x.reshape(3, 14, 16, 14, 16).transpose(1, 3, 0, 2, 4).reshape(196, 768)
    c = patches @ state["patch_embed.proj.weight"].reshape(192, 768).T + state["patch_embed.proj.bias"]
    rows = np.concatenate([state["cls_token"][0], c]) + state["pos_embed"][0]
    out: dict[str, object] = {"patches": patches, "c": c, "e": rows, "blocks": []}
    for number in range(12):
        def w(name: str, number: int = number) -> np.ndarray:
            return state[f"blocks.{number}.{name}"]
        ln1 = norm(rows, w("norm1.weight"), w("norm1.bias"))
        qkv = ln1 @ w("attn.qkv.weight").T + w("attn.qkv.bias")
        messages, weights = [], []
        for head in range(3):
            q, k, v = (qkv[:, part * 192 + head * 64:part * 192 + head * 64 + 64] for part in range(3))
            a = softmax(q @ k.T / 8)
            weights.append(a)
            messages.append(a @ v)
        joined = np.concatenate(messages, axis=1)
        update = joined @ w("attn.proj.weight").T + w("attn.proj.bias")
        u = rows + update
        before = norm(u, w("norm2.weight"), w("norm2.bias")) @ w("mlp.fc1.weight").T + w("mlp.fc1.bias")
        after = before * 0.5 * (1 + erf(before / math.sqrt(2)))
        mlp = after @ w("mlp.fc2.weight").T + w("mlp.fc2.bias")
        out["blocks"].append({"ln1": ln1, "qkv": qkv, "weights": weights, "joined": joined, "update": update, "u": u,
                              "before": before, "after": after, "mlp": mlp, "out": u + mlp})
        rows = u + mlp
    out["h"] = norm(rows, state["norm.weight"], state["norm.bias"])[0]
    out["logits"] = out["h"] @ state["head.weight"].T + state["head.bias"]
    return out
