// SPDX-License-Identifier: Apache-2.0
// KMP: sections handed out by calls; clang and flang make a loop of them.
#include "openmp/kmp/kmp.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

// The number of the construct's sections comes with the next call, which every member makes at least once: the loop
// begins there. Here the cursor is marked as outside of one.
WEFT_ABI(int32_t, __kmpc_sections_init)(Ident*, int32_t) {
  self()->loop.count = 0;
  return 1;
}

// The next section, from 0 on; the number of sections when there is none left.
WEFT_ABI(int32_t, __kmpc_next_section)(Ident*, int32_t, int32_t count) {
  const tool::Entry entry(WEFT_CALLER);
  Member* member = self();
  if (count <= 0) return 0;
  if (member->loop.count == 0) {
    base::LoopSchedule schedule{};
    schedule.kind = base::LoopSchedule::Kind::dynamic;
    begin_loop(member, schedule, 1, static_cast<uint64_t>(count));
    // A team of one is given all at once: it takes them one by one from there.
    member->loop.base = 0;
    member->loop.step = 0;
  }
  LoopCursor& loop = member->loop;
  if (loop.base == loop.step) {
    Chunk chunk;
    if (!next_chunk(member, &chunk)) return count;
    loop.base = chunk.begin;
    loop.step = chunk.end;
  }
  return static_cast<int32_t>(loop.base++);
}

WEFT_ABI(void, __kmpc_end_sections)(Ident*, int32_t) {
  const tool::Entry entry(WEFT_CALLER);
  Member* member = self();
  if (member->loop.count == 0) return;
  end_loop(member);
  member->loop.count = 0;
}
