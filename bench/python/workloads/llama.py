# SPDX-License-Identifier: Apache-2.0
"""llama.cpp: a server's answers by so many threads. The model is of random numbers, in the shape of a small LLaMA."""

import json
import os
import pathlib
import sys
import tempfile

import common
import gguf
import numpy as np
import xllamacpp

REPEATS = 3
WIDTH, LAYERS, HEADS, FEED = 512, 8, 8, 1408
WORDS, PROMPT = 253, 64  # of the vocabulary; tokens of a request
TOKENS, QUICK_TOKENS = 32, 4  # that are answered
REQUESTS = 2  # for each client
FIRST_WORD = 3 + 256  # behind the marks and the bytes


def vocabulary() -> list[tuple[str, gguf.TokenType]]:
    marks = [("<unk>", gguf.TokenType.UNKNOWN), ("<s>", gguf.TokenType.CONTROL), ("</s>", gguf.TokenType.CONTROL)]
    single = [(f"<0x{byte:02X}>", gguf.TokenType.BYTE) for byte in range(256)]
    return [*marks, *single, *((f"\u2581w{word}", gguf.TokenType.NORMAL) for word in range(WORDS))]


def write(path: pathlib.Path) -> None:
    tokens = vocabulary()
    random = np.random.default_rng(1)
    kind = gguf.GGMLQuantizationType.Q8_0
    model = gguf.GGUFWriter(path, "llama")
    model.add_context_length(2048)
    model.add_embedding_length(WIDTH)
    model.add_block_count(LAYERS)
    model.add_feed_forward_length(FEED)
    model.add_head_count(HEADS)
    model.add_head_count_kv(HEADS)
    model.add_layer_norm_rms_eps(1e-5)
    model.add_rope_dimension_count(WIDTH // HEADS)
    model.add_vocab_size(len(tokens))
    model.add_tokenizer_model("llama")
    model.add_token_list([text for text, _ in tokens])
    model.add_token_scores([0.0] * len(tokens))
    model.add_token_types([type_ for _, type_ in tokens])
    model.add_bos_token_id(1)
    model.add_eos_token_id(2)
    model.add_unk_token_id(0)

    def weights(name: str, rows: int, columns: int) -> None:
        numbers = (random.normal(size=(rows, columns)) / np.sqrt(columns)).astype(np.float32)
        model.add_tensor(f"{name}.weight", gguf.quants.quantize(numbers, kind), raw_dtype=kind)

    def norm(name: str) -> None:
        model.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))

    weights("token_embd", len(tokens), WIDTH)
    norm("output_norm")
    weights("output", len(tokens), WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        norm(f"{block}.attn_norm")
        norm(f"{block}.ffn_norm")
        for part in ("q", "k", "v", "output"):
            weights(f"{block}.attn_{part}", WIDTH, WIDTH)
        weights(f"{block}.ffn_gate", FEED, WIDTH)
        weights(f"{block}.ffn_up", FEED, WIDTH)
        weights(f"{block}.ffn_down", WIDTH, FEED)
    model.write_header_to_file()
    model.write_kv_data_to_file()
    model.write_tensors_to_file()
    model.close()


def server(model: pathlib.Path, threads: int, clients: int) -> xllamacpp.Server:
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.n_parallel = clients
    settings.n_ctx = 512 * clients
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.verbosity = 0
    return xllamacpp.Server(settings)


def main() -> int:
    parser = common.parser(__doc__, ("answers",))
    parser.add_argument("--threads", type=int, default=common.cpus(), help="unless LLAMA_ARG_THREADS says")
    parser.add_argument("--clients", type=int, default=1, help="that ask at once")
    arguments = parser.parse_args()
    threads = int(os.environ.get("LLAMA_ARG_THREADS", arguments.threads))
    tokens = QUICK_TOKENS if arguments.quick else TOKENS
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        model = pathlib.Path(folder) / "model.gguf"
        write(model)
        serving = server(model, threads, arguments.clients)  # it has the file mapped

    def ask(seed: int) -> tuple[int, int]:
        prompt = [FIRST_WORD + (seed * 31 + place * 7) % WORDS for place in range(PROMPT)]
        settings = {"n_predict": tokens, "temperature": 0, "ignore_eos": True, "cache_prompt": False}
        answer = serving.handle_completions({"prompt": prompt} | settings)
        usage = (answer if isinstance(answer, dict) else json.loads(answer))["usage"]
        return usage["prompt_tokens"], usage["completion_tokens"]

    measured = common.Measurement(arguments)
    answers = measured.in_threads(ask, range(REQUESTS * arguments.clients), arguments.clients, REPEATS)
    wrong = "" if set(answers) == {(PROMPT, tokens)} else f"tokens read and said: {answers}"
    # What is said depends on the number of threads: sums are in another order.
    said = sum(answered for _, answered in answers)
    sizes = {"threads": threads, "clients": arguments.clients, "prompt": PROMPT, "tokens": said}
    return measured.finish(float(said), wrong, sizes)


if __name__ == "__main__":
    sys.exit(main())
