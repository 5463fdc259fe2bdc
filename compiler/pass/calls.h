// SPDX-License-Identifier: Apache-2.0
// The calls of OpenMP's runtime that compilers emit, by what they mean for a region that holds a loop.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/InstrTypes.h>

namespace weft::pass {

enum class Call {
  none,  // not a call of the runtime's, or one that matters nowhere
  fork,
  static_init,
  static_fini,
  dispatch_init,
  dispatch_next,
  dispatch_deinit,
  distribute,
  barrier,
  reduce,
  end_reduce,
  query,  // returns something about the thread or its team, without effect
  member,  // does the same for a member that runs ranges as for one that runs its own share
  unsupported,  // gives members a common order, or is not known here
};

// Empty where it is not known which function is called.
llvm::StringRef callee_name(const llvm::Instruction& instruction);

Call classify(const llvm::Instruction& instruction);

// Where the arguments for the region begin in a fork.
unsigned first_capture(const llvm::CallBase& fork);

}  // namespace weft::pass
