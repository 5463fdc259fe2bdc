// SPDX-License-Identifier: Apache-2.0
// KMP: taskgroups, and reductions that tasks take part in.
#include <cstddef>

#include "base/small_list.h"
#include "openmp/kmp/kmp.h"
#include "openmp/team/task_reduction.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// A variable as older compilers describe it (kmp_task_red_input_t).
struct OldReductionInput {
  void* shared;
  size_t size;
  void* init;
  void (*fini)(void* copy);
  void (*combine)(void* into, void* copy);
  uint32_t flags;
};

// Such a list in today's layout.
class ConvertedInputs {
 public:
  ConvertedInputs(int count, const OldReductionInput* inputs) noexcept {
    for (int i = 0; i < count; ++i) {
      const OldReductionInput& input = inputs[i];
      list_.add({input.shared, nullptr, input.size, input.init, input.fini, input.combine, input.flags});
    }
  }
  ~ConvertedInputs() { list_.free_memory(); }
  ConvertedInputs(const ConvertedInputs&) = delete;
  ConvertedInputs& operator=(const ConvertedInputs&) = delete;

  const ReducedVariable* begin() noexcept { return list_.begin(); }

 private:
  base::SmallList<ReducedVariable, 8> list_;
};

}  // namespace

WEFT_ABI(void, __kmpc_taskgroup)(Ident*, int32_t) {
  tool::enter([](Member* member, auto listener, const void*) { begin_taskgroup(member, listener); });
}

WEFT_ABI(void, __kmpc_end_taskgroup)(Ident*, int32_t) {
  tool::enter([](Member* member, auto listener, const void*) {
    end_reducing_taskgroup(member, member->task->group, listener);
  });
}

WEFT_ABI(void*, __kmpc_taskred_init)(int32_t, int32_t count, const ReducedVariable* inputs) {
  return add_reductions(self(), count, inputs);
}

WEFT_ABI(void*, __kmpc_task_reduction_init)(int32_t, int32_t count, const OldReductionInput* inputs) {
  return add_reductions(self(), count, ConvertedInputs(count, inputs).begin());
}

WEFT_ABI(void*, __kmpc_taskred_modifier_init)(Ident*, int32_t, int32_t, int32_t count, const ReducedVariable* inputs) {
  const tool::Entry entry(WEFT_CALLER);
  return begin_shared_reductions(self(), count, inputs);
}

WEFT_ABI(void*, __kmpc_task_reduction_modifier_init)(Ident*, int32_t, int32_t, int32_t count,
                                                     const OldReductionInput* inputs) {
  const tool::Entry entry(WEFT_CALLER);
  return begin_shared_reductions(self(), count, ConvertedInputs(count, inputs).begin());
}

WEFT_ABI(void, __kmpc_task_reduction_modifier_fini)(Ident* location, int32_t gtid, int32_t) {
  const tool::Entry entry(WEFT_CALLER);
  weft_abi___kmpc_end_taskgroup(location, gtid);
}

WEFT_ABI(void*, __kmpc_task_reduction_get_th_data)(int32_t, TaskGroup* group, void* address) {
  return find_reduction_copy(self(), group, address);
}
