"""Which weights to measure: the hub's, a local file, the stand-in's, or none at all (random).

Every choice ends in the same three steps: timm creates the architecture, the state dict is loaded strictly, and the
model is put into evaluation mode. torch and timm are imported only then, because that takes seconds and most
mistakes can be named at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .network import why_unreachable
from .run import Checkpoint

if TYPE_CHECKING:
    import torch

NAME = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
ARCHITECTURE = NAME.partition(".")[0]
HUB_ID = f"timm/{NAME}"
HUB_FILE = "model.safetensors"
STANDIN = Path(__file__).parent / "standin" / "standin.safetensors"
OFFLINE = f"--checkpoint standin, --checkpoint FILE (a state dict of {ARCHITECTURE}) or --checkpoint random:0"


class CheckpointError(Exception):
    """Weights that can't be found, read or used; the message is one sentence for the user."""


@dataclass(frozen=True)
class Choice:
    """What the user asked for, checked as far as possible without torch."""

    source: str  # hub, file, random or standin
    file: Path | None = None  # where the state dict lies; None: random, or not downloaded yet
    seed: int | None = None


def choose(text: str) -> Choice:
    """Read ``hub``, ``standin``, ``random:SEED`` or the path of a file.

    Raises CheckpointError if the choice can't be understood, its file is missing, or it needs a network and there
    is none.
    """
    if text == "hub":
        return Choice("hub", _hub_file())
    if text == "standin":
        if not STANDIN.is_file():
            raise CheckpointError("The stand-in's weights have not been trained yet; use --checkpoint random:0 or a file of your own.")
        _check_standin()
        return Choice("standin", STANDIN)
    if text == "random" or text.startswith("random:"):
        seed = text.partition(":")[2]
        if not re.fullmatch(r"[0-9]{1,18}", seed):
            raise CheckpointError(f"'{text}' names no seed; write random: and a whole number, as in random:0.")
        return Choice("random", seed=int(seed))
    path = Path(os.path.expanduser(text))  # os.path answers for every text; Path raises for some
    if os.path.isdir(path):
        raise CheckpointError(f"{text} is a folder; give the checkpoint file inside it.")
    if not os.path.isfile(path):
        raise CheckpointError(f"There is no checkpoint '{text}'; write hub, standin, random:SEED, or the path of a file.")
    return Choice("file", path)


def load(choice: Choice, tell: Callable[[int, int], None] = lambda read, total: None) -> tuple[torch.nn.Module, Checkpoint]:
    """The model in evaluation mode, float32, on the CPU, and the record of where its weights come from.

    ``tell`` hears of a download: the bytes read and the file's size (0 if unknown). Raises CheckpointError if the file
    is damaged, has other keys or shapes, or holds values that are not finite.
    """
    import timm
    import torch

    detail, state = f"seed {choice.seed}", None
    if choice.source != "random":
        file = choice.file or _download(tell)
        detail, state = file.parent.name if choice.source == "hub" else file.name, _read(file)
    with torch.random.fork_rng(devices=[]):  # timm draws numbers; a caller's own sequence stays as it was
        torch.manual_seed(choice.seed or 0)
        model = timm.create_model(NAME, pretrained=False)
    state = state or model.state_dict()
    _check_fit(state, model.state_dict(), detail)
    try:
        model.load_state_dict(state, strict=True)
    except RuntimeError as error:
        raise CheckpointError(f"{detail} does not fit {ARCHITECTURE} ({str(error).splitlines()[0]}).") from error
    model.eval()
    return model, Checkpoint(name=NAME if choice.source == "hub" else ARCHITECTURE, source=choice.source, detail=detail,
                             sha256=parameter_hash(model))


def parameter_hash(model: torch.nn.Module) -> str:
    """SHA-256 over all parameters, sorted by name: each one's name, its shape as ``192,3,16,16``, its float32 bytes.

    Name and shape end in a zero byte; the numbers are little-endian in the tensor's own order.
    """
    total = hashlib.sha256()
    for name, value in sorted(model.named_parameters()):
        total.update(name.encode() + b"\0" + ",".join(map(str, value.shape)).encode() + b"\0")
        total.update(value.detach().float().contiguous().numpy().astype("<f4").tobytes())
    return total.hexdigest()


def _hub_file() -> Path | None:
    """The hub's file if it lies whole in the local cache; None if it does not but can be fetched."""
    from huggingface_hub import constants

    cached = _cached()
    if cached and _whole(cached):
        return cached
    reason = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else why_unreachable(f"{constants.ENDPOINT}/{HUB_ID}/resolve/main/{HUB_FILE}")
    if reason:
        state = "are damaged" if cached else "are not"
        raise CheckpointError(f"The lecture's weights {state} on this machine and {constants.ENDPOINT} can't be reached ({reason}); "
                              f"with no network, measure with {OFFLINE}.")
    return None


def _cached() -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(HUB_ID, HUB_FILE)
    return Path(found) if isinstance(found, str) else None


def _whole(file: Path) -> bool:
    """Whether a file of the hub's cache has the SHA-256 that the hub gave for it: its blob is named after it."""
    name = file.resolve().name
    return not re.fullmatch(r"[0-9a-f]{64}", name) or hashlib.sha256(file.read_bytes()).hexdigest() == name


def _download(tell: Callable[[int, int], None]) -> Path:
    """Fetch the hub's file into its cache, without a token; a file that is not what the hub announced is fetched once more."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils import logging, tqdm

    class Told(tqdm):
        """The client's progress bar, which draws nothing and passes the numbers on."""

        def __init__(self, *_args: Any, total: float | None = None, initial: float = 0, **_options: Any) -> None:
            super().__init__(total=total, initial=initial, disable=True)
            self._read, self._size = int(initial), int(total or 0)

        def update(self, n: float | None = 1) -> None:
            self._read += int(n or 0)
            tell(self._read, self._size)

    bar = {"tqdm_class": Told} if "tqdm_class" in signature(hf_hub_download).parameters else {}  # older clients draw their own
    logging.set_verbosity_error()  # the client tells of every new attempt; the user hears of the end
    try:
        for _ in range(2):
            cached = _cached()  # asked again each time: another process may have fetched it by now
            file = Path(hf_hub_download(HUB_ID, HUB_FILE, token=False, force_download=cached is not None and not _whole(cached), **bar))
            if _whole(file):
                return file
    except Exception as error:  # the client raises its HTTP library's errors as well as its own
        first = error
        while first.__cause__:  # the client's own words are long, and end in advice on its settings
            first = first.__cause__
        reason = (str(first) or type(first).__name__).splitlines()[0].rstrip(".")
        raise CheckpointError(f"The lecture's weights could not be downloaded ({reason}); try again, or measure with {OFFLINE}.") from error
    raise CheckpointError(f"The lecture's weights arrived damaged twice (SHA-256); try again, or measure with {OFFLINE}.")


def _check_standin() -> None:
    try:
        expected = json.loads(STANDIN.with_name("report.json").read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError("The stand-in's report.json, which names its SHA-256, is missing or damaged; restore it from the repository.") from error
    if hashlib.sha256(STANDIN.read_bytes()).hexdigest() != expected:
        raise CheckpointError("The stand-in's weights differ from the SHA-256 in its report.json; restore both from the repository.")


def _read(file: Path) -> dict[str, torch.Tensor]:
    """State dict of a safetensors or torch file, as float32. Torch files are read with weights only: no code runs."""
    import safetensors
    import safetensors.torch
    import torch

    try:
        with file.open("rb") as opened:
            start = opened.read(9)
        if start[8:9] == b"{":  # a safetensors file: eight bytes of length, then JSON
            raw: Any = safetensors.torch.load_file(file)
        else:
            raw = torch.load(file, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, KeyError, TypeError, AttributeError, IndexError, pickle.UnpicklingError,
            safetensors.SafetensorError) as error:
        raise CheckpointError(f"{file.name} can't be read as a safetensors or torch state dict; the file is damaged or of another kind.") from error
    for key in ("state_dict", "model"):
        if isinstance(raw, dict) and isinstance(raw.get(key), dict):
            raw = raw[key]
    if not isinstance(raw, dict) or not raw or not all(isinstance(k, str) and isinstance(v, torch.Tensor) for k, v in raw.items()):
        raise CheckpointError(f"{file.name} holds no state dict: names and tensors, plain or under 'state_dict' or 'model'.")
    return {name: value.float() for name, value in raw.items()}


def _check_fit(state: dict[str, torch.Tensor], own: dict[str, torch.Tensor], label: str) -> None:
    """Compare names and shapes before loading, because torch's own message runs over many lines."""
    missing, extra = sorted(own.keys() - state.keys()), sorted(state.keys() - own.keys())
    if missing or extra:
        which = f"'{missing[0]}' is missing" if missing else f"'{extra[0]}' is unknown"
        raise CheckpointError(f"{label} is not a checkpoint of {ARCHITECTURE}: {which} ({len(missing)} names missing, {len(extra)} unknown).")
    for name, value in own.items():
        if state[name].shape != value.shape:
            raise CheckpointError(f"{label} is not a checkpoint of {ARCHITECTURE}: '{name}' has shape {tuple(state[name].shape)}, "
                                  f"expected {tuple(value.shape)}.")
        if not state[name].isfinite().all():
            raise CheckpointError(f"{label} can't be measured: '{name}' holds values that are not finite.")
