// SPDX-License-Identifier: Apache-2.0
// GOMP: target constructs. The host is the only device, so the outlined function gets the host's addresses, and what
// is left to do is what the construct says beside mapping: tasks, dependences, private copies, leagues.
#include <cstring>

#include "openmp/api/device.h"
#include "openmp/gomp/task.h"
#include "openmp/region/league.h"

using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

// Devices as the compiler says them, beside numbers (gcc's gomp-constants.h).
constexpr int kByIcv = -1;
constexpr int kFallBack = -2;  // if(false), and what names the host
constexpr int kByName = -3;    // omp_default_device, which gcc 15 has

// Bits of `flags`.
constexpr unsigned kNowait = 1u << 0;

// The parts of a kind of map: the low byte says which, the high one the alignment's logarithm.
constexpr unsigned kKindMask = 0xff;
constexpr unsigned kAlignmentShift = 8;
constexpr unsigned kFirstprivate = 0x0c;

void require_device(int device) noexcept {
  if (device == kFallBack) return;
  static_cast<void>(is_host(device == kByIcv || device == kByName ? icvs(self()).default_device : device));
}

// ---- what a target construct brings ----

struct Maps {
  size_t count;
  void** addresses;
  const size_t* sizes;
  const unsigned short* kinds;

  bool is_copied(size_t i) const noexcept { return (kinds[i] & kKindMask) == kFirstprivate; }
  size_t alignment(size_t i) const noexcept { return size_t{1} << (kinds[i] >> kAlignmentShift); }
};

size_t round_up(size_t value, size_t alignment) noexcept { return (value + alignment - 1) / alignment * alignment; }

// Private copies of the variables that are firstprivate, at once and in one place.
class Copies {
 public:
  explicit Copies(const Maps& maps) noexcept : maps_(maps) {
    for (size_t i = 0; i < maps.count; ++i) {
      if (!maps.is_copied(i)) continue;
      if (maps.alignment(i) > alignment_) alignment_ = maps.alignment(i);
      bytes_ = round_up(bytes_, maps.alignment(i)) + maps.sizes[i];
    }
  }
  size_t bytes() const noexcept { return bytes_; }
  size_t alignment() const noexcept { return alignment_; }

  // Makes them at `room`, aligned as said, and has `addresses` point to them.
  void make(char* room, void** addresses) const noexcept {
    size_t at = 0;
    for (size_t i = 0; i < maps_.count; ++i) {
      if (!maps_.is_copied(i)) continue;
      at = round_up(at, maps_.alignment(i));
      // Null: an optional argument of Fortran's that is absent.
      if (maps_.addresses[i] == nullptr) continue;
      std::memcpy(room + at, maps_.addresses[i], maps_.sizes[i]);
      addresses[i] = room + at;
      at += maps_.sizes[i];
    }
  }

 private:
  const Maps& maps_;
  size_t bytes_ = 0;
  size_t alignment_ = alignof(void*);
};

// Pairs of what an argument is and its value, in one word or in two, with a null at the end.
int thread_limit_of(void** arguments) noexcept {
  constexpr intptr_t kDevice = 0x7f;  // 0: for any
  constexpr intptr_t kValueFollows = 1 << 7;
  constexpr intptr_t kWhich = 0xff00;
  constexpr intptr_t kThreadLimit = 0x200;
  constexpr int kValueShift = 16;
  if (arguments == nullptr) return 0;
  while (*arguments != nullptr) {
    const auto word = reinterpret_cast<intptr_t>(*arguments++);
    const intptr_t value = (word & kValueFollows) != 0 ? reinterpret_cast<intptr_t>(*arguments++) : word >> kValueShift;
    if ((word & kDevice) == 0 && (word & kWhich) == kThreadLimit) {
      return value < INT32_MAX ? static_cast<int>(value) : INT32_MAX;
    }
  }
  return 0;
}

// ---- the region ----

void run_region(Function function, void** addresses, int thread_limit) noexcept {
  Region region(function, addresses);
  run_initial_team(run_function, region.words, thread_limit);
}

void await(void** depend) noexcept {
  if (depend == nullptr) return;
  Dependences dependences = read_dependences(depend);
  task_wait_for(self(), dependences.begin(), dependences.size());
  dependences.free_memory();
}

// The task of a region with nowait: followed by the addresses, then the private copies.
struct TargetTask {
  Function function;
  int thread_limit;

  void** addresses() noexcept { return reinterpret_cast<void**>(this + 1); }
};

void run_target_task(Task* task) {
  if (is_dropped(task)) return;
  auto* target = static_cast<TargetTask*>(task->data);
  run_region(target->function, target->addresses(), target->thread_limit);
}

void submit_region(Function function, const Maps& maps, void** depend, int thread_limit) noexcept {
  const Copies copies(maps);
  const size_t head = round_up(sizeof(TargetTask) + maps.count * sizeof(void*), copies.alignment());
  void* payload = nullptr;
  Task* task = allocate_task(head + copies.bytes(), copies.alignment(), &payload);
  auto* target = new (payload) TargetTask{function, thread_limit};
  if (maps.count > 0) std::memcpy(target->addresses(), maps.addresses, maps.count * sizeof(void*));
  copies.make(static_cast<char*>(payload) + head, target->addresses());
  task->body = run_target_task;
  task->data = target;
  TaskClauses clauses;
  Dependences dependences;
  if (depend != nullptr) {
    dependences = read_dependences(depend);
    clauses.dependences = dependences.begin();
    clauses.dependence_count = dependences.size();
  }
  submit_task(self(), task, clauses);
  dependences.free_memory();
}

// What moves data in and out: nothing to do but to keep its place in the order.
void move_data(int device, unsigned flags, void** depend) noexcept {
  require_device(device);
  if (depend == nullptr) return;
  if ((flags & kNowait) == 0) return await(depend);
  Dependences dependences = read_dependences(depend);
  submit_empty_task(self(), dependences.begin(), dependences.size());
  dependences.free_memory();
}

}  // namespace

WEFT_ABI(void, GOMP_target_ext)(int device, Function function, size_t count, void** addresses, const size_t* sizes,
                                const unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
  const tool::Entry entry(WEFT_CALLER);
  require_device(device);
  const Maps maps{count, addresses, sizes, kinds};
  const int thread_limit = thread_limit_of(arguments);
  if ((flags & kNowait) != 0) return submit_region(function, maps, depend, thread_limit);
  await(depend);
  const Copies copies(maps);
  if (copies.bytes() > 0) {
    const auto room = reinterpret_cast<uintptr_t>(__builtin_alloca(copies.bytes() + copies.alignment()));
    copies.make(reinterpret_cast<char*>(round_up(room, copies.alignment())), addresses);
  }
  run_region(function, addresses, thread_limit);
}

WEFT_ABI(void, GOMP_target_data_ext)(int device, size_t, void**, const size_t*, const unsigned short*) {
  require_device(device);
}

WEFT_ABI(void, GOMP_target_end_data)() {}

WEFT_ABI(void, GOMP_target_update_ext)(int device, size_t, void**, const size_t*, const unsigned short*, unsigned flags,
                                       void** depend) {
  const tool::Entry entry(WEFT_CALLER);
  move_data(device, flags, depend);
}

WEFT_ABI(void, GOMP_target_enter_exit_data)(int device, size_t, void**, const size_t*, const unsigned short*,
                                            unsigned flags, void** depend) {
  const tool::Entry entry(WEFT_CALLER);
  move_data(device, flags, depend);
}

// False when all teams have had their turn.
WEFT_ABI(bool, GOMP_teams4)(unsigned, unsigned teams, unsigned thread_limit, bool first) {
  const tool::Entry entry(WEFT_CALLER);
  if (!first) return next_team_in_turn();
  begin_league_in_turn(static_cast<int>(teams), static_cast<int>(thread_limit));
  return true;
}

// ---- gcc 4.9, which has no clauses for tasks; and up to gcc 11 the program runs one team only ----

WEFT_ABI(void, GOMP_target)(int device, Function function, const void*, size_t, void** addresses, const size_t*,
                            const unsigned char*) {
  const tool::Entry entry(WEFT_CALLER);
  require_device(device);
  run_region(function, addresses, 0);
}

WEFT_ABI(void, GOMP_target_data)(int device, const void*, size_t, void**, const size_t*, const unsigned char*) {
  require_device(device);
}

WEFT_ABI(void, GOMP_target_update)(int device, const void*, size_t, void**, const size_t*, const unsigned char*) {
  require_device(device);
}

WEFT_ABI(void, GOMP_teams)(unsigned, unsigned thread_limit) {
  const tool::Entry entry(WEFT_CALLER);
  begin_league_in_turn(1, static_cast<int>(thread_limit));
}

// ---- gcc 14 and 15 ----

// Function pointers of the host are those of the device.
WEFT_ABI(void*, GOMP_target_map_indirect_ptr)(void* function) { return function; }

// The host has no foreign runtime to work with: objects stay or become omp_interop_none.
WEFT_ABI(void, GOMP_interop)(int device, int init_count, void*** inits, const void*, const void*, int, void*,
                             int destroy_count, void*** destroyed, unsigned flags, void** depend) {
  const tool::Entry entry(WEFT_CALLER);
  move_data(device, flags, depend);
  for (int i = 0; i < init_count; ++i) *inits[i] = nullptr;
  for (int i = 0; i < destroy_count; ++i) *destroyed[i] = nullptr;
}

// ---- what programs built for offloading tell at their start ----

// There is no device but the host: nothing is done with the images.
WEFT_ABI(void, GOMP_offload_register)(const void*, int, const void*) {}

WEFT_ABI(void, GOMP_offload_register_ver)(unsigned, const void*, int, const void*) {}

WEFT_ABI(void, GOMP_offload_unregister)(const void*, int, const void*) {}

WEFT_ABI(void, GOMP_offload_unregister_ver)(unsigned, const void*, int, const void*) {}
