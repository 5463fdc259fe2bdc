// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/diagnostics/trace.h"

#include <compare>
#include <map>
#include <mutex>

#include "base/quiet_options.h"
#include "mpi/library/diagnostics/describe.h"
#include "mpi/library/diagnostics/names.h"
#include "mpi/library/runtime.h"
#include "platform/find_symbol.h"
#include "platform/futex_lock.h"

namespace weft::mpi {

namespace {

class Hash {
 public:
  void add(uint64_t number) noexcept {
    for (int byte = 0; byte < 8; ++byte) {
      value_ = (value_ ^ (number >> (8 * byte) & 0xff)) * 0x100000001b3;
    }
  }
  uint64_t value() const noexcept { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

// A number for the communicator that is the same on all of its ranks: a hash of its processes and its name.
uint64_t number_of(MPI_Comm communicator) noexcept {
  if (communicator == MPI_COMM_WORLD) return 0;
  Hash hash;
  MPI_Group world;
  MPI_Group group;
  int size = 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(communicator, &group);
  PMPI_Group_size(group, &size);
  for (int i = 0; i < size; ++i) {
    int global = 0;
    PMPI_Group_translate_ranks(group, 1, &i, world, &global);
    hash.add(static_cast<uint64_t>(global));
  }
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(communicator, name, &length);
  for (const char* c = name; *c != '\0'; ++c) hash.add(static_cast<uint64_t>(*c));
  return hash.value();
}

// A direction between two ranks, with a communicator and a tag: MPI keeps the order of the messages in it.
struct Channel {
  bool sent;  // by this process, or received
  uint64_t communicator;
  int from;
  int to;
  int tag;

  auto operator<=>(const Channel&) const = default;
};

// Counts one more message of the channel, and returns how many it has had.
uint64_t count(const Channel& channel) noexcept {
  static platform::FutexLock lock;
  // The map is never destroyed: other threads may still use it when the static objects are.
  static auto& counts = *new std::map<Channel, uint64_t>;
  const std::lock_guard locked(lock);
  return ++counts[channel];
}

// A number for the next message; it is the same at the sender and at the receiver. JSON holds it exactly, and it is
// never 0; 0: the message has no number.
uint64_t number_of_message(bool sent, MPI_Comm communicator, int peer, int tag) noexcept {
  if (communicator == MPI_COMM_NULL || peer < 0 || tag < 0) return 0;
  int own = 0;
  PMPI_Comm_rank(communicator, &own);
  const Channel channel{sent, number_of(communicator), sent ? own : peer, sent ? peer : own, tag};
  Hash hash;
  hash.add(channel.communicator);
  hash.add(static_cast<uint64_t>(channel.from));
  hash.add(static_cast<uint64_t>(channel.to));
  hash.add(static_cast<uint64_t>(tag));
  hash.add(count(channel));
  return (hash.value() & ((uint64_t{1} << 48) - 1)) | uint64_t{1} << 48;
}

}  // namespace

void begin_trace() noexcept {
  // Relaxed: the caller has just made the calls that are converted possible, or has not.
  const Runtime* runtime = g_runtime.load(std::memory_order_relaxed);
  const base::Options& options = base::quiet_options();
  if (runtime == nullptr || (options.trace_file.value == nullptr && options.profile_folder.value == nullptr)) return;
  // A runtime loads its tool when OpenMP is used for the first time.
  runtime->context();
  const auto call = reinterpret_cast<base::TraceCall>(platform::find_symbol(base::kTraceCall));
  const auto rank_is = reinterpret_cast<base::TraceRank>(platform::find_symbol(base::kTraceRank));
  if (call == nullptr || rank_is == nullptr) return;
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_is(rank, ranks, platform::now_ns());
  const auto waits = reinterpret_cast<base::TraceWait>(platform::find_symbol(base::kTraceWait));
  const auto waited = reinterpret_cast<base::TraceWaited>(platform::find_symbol(base::kTraceWaited));
  if (options.profile_folder.value != nullptr && waits != nullptr && waited != nullptr) {
    g_trace_waited.store(waited, std::memory_order_relaxed);
    g_trace_wait.store(waits, std::memory_order_relaxed);
  }
  g_numbers_messages.store(options.trace_file.value != nullptr, std::memory_order_relaxed);
  g_trace_call.store(call, std::memory_order_relaxed);
}

void begin_wait(const char* name, const void* caller) noexcept {
  // Relaxed: as g_trace_wait says.
  if (const base::TraceWait waits = g_trace_wait.load(std::memory_order_relaxed); waits != nullptr) waits(name, caller);
}

void end_wait() noexcept {
  // Relaxed: as g_trace_wait says.
  if (const base::TraceWaited waited = g_trace_waited.load(std::memory_order_relaxed); waited != nullptr) waited();
}

TracedWait::TracedWait(const Call& call) noexcept {
  call.describe(call.arguments, what_);
  traced_.began = call.began != 0 ? call.began : platform::now_ns();
  traced_.name = what_.name;
  traced_.caller = call.caller;
  traced_.peer = what_.peer;
  traced_.tag = what_.tag;
  traced_.requests = what_.requests;
  traced_.bytes = bytes_of(what_);
  // Takes calls of MPI. Relaxed: as g_numbers_messages says.
  if (g_numbers_messages.load(std::memory_order_relaxed)) number_messages();
  begin_wait(traced_.name, traced_.caller);
}

void TracedWait::number_messages() noexcept {
  name_communicator(what_.communicator, traced_.communicator, sizeof traced_.communicator);
  if (what_.also_sent.peer != Description::kNone) {
    traced_.sent = number_of_message(true, what_.communicator, what_.also_sent.peer, what_.also_sent.tag);
  }
  switch (what_.direction) {
    case Description::Direction::none: break;
    case Description::Direction::sent:
      traced_.sent = number_of_message(true, what_.communicator, what_.peer, what_.tag);
      break;
    case Description::Direction::received:
      // 0 for one from anybody, which came() counts.
      traced_.received = number_of_message(false, what_.communicator, what_.peer, what_.tag);
      break;
  }
}

void TracedWait::came(const MPI_Status& status) noexcept {
  if (what_.direction != Description::Direction::received || traced_.received != 0) return;
  traced_.peer = status.MPI_SOURCE;
  traced_.tag = status.MPI_TAG;
  // Relaxed: as g_numbers_messages says.
  if (!g_numbers_messages.load(std::memory_order_relaxed)) return;
  traced_.received = number_of_message(false, what_.communicator, traced_.peer, traced_.tag);
}

TracedWait::~TracedWait() {
  end_wait();
  traced_.ended = platform::now_ns();
  g_trace_call.load(std::memory_order_relaxed)(traced_);
}

}  // namespace weft::mpi
