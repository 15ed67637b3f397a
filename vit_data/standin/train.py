"""Train the stand-in: timm's vit_tiny_patch16_224 from scratch on drawn pets.

Two phases: 112 x 112 pixels (49 patches, about four times as fast), then the position table is enlarged and the
training finishes at 224 x 224. The test drawings are used once, at the end, on the weights as they are stored.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import multiprocessing
import platform
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np
import timm
import torch
from safetensors.torch import load_file, save_file
from timm.layers import resample_abs_pos_embed
from torch.nn import functional as F

from .draw import TRAINED, draw

ARCHITECTURE = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
HERE = Path(__file__).parent
WEIGHTS, REPORT = HERE / "standin.safetensors", HERE / "report.json"
SEEDS = {"train": 0, "validation": 10_000_000, "test": 20_000_000}
"""The first seed of each set; drawing i of a set has seed first + i and breed i mod the number of breeds."""

CLASSES = torch.tensor([breed.index for breed in TRAINED])


# --- drawings --------------------------------------------------------------------------------------------------------

def _source_hash() -> str:
    """Changes with the code that draws, so that no stale drawings are used."""
    names = ("paint", "background", "breeds", "features", "anatomy", "picture")
    return hashlib.sha256(b"".join((HERE / f"{name}.py").read_bytes() for name in names)).hexdigest()[:12]


def _fill(job: tuple[str, int, int, int, int]) -> int:
    path, size, first, start, stop = job
    out = np.lib.format.open_memmap(path, mode="r+")
    for i in range(start, stop):
        out[i] = draw(TRAINED[i % len(TRAINED)].key, first + i, size)
    return stop - start


def drawings(kind: str, count: int, size: int, folder: Path, workers: int) -> tuple[np.ndarray, torch.Tensor]:
    """Drawings of one set, uint8 (count, size, size, 3), and their places in TRAINED, int64 (count,)."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = torch.arange(count) % len(TRAINED)
    path = folder / f"{kind}-{size}-{count}-{_source_hash()}.npy"
    if not path.exists():
        part = path.with_suffix(".part")
        np.lib.format.open_memmap(part, "w+", np.uint8, (count, size, size, 3)).flush()
        jobs = [(str(part), size, SEEDS[kind], i, min(i + 150, count)) for i in range(0, count, 150)]
        began, done = time.time(), 0
        with multiprocessing.get_context("spawn").Pool(workers) as pool:
            for n in pool.imap_unordered(_fill, jobs):
                done += n
                if done % 3000 < n:
                    print(f"drawn {done}/{count} {kind} at {size}: {time.time() - began:.0f} s", flush=True)
        part.rename(path)
    return np.load(path, mmap_mode="r"), labels


def pixels(batch: np.ndarray) -> torch.Tensor:
    """uint8 (b, h, w, 3) to the model's float32 (b, 3, h, w), -1 to 1."""
    return torch.from_numpy(np.array(batch)).permute(0, 3, 1, 2).float() / 127.5 - 1.0


def augment(x: torch.Tensor, dice: torch.Generator) -> torch.Tensor:
    """Other crops, mirror images, colours, and now and then a gray cover, for (b, 3, h, w) from -1 to 1."""
    b, _, h, w = x.shape

    def uniform(low: float, high: float, *shape: int) -> torch.Tensor:
        return low + (high - low) * torch.rand(b, *shape, generator=dice)

    zoom, turn = uniform(0.74, 1.06), uniform(-0.14, 0.14)
    mirror = torch.where(torch.rand(b, generator=dice) < 0.5, -1.0, 1.0)
    room = (1.0 - zoom).clamp(min=0.06)
    theta = torch.stack([
        torch.stack([zoom * turn.cos() * mirror, -zoom * turn.sin(), uniform(-1, 1) * room], 1),
        torch.stack([zoom * turn.sin() * mirror, zoom * turn.cos(), uniform(-1, 1) * room], 1)], 1)
    x = F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), padding_mode="reflection", align_corners=False)
    gray = x.mean(1, keepdim=True)
    x = gray + (x - gray) * uniform(0.7, 1.3, 1, 1, 1)
    middle = x.mean((1, 2, 3), keepdim=True)
    x = middle + (x - middle) * uniform(0.75, 1.25, 1, 1, 1) + uniform(-0.14, 0.14, 1, 1, 1) + uniform(-0.04, 0.04, 3, 1, 1)
    x = x.clamp(-1, 1)
    for i in torch.nonzero(torch.rand(b, generator=dice) < 0.25).flatten().tolist():
        area, ratio = (torch.rand(2, generator=dice) * torch.tensor([0.12, 1.0]) + torch.tensor([0.03, -0.5])).tolist()
        rows, cols = int(h * math.sqrt(area * math.exp(ratio))), int(w * math.sqrt(area * math.exp(-ratio)))
        top = int(torch.randint(h - rows, (1,), generator=dice))
        left = int(torch.randint(w - cols, (1,), generator=dice))
        x[i, :, top:top + rows, left:left + cols] = 0.0  # gray 0.5
    return x


# --- the model -------------------------------------------------------------------------------------------------------

def create(size: int = 224) -> torch.nn.Module:
    """The lecture's architecture with all 1,000 outputs and random weights, for size x size pixels."""
    return timm.create_model(ARCHITECTURE, pretrained=False, img_size=size)


def enlarge(state: dict[str, torch.Tensor], size: int = 224) -> dict[str, torch.Tensor]:
    """The same weights for size x size pixels: the table of positions is resampled."""
    side = size // 16
    table = resample_abs_pos_embed(state["pos_embed"], (side, side), num_prefix_tokens=1)
    return {**state, "pos_embed": table}


@torch.inference_mode()
def predict(model: torch.nn.Module, images: np.ndarray) -> torch.Tensor:
    """Logits float32 (n, 1000) of drawings uint8 (n, h, w, 3)."""
    model.eval()
    return torch.cat([model(pixels(images[i:i + 50])) for i in range(0, len(images), 50)])


def accuracy(model: torch.nn.Module, images: np.ndarray, labels: torch.Tensor) -> float:
    """Part of the drawings whose largest of all 1,000 logits is their breed's."""
    return (predict(model, images).argmax(1) == CLASSES[labels]).float().mean().item()


def loss_of(logits: torch.Tensor, labels: torch.Tensor, smoothing: float) -> torch.Tensor:
    """Cross entropy over 1,000 classes; `smoothing` of the target is shared by the drawn breeds, so that the model
    keeps some doubt and has it between real candidates."""
    log_p = F.log_softmax(logits.float(), 1)
    hit = log_p.gather(1, CLASSES[labels][:, None]).mean()
    return -(1 - smoothing) * hit - smoothing * log_p[:, CLASSES].mean()


def train_phase(model, data, labels, check, minutes, peak, log, state_path, args, dice) -> None:
    """Train until the minutes are over. The learning rate warms up, then follows a cosine of the time spent."""
    decay = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}],
                                  lr=peak, betas=(0.9, 0.99))
    size, batch = data.shape[1], args.batch
    average = {k: v.detach().clone() for k, v in model.state_dict().items()}
    began = last = time.time()
    step, total, seen = 0, 0.0, 0
    order = torch.randperm(len(data), generator=dice)
    at = epoch = 0
    while (spent := time.time() - began) < minutes * 60 and not (args.folder / "STOP").exists():
        if at + batch > len(data):
            order, at, epoch = torch.randperm(len(data), generator=dice), 0, epoch + 1
        picked = order[at:at + batch].sort().values
        at += batch
        part = spent / (minutes * 60)
        rate = peak * min(1.0, (step + 1) / 200) * (0.5 + 0.5 * math.cos(math.pi * part)) + 1e-6
        for group in optimizer.param_groups:
            group["lr"] = rate
        model.train()
        with torch.autocast("cpu", torch.bfloat16, enabled=args.bfloat16):
            logits = model(augment(pixels(data[picked.numpy()]), dice))
        loss = loss_of(logits, labels[picked], args.smoothing)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        keep = min(0.998, (step + 1) / (step + 10))
        with torch.no_grad():
            for name, value in model.state_dict().items():
                average[name].lerp_(value, 1 - keep)
        step += 1
        total, seen = total + loss.item(), seen + 1
        if time.time() - last > args.check_seconds:
            raw = {k: v.clone() for k, v in model.state_dict().items()}
            model.load_state_dict(average)
            torch.save(average, state_path)
            found = accuracy(model, *check)
            model.load_state_dict(raw)
            last = time.time()
            entry = {"size": size, "epoch": round(epoch + at / len(data), 3), "step": step, "loss": round(total / seen, 4),
                     "validation_accuracy": round(found, 4), "learning_rate": float(f"{rate:.3g}"),
                     "seconds": round(last - began)}
            log.append(entry)
            print(entry, flush=True)
            total, seen = 0.0, 0
    model.load_state_dict(average)
    torch.save(average, state_path)
    found = accuracy(model, *check)
    log.append({"size": size, "epoch": round(epoch + at / len(data), 3), "step": step,
                "validation_accuracy": round(found, 4), "seconds": round(time.time() - began)})
    print(log[-1], flush=True)


# --- the result ------------------------------------------------------------------------------------------------------

def save(state: dict[str, torch.Tensor], path: Path) -> str:
    """Store the weights in half precision under timm's names. Returns the file's SHA-256."""
    note = {"architecture": ARCHITECTURE, "about": "stand-in weights trained on drawn pets, not ImageNet weights"}
    save_file({k: v.half().contiguous() for k, v in state.items()}, path, metadata=note)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def load(path: Path = WEIGHTS) -> torch.nn.Module:
    """The stored model in float32, ready to predict."""
    model = create()
    model.load_state_dict({k: v.float() for k, v in load_file(path).items()}, strict=True)
    return model.eval()


def evaluate(path: Path, args: argparse.Namespace) -> dict:
    """Accuracy and confusion matrix (row: drawn breed, column: predicted) of the stored weights on the test drawings."""
    images, labels = drawings("test", args.test, 224, args.folder, args.workers)
    top = predict(load(path), images).argmax(1)
    column = {breed.index: i for i, breed in enumerate(TRAINED)}
    table = [[0] * (len(TRAINED) + 1) for _ in TRAINED]
    for row, index in zip(labels.tolist(), top.tolist()):
        table[row][column.get(index, len(TRAINED))] += 1
    right = sum(table[i][i] for i in range(len(TRAINED)))
    return {"drawings": len(labels), "correct": right, "accuracy": round(right / len(labels), 4),
            "labels": [breed.label for breed in TRAINED], "columns": [breed.label for breed in TRAINED] + ["another class"],
            "indices": [breed.index for breed in TRAINED], "confusion": table}


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m vit_data.standin.train", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Example, about two hours on two cores:\n  python -m vit_data.standin.train --minutes 90\n"
               "A touched file STOP in the folder of the drawings ends a phase early and keeps what was learned.")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="weights to write (default: %(default)s)")
    parser.add_argument("--report", type=Path, default=REPORT, help="JSON to write (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=90, help="time for training, drawing not counted (default: 90)")
    parser.add_argument("--small-part", type=float, default=0.5, help="part of it at 112 pixels (default: 0.5)")
    parser.add_argument("--pictures", type=int, default=18000, help="training drawings at 112 pixels (default: 18000)")
    parser.add_argument("--large-pictures", type=int, default=7500, help="training drawings at 224 pixels (default: 7500)")
    parser.add_argument("--validation", type=int, default=450, help="validation drawings (default: 450)")
    parser.add_argument("--test", type=int, default=1200, help="test drawings, used once (default: 1200)")
    parser.add_argument("--batch", type=int, default=32, help="pictures a step (default: 32)")
    parser.add_argument("--rate", type=float, default=6e-4, help="peak learning rate of the first phase (default: 0.0006)")
    parser.add_argument("--large-rate", type=float, default=3e-4, help="of the second phase (default: 0.0003)")
    parser.add_argument("--smoothing", type=float, default=0.08, help="label smoothing (default: 0.08)")
    parser.add_argument("--bfloat16", action="store_true", help="autocast to bfloat16: faster on CPUs that compute in it, "
                        "twenty times slower on others")
    parser.add_argument("--check-seconds", type=float, default=180, help="between validations (default: 180)")
    parser.add_argument("--seed", type=int, default=0, help="of weights, order and augmentation (default: 0)")
    parser.add_argument("--workers", type=int, default=2, help="processes that draw (default: 2)")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "vit-standin",
                        help="where the drawings are kept between runs (default: %(default)s)")
    parser.add_argument("--draw-only", action="store_true", help="make the drawings and stop")
    parser.add_argument("--start", type=Path, help="begin the second phase from these saved weights, skipping the first")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> None:
    """Draw, train, store, test and report."""
    args = parse(words)
    began = time.time()
    small, small_labels = drawings("train", args.pictures, 112, args.folder, args.workers)
    small_check = drawings("validation", args.validation, 112, args.folder, args.workers)
    large, large_labels = drawings("train", args.large_pictures, 224, args.folder, args.workers)
    large_check = drawings("validation", args.validation, 224, args.folder, args.workers)
    drawn = round(time.time() - began)
    if args.draw_only:
        return
    torch.manual_seed(args.seed)
    dice = torch.Generator().manual_seed(args.seed)
    log: list[dict] = []
    if args.start is None:
        model = create(112)
        train_phase(model, small, small_labels, small_check, args.minutes * args.small_part, args.rate, log,
                    args.folder / "small.pt", args, dice)
        state = model.state_dict()
    else:
        state = torch.load(args.start)
    model = create(224)
    model.load_state_dict(enlarge(state))
    train_phase(model, large, large_labels, large_check, args.minutes * (1 - args.small_part), args.large_rate, log,
                args.folder / "large.pt", args, dice)
    digest = save(model.state_dict(), args.out)
    result = evaluate(args.out, args)
    report = {
        "architecture": ARCHITECTURE, "sha256": digest, "bytes": args.out.stat().st_size, "test": result, "log": log,
        "seeds": {"training": args.seed, "drawings": SEEDS},
        "drawings": {"train_112": args.pictures, "train_224": args.large_pictures, "validation": args.validation,
                     "drawing_seconds_this_run": drawn, "source": _source_hash()},
        "recipe": {"batch": args.batch, "rate": args.rate, "large_rate": args.large_rate, "smoothing": args.smoothing,
                   "minutes": args.minutes, "small_part": args.small_part, "weight_decay": 0.05, "clip": 1.0,
                   "precision": "bfloat16 autocast" if args.bfloat16 else "float32", "average_of_weights": 0.998},
        "versions": {"torch": torch.__version__, "timm": timm.__version__, "numpy": np.__version__,
                     "python": platform.python_version()},
        "date": date.today().isoformat(), "seconds": round(time.time() - began)}
    args.report.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    print(f"accuracy {result['accuracy']:.4f} on {result['drawings']} test drawings, sha256 {digest}", flush=True)


if __name__ == "__main__":
    main()
