// SPDX-License-Identifier: Apache-2.0
// A communicator, as far as both front-ends treat it alike. Nothing of MPI is in it.
#pragma once

#include <cstddef>
#include <memory>

#include "coll/coll.h"
#include "coll/front/comparison.h"
#include "coll/front/totals.h"
#include "coll/rules/rules.h"

namespace weft::coll {

// The settings of a process. For `rules`, `operations` and `compare`, rank 0 of a communicator decides for all its
// ranks; `after` must be the same on all ranks.
struct FrontSettings {
  Settings group;
  // The call of a communicator, counted from 1, that makes its group. 0: the call that reaches `pays_from`, where each
  // one counts 1 and 1 for each 2 KiB.
  int after = 0;
  size_t pays_from = 100;
  // A file; null or empty: none.
  const char* rules = nullptr;
  // Bit i: operation i may be weft's.
  unsigned operations = (1U << kOperations) - 1;
  // Whether operations without a rule are compared with MPI's own while the program runs.
  bool compare = true;
  // Whether rank 0 says what becomes of a communicator, and all count their calls.
  bool report = false;
  // MPI's name of the communicator of a bootstrap's context; empty: it has none. May be null.
  void (*name)(void* context, char* text, size_t size) = nullptr;
};

// Reads the settings from the environment; the caller sets the functions of `group`.
FrontSettings settings_of_environment() noexcept;

// Says that a rank has died, for Settings::died.
void say_died(int rank) noexcept;

class Front {
 public:
  explicit Front(const FrontSettings& settings) noexcept : settings_(settings) {}
  ~Front() {
    if (group_ != nullptr) destroy(group_);
  }
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  // Returns the group if weft takes this call; null: MPI makes it. All ranks of the communicator call take() alike,
  // with the same arguments. Makes the group, by `bootstrap`, when it is time to. Comparison::end(timing) is to follow
  // the call.
  Group* take(Operation operation, size_t bytes, const Bootstrap& bootstrap, Comparison::Timing& timing) noexcept {
    const Fate fate = fate_of(operation, bytes, bootstrap, timing);
    if (settings_.report) totals().count(operation, fate);
    return fate == Fate::weft ? group_ : nullptr;
  }
  // Counts a call that weft cannot take, whatever the group.
  void leave(Operation operation) noexcept {
    if (settings_.report) totals().count(operation, Fate::data);
  }

 private:
  // The communicator's name in the report.
  struct Title {
    int size;
    char name[64];
  };

  Fate fate_of(Operation operation, size_t bytes, const Bootstrap& bootstrap, Comparison::Timing& timing) noexcept {
    if (group_ == nullptr && !make(bytes, bootstrap)) return left_ ? Fate::no_group : Fate::early;
    if (!choices_.takes(operation, bytes)) return Fate::rules;
    if (operation == Operation::alltoall && !suits_alltoall(*group_, bytes)) return Fate::size;
    if (comparison_ == nullptr || choices_.has_lines(operation)) return Fate::weft;
    return comparison_->takes(*group_, operation, bytes, timing) ? Fate::weft : Fate::comparison;
  }
  // Counts the call, and makes the group if it is time to. Returns whether there is a group now.
  bool make(size_t bytes, const Bootstrap& bootstrap) noexcept;
  bool is_time(size_t bytes) noexcept;
  void agree(int rank, int size) noexcept;
  void entitle(const Bootstrap& bootstrap) noexcept;
  void tell(const char* why) const noexcept;
  static void tell_found(const void* title, const Comparison::Found& found) noexcept;

  const FrontSettings& settings_;
  Group* group_ = nullptr;
  Choices choices_;
  std::unique_ptr<Comparison> comparison_;
  std::unique_ptr<Title> title_;  // null: the report leaves this communicator out
  int calls_ = 0;
  size_t moved_ = 0;
  bool left_ = false;
  bool making_ = false;
};

}  // namespace weft::coll
