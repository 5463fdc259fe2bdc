// SPDX-License-Identifier: Apache-2.0
#include "coll/front/front.h"

#include <atomic>
#include <cctype>
#include <cstdio>
#include <new>

#include "base/message.h"
#include "base/options.h"

namespace weft::coll {

FrontSettings settings_of_environment() noexcept {
  const base::Options& options = base::options();
  FrontSettings settings;
  settings.group.queue_bytes = static_cast<size_t>(options.collectives_queue);
  settings.group.fragment_bytes = static_cast<size_t>(options.collectives_fragment);
  settings.group.single_copy = options.collectives_single_copy;
  settings.after = options.collectives_after;
  settings.rules = options.collectives_rules.value;
  settings.compare = options.collectives_compare;
  settings.report = options.collectives_report;
  return settings;
}

void say_died(int rank) noexcept {
  base::warn(
      "coll: rank %d of a communicator has died while this process waits for it in a collective; the job ends. What "
      "that "
      "rank said last tells why",
      rank);
}

namespace {

// So many communicators are named. With lines for thousands of them the program's own output would be hard to find.
constexpr int kMostShown = 20;
std::atomic<int> g_shown{0};

}  // namespace

// Whether a group would pay by now. To make one takes some hundred microseconds; by it a short call saves one or two,
// and a longer call more.
bool Front::is_time(size_t bytes) noexcept {
  if (settings_.after > 0) return ++calls_ >= settings_.after;
  constexpr size_t kPart = 2048;
  moved_ += 1 + bytes / kPart;
  return moved_ >= settings_.pays_from;
}

bool Front::make(size_t bytes, const Bootstrap& bootstrap) noexcept {
  // While the group is made the ranks talk by a collective of MPI, which may call others: those come here too.
  if (left_ || making_ || !is_time(bytes)) return false;
  making_ = true;
  if (settings_.report && bootstrap.rank == 0) entitle(bootstrap);
  const char* why = "";
  group_ = create(bootstrap, settings_.group, &why);
  const bool crowded = group_ != nullptr && facts(*group_).crowded;
  if (group_ != nullptr) {
    agree(bootstrap.rank, bootstrap.size);
    if (!choices_.any()) {
      destroy(group_);
      group_ = nullptr;
      why = "the rules leave them all collectives";
    }
  }
  making_ = false;
  left_ = group_ == nullptr;
  if (settings_.report) totals().count_group(!left_, crowded && !left_);
  if (title_ != nullptr) tell(why);
  return !left_;
}

void Front::entitle(const Bootstrap& bootstrap) noexcept {
  const int shown = g_shown.fetch_add(1, std::memory_order_relaxed);
  if (shown == kMostShown) base::warn("coll: further communicators are in the totals alone, at the end");
  if (shown >= kMostShown) return;
  title_.reset(new (std::nothrow) Title{.size = bootstrap.size, .name = ""});
  if (title_ == nullptr || settings_.name == nullptr) return;
  settings_.name(bootstrap.context, title_->name, sizeof title_->name);
  for (char* c = title_->name; *c != '\0'; ++c) {
    if (std::iscntrl(static_cast<unsigned char>(*c)) != 0) *c = '?';
  }
}

void Front::tell(const char* why) const noexcept {
  const bool named = title_->name[0] != '\0';
  const char* open = named ? " (" : "";
  const char* close = named ? ")" : "";
  if (left_) {
    return base::warn("coll: %d ranks go on with MPI's own collectives%s%s%s: %s", title_->size, open, title_->name,
                      close, why);
  }
  const Facts known = facts(*group_);
  base::warn("coll: %d ranks share memory%s%s%s: queues of %zu bytes, fragments of %zu, single copy %s%s", title_->size,
             open, title_->name, close, known.queue_bytes, known.fragment_bytes, known.single_copy ? "yes" : "no",
             known.crowded ? ", more ranks than CPUs" : "");
}

void Front::tell_found(const void* title, const Comparison::Found& found) noexcept {
  const auto& whose = *static_cast<const Title*>(title);
  char sizes[64] = "";
  if (found.operation != Operation::barrier) {
    std::snprintf(sizes, sizeof sizes, " of %zu to %zu bytes", found.from, found.to);
  }
  base::warn("coll: %d ranks%s%s%s, %s%s: weft %.1f us, MPI %.1f us; %s takes it", whose.size,
             whose.name[0] != '\0' ? " (" : "", whose.name, whose.name[0] != '\0' ? ")" : "",
             kOperationNames[static_cast<int>(found.operation)], sizes, found.weft_ns / 1e3, found.mpi_ns / 1e3,
             found.left ? "MPI" : "weft");
}

// Rank 0 decides for all: files and environment variables may differ between ranks, but all have to do the same.
void Front::agree(int rank, int size) noexcept {
  struct {
    Choices choices;
    bool compare;
  } all{.choices = {}, .compare = settings_.compare};
  if (rank == 0) {
    if (settings_.rules != nullptr && settings_.rules[0] != '\0') all.choices = read_rules(settings_.rules, size);
    for (int i = 0; i < kOperations; ++i) {
      if ((settings_.operations >> i & 1) == 0) all.choices.leave(static_cast<Operation>(i));
    }
  }
  bcast(*group_, &all, sizeof all, 0);
  choices_ = all.choices;
  // With more ranks than CPUs nothing is compared: the times say most of all which rank had a CPU.
  if (!all.compare || facts(*group_).crowded) return;
  comparison_.reset(new (std::nothrow) Comparison(title_ != nullptr ? tell_found : nullptr, title_.get()));
  if (comparison_ == nullptr) base::lacking("collectives: no memory for what is compared");
}

}  // namespace weft::coll
