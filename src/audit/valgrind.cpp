// SPDX-License-Identifier: Apache-2.0
#include "audit/valgrind.h"

#include "platform/loaded_object.h"
#include "platform/redirect.h"
#include "platform/valgrind.h"

namespace weft::audit {

namespace {

int nothing() { return 0; }

}  // namespace

// memcheck has libc give all of its memory back when the program has ended. Where libraries are audited, the dynamic
// linker (glibc 2.36) then frees what it had taken before there was an allocator, which would be reported as an error
// of the program. Nobody else calls this function.
void look_for_freeres(const link_map* object) noexcept {
  if (!platform::on_valgrind()) return;
  const platform::LoadedObject seen(object->l_addr, object->l_ld);
  void* function = seen.find("__libc_freeres");
  if (function == nullptr || !platform::may_change_code(object->l_name)) return;
  platform::redirect(
      {.function = function, .to = reinterpret_cast<const void*>(nothing), .argument = nullptr, .arguments = 0});
}

}  // namespace weft::audit
