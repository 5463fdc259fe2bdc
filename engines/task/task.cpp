// SPDX-License-Identifier: Apache-2.0
// Loops as OpenMP tasks of the machine's own runtime: one task for each piece, in a taskgroup.
#include <algorithm>

#include "host/host.h"
#include "weft/engine.h"

namespace {

using weft::engines::g_host;

// Where the program does not say how large pieces are: enough of them to even out, few enough to be worth a task.
constexpr uint64_t kPiecesPerThread = 4;

struct Piece {
  weft_engine_loop* loop;
  uint64_t begin;
  uint64_t end;
};

void run_piece(void* data) {
  const Piece piece = *static_cast<const Piece*>(data);
  piece.loop->piece(piece.loop, g_host.number(), piece.begin, piece.end);
}

void generate(void* data) {
  auto* loop = static_cast<weft_engine_loop*>(data);
  const uint64_t pieces = kPiecesPerThread * static_cast<uint64_t>(g_host.threads());
  const uint64_t most = loop->chunk != 0 ? loop->chunk : (loop->count - 1) / pieces + 1;
  g_host.begin_taskgroup();
  for (Piece piece{loop, 0, 0}; piece.begin < loop->count; piece.begin = piece.end) {
    piece.end = piece.begin + std::min(most, loop->count - piece.begin);
    g_host.task(run_piece, &piece, nullptr, sizeof piece, alignof(Piece), true, 0, nullptr, 0, nullptr);
  }
  g_host.end_taskgroup();
}

void run(weft_engine_loop* loop) { weft::engines::in_team(generate, loop); }

constexpr weft_engine kEngine{WEFT_ENGINE_VERSION, 0, weft::engines::start_host, weft::engines::host_slots, run};

}  // namespace

extern "C" [[gnu::visibility("default")]] const weft_engine* weft_engine_entry() { return &kEngine; }
