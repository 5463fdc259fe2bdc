# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the CPU: a transformer that answers requests of several threads, compiled or not, and one that learns."""

import sys
from collections.abc import Callable
from typing import Any

import common
import torch

REPEATS = 3
LAYERS, WIDTH, HEADS, TOKENS = 4, 256, 4, 128
BATCH, QUICK_BATCH = 8, 1
REQUESTS, QUICK_REQUESTS = 8, 2  # for each caller
SENTENCES = (8, 24, 64, 160)  # tokens of one request each: what a sentence encoder is sent
EXAMPLES, QUICK_EXAMPLES = 256, 32  # of an epoch

Answer = Callable[[torch.Tensor], torch.Tensor]


def transformer(layers: int = LAYERS) -> torch.nn.Module:
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).eval()


class Branches(torch.nn.Module):
    """Two transformers side by side: what PyTorch's pool between operators runs at once."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = transformer(LAYERS // 2), transformer(LAYERS // 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left = torch.jit.fork(self.left, x)
        right = self.right(x)
        return torch.jit.wait(left) + right


def compiled() -> Answer:
    """Its loops are C++ with OpenMP that PyTorch writes and has compiled."""
    answer = torch.compile(transformer(), dynamic=False)
    with torch.inference_mode():
        answer(torch.randn(BATCH, TOKENS, WIDTH))
    return answer


def branches() -> Answer:
    # Tracing it again would name its parts otherwise.
    answer = torch.jit.trace(Branches(), torch.randn(BATCH, TOKENS, WIDTH), check_trace=False)
    with torch.inference_mode():
        for _ in range(3):  # it is optimised meanwhile
            answer(torch.randn(BATCH, TOKENS, WIDTH))
    return answer


MODELS: dict[str, Callable[[], Answer]] = {
    "transformer": transformer,
    "sentences": transformer,
    "branches": branches,
    "compiled": compiled,
}


def requests(case: str, count: int, batch: int) -> list[torch.Tensor]:
    if case == "sentences":
        return [torch.randn(1, SENTENCES[k % len(SENTENCES)], WIDTH) for k in range(4 * count)]
    return [torch.randn(batch, TOKENS, WIDTH) for _ in range(count)]


def answers(case: str, workers: int, quick: bool, measured: common.Measurement) -> tuple[float, str, dict[str, Any]]:
    # What is compiled is so for one shape.
    batch = QUICK_BATCH if quick and case != "compiled" else BATCH
    model = MODELS[case]()
    inputs = requests(case, (QUICK_REQUESTS if quick else REQUESTS) * workers, batch)

    def answer(x: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            return model(x)

    outputs = measured.in_threads(answer, inputs, workers, REPEATS)
    same = all(torch.allclose(output, answer(x), atol=1e-4) for output, x in zip(outputs, inputs, strict=True))
    wrong = "" if same else "an answer differs from that of one thread"
    checksum = float(sum(output.abs().double().sum() for output in outputs))
    return checksum, wrong, {"requests": len(inputs), "batch": batch, "layers": LAYERS, "workers": workers}


class Examples(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Made when they are asked for, by some work of the worker's own."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        random = torch.Generator().manual_seed(index)
        x = torch.randn(TOKENS, WIDTH, generator=random)
        smooth = torch.nn.functional.avg_pool1d(x.T[None], 9, 1, 4)[0].T
        return smooth, torch.fft.rfft(x, dim=0).abs().mean(dim=0)


def training(workers: int, quick: bool, measured: common.Measurement) -> tuple[float, str, dict[str, Any]]:
    """Epochs whose examples are made by processes of a DataLoader, beside the steps of the optimiser."""
    examples = QUICK_EXAMPLES if quick else EXAMPLES
    model = transformer(LAYERS // 2).train()
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = torch.utils.data.DataLoader(Examples(examples), BATCH, num_workers=workers, persistent_workers=True)
    losses: list[float] = []
    measured.ready()
    for index in range(REPEATS):
        with measured.step(f"epoch {index}", counted=index > 0):
            losses.append(sum(_learn(model, optimiser, x, y) for x, y in loader))
    sizes = {"examples": examples, "batch": BATCH, "workers": workers}
    return losses[-1], "" if losses[-1] < losses[0] else f"nothing is learnt: losses of {losses}", sizes


def _learn(model: torch.nn.Module, optimiser: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor) -> float:
    optimiser.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x).mean(dim=1), y)
    loss.backward()
    optimiser.step()
    return loss.item()


def main() -> int:
    parser = common.parser(__doc__, (*MODELS, "training"))
    parser.add_argument("--callers", type=int, default=0, help="threads that ask; the DataLoader's processes")
    arguments = parser.parse_args()
    workers = arguments.callers or max(2, common.cpus())
    measured = common.Measurement(arguments)
    if arguments.case == "training":
        checksum, wrong, sizes = training(workers, arguments.quick, measured)
    else:
        checksum, wrong, sizes = answers(arguments.case, workers, arguments.quick, measured)
    return measured.finish(checksum, wrong, sizes | {"width": WIDTH, "threads": torch.get_num_threads()})


if __name__ == "__main__":
    sys.exit(main())
