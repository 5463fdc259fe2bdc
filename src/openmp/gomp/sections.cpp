// SPDX-License-Identifier: Apache-2.0
// GOMP: sections, which are numbered from 1; 0 says that none is left.
#include <new>

#include "base/message.h"
#include "openmp/gomp/loop.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

// A team of one gets all sections as one chunk and hands them out from there.
unsigned next_section(Member* member) {
  LoopCursor& loop = member->loop;
  if (loop.whole()) {
    if (loop.position == loop.count) return 0;
    if (loop.reported() && tool::is_on()) tool::dispatch(member, {loop.position, loop.position + 1, false});
    return static_cast<unsigned>(++loop.position);
  }
  unsigned long begin_at = 0;
  unsigned long end_at = 0;
  return next(member, &begin_at, &end_at) ? static_cast<unsigned>(begin_at + 1) : 0;
}

struct CombinedSections {
  Function function;
  void* data;
  unsigned count;
};

void run_sections(void* const* words, int) noexcept {
  const auto* combined = static_cast<const CombinedSections*>(words[2]);
  begin_sections(self(), combined->count);
  combined->function(combined->data);
}

}  // namespace

WEFT_ABI(unsigned, GOMP_sections_start)(unsigned count) {
  const tool::Entry entry(WEFT_CALLER);
  Member* member = self();
  begin_sections(member, count);
  return next_section(member);
}

// The same with what some constructs have beside sections.
WEFT_ABI(unsigned, GOMP_sections2_start)(unsigned count, Words* reductions, void** memory) {
  const tool::Entry entry(WEFT_CALLER);
  Member* member = self();
  begin_extras(member, reductions, memory);
  begin_sections(member, count);
  return next_section(member);
}

WEFT_ABI(unsigned, GOMP_sections_next)() {
  const tool::Entry entry(WEFT_CALLER);
  return next_section(self());
}

WEFT_ABI(void, GOMP_sections_end)() {
  const tool::Entry entry(WEFT_CALLER);
  Member* member = self();
  leave_loop(member);
  barrier(member, Barrier::end_of_workshare, WEFT_CALLER);
}

WEFT_ABI(void, GOMP_sections_end_nowait)() {
  const tool::Entry entry(WEFT_CALLER);
  leave_loop(self());
}

WEFT_ABI(void, GOMP_parallel_sections)(Function function, void* data, unsigned threads, unsigned count,
                                       unsigned flags) {
  CombinedSections combined{function, data, count};
  const auto region = [threads, flags, record = &combined](const void*) {
    void* words[core::Post::kWords] = {nullptr, reinterpret_cast<void*>(record->function), record};
    parallel(run_sections, words, clauses(threads, flags));
  };
  tool::enter_region(region, static_cast<int>(threads));
}

// gcc 4.8 and older; see run_open() in loop.cpp.
WEFT_ABI(void, GOMP_parallel_sections_start)(Function function, void* data, unsigned threads, unsigned count) {
  const tool::Entry entry(WEFT_CALLER, static_cast<int>(threads));
  auto* combined = new (std::nothrow) CombinedSections{function, data, count};
  if (combined == nullptr) base::lacking("no memory for parallel sections");
  void* words[core::Post::kWords] = {nullptr, reinterpret_cast<void*>(function), combined};
  begin_parallel(run_sections, words, clauses(threads));
  begin_sections(self(), count);
}
