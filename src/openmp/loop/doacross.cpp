// SPDX-License-Identifier: Apache-2.0
#include "openmp/loop/doacross.h"

#include <cstdlib>
#include <new>

#include "base/message.h"
#include "openmp/loop/iteration_wait.h"
#include "openmp/loop/worksharing.h"
#include "openmp/record/team.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// The bits of the iterations that have posted lie in bands, the rows of the nest in turn: members that have
// neighbouring rows, as a rule different ones, write to different cache lines.
constexpr uint64_t kBits = 64;
constexpr uint64_t kBands = 64;
constexpr uint64_t kLineWords = 8;

struct PostBit {
  uint64_t word;
  uint64_t bit;
};

PostBit bit_of(const Workshare* share, const Iteration& iteration) noexcept {
  const uint64_t column = iteration.number - iteration.row * share->row_length;
  const uint64_t bit = iteration.row / kBands * share->row_length + column;
  return {iteration.row % kBands * share->band_words + bit / kBits, uint64_t{1} << (bit % kBits)};
}

bool has_posted(const Workshare* share, const PostBit& post) noexcept {
  // Acquire: what was done before the post is seen.
  return (share->posted[post.word].load(std::memory_order_acquire) & post.bit) != 0;
}

}  // namespace

DoacrossLoops& doacross_loops(Member* self, int loops) noexcept {
  if (loops > DoacrossLoops::kMost) {
    base::fatal("a doacross loop nest has %d loops; at most %d are supported", loops, DoacrossLoops::kMost);
  }
  if (self->doacross_loops == nullptr) self->doacross_loops.reset(new (std::nothrow) DoacrossLoops);
  if (self->doacross_loops == nullptr) base::lacking("no memory for a doacross loop nest");
  self->doacross_depth = loops;
  return *self->doacross_loops;
}

void begin_doacross(Member* self) noexcept {
  if (self->team->size == 1) return;
  const DoacrossLoops& nest = *self->doacross_loops;
  const uint64_t rows = nest.counts[0];
  uint64_t row_length = rows > 0 ? 1 : 0;
  for (int i = 1; i < self->doacross_depth && rows > 0; ++i) row_length *= nest.counts[i];
  self->doacross = join_workshare(self, [rows, row_length](Workshare* share) {
    const uint64_t bits = (rows / kBands + 1) * row_length;
    share->row_length = row_length;
    share->band_words = (bits / kBits + kLineWords) / kLineWords * kLineWords;
    // Pages that nobody posts to are never there.
    share->posted = static_cast<std::atomic<uint64_t>*>(std::calloc(kBands * share->band_words, sizeof(uint64_t)));
    if (share->posted == nullptr) {
      base::lacking("no memory for a doacross loop of %llu x %llu iterations", static_cast<unsigned long long>(rows),
                    static_cast<unsigned long long>(row_length));
    }
  });
}

void end_doacross(Member* self) noexcept {
  Workshare* share = self->doacross;
  if (share == nullptr) return;
  self->doacross = nullptr;
  leave_workshare(self, share);
}

void post_iteration(Member* self, const Iteration& iteration) noexcept {
  Workshare* share = self->doacross;
  if (share == nullptr) return;
  const PostBit post = bit_of(share, iteration);
  share->posted[post.word].fetch_or(post.bit);
  platform::full_fence_after_update();
  call_waiters(self->team, share, iteration.number);
}

void wait_for_iteration(Member* self, const Iteration& iteration) noexcept {
  Workshare* share = self->doacross;
  if (share == nullptr) return;
  const PostBit post = bit_of(share, iteration);
  await_iteration(self, share, iteration.number, [share, post] { return has_posted(share, post); });
}

}  // namespace weft::openmp
