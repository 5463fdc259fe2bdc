# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the CPU: requests to one small transformer, answered by several threads at once."""

import sys

import common
import torch

REPEATS = 3
LAYERS, WIDTH, HEADS, TOKENS = 4, 256, 4, 128
BATCH, QUICK_BATCH = 8, 1
REQUESTS, QUICK_REQUESTS = 8, 2  # for each CPU


def main() -> int:
    arguments = common.parser(__doc__, ("transformer",)).parse_args()
    batch, requests = (QUICK_BATCH, QUICK_REQUESTS) if arguments.quick else (BATCH, REQUESTS)
    workers = max(2, common.cpus())
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, LAYERS).eval()
    inputs = [torch.randn(batch, TOKENS, WIDTH) for _ in range(requests * workers)]

    def answer(x: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode():
            return model(x)

    measured = common.Measurement(arguments)
    outputs = measured.in_threads(answer, inputs, workers, REPEATS)
    same = all(torch.allclose(output, answer(x), atol=1e-4) for output, x in zip(outputs, inputs, strict=True))
    wrong = "" if same else "an answer differs from that of one thread"
    checksum = float(sum(output.abs().double().sum() for output in outputs))
    sizes = {"requests": len(inputs), "batch": batch, "layers": LAYERS, "width": WIDTH, "workers": workers}
    return measured.finish(checksum, wrong, sizes | {"threads": torch.get_num_threads()})


if __name__ == "__main__":
    sys.exit(main())
