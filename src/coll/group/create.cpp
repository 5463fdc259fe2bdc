// SPDX-License-Identifier: Apache-2.0
// Makes a group. The ranks talk to each other twice: first they say who they are, and rank 0 where the memory is; then
// whether they have mapped it. They talk a third and a fourth time only where /proc does not let them open each other's
// files.
#include "coll/group/create.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include <sys/mman.h>

#include "base/keep_errno.h"
#include "base/message.h"
#include "coll/group/calibrate.h"
#include "coll/group/group.h"
#include "coll/group/location.h"
#include "coll/group/memory.h"
#include "coll/ways/peer_memory.h"
#include "platform/generation.h"
#include "platform/numa.h"
#include "platform/small_file.h"

namespace weft::coll {

namespace {

enum class Outcome : uint8_t { good, no_memory, not_opened, not_mapped };

const char* text_of(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::good: return "";
    case Outcome::no_memory: return "there is not enough shared memory";
    case Outcome::not_opened: return "a rank may not open the shared memory of another one";
    case Outcome::not_mapped: return "a rank cannot map the shared memory";
  }
  return "";
}

// What a process finds out about itself once.
struct Self {
  uint32_t generation = 0;  // of the process that found it out; the child of a fork does so anew
  platform::ProcessId process;
  uint64_t numbers = 0;  // the namespace of `process.pid`
  char boot[40] = "";
};

const Self& self() noexcept {
  static thread_local Self known;
  if (known.generation != platform::generation() || known.process.pid == 0) {
    known.process = platform::own_process_id();
    known.numbers = platform::pid_namespace();
    // The boot id tells this node from all others, also where containers have the same host name.
    if (!platform::read_small_file("/proc/sys/kernel/random/boot_id", known.boot, sizeof known.boot)) known.boot[0] = 0;
    // Where something could not be read, for example as all file descriptors are in use, it is read again next time.
    if (known.boot[0] != '\0' && known.numbers != 0) known.generation = platform::generation();
  }
  return known;
}

struct RankInfo {
  char boot[40];
  uint64_t numbers;
  int32_t pid;
  int32_t file;  // rank 0's file descriptor of the shared memory; -1: it could not be made
  uint64_t page;
  uint64_t probe;  // an address at which a rank may try whether it can read this one's memory
  uint64_t queue_bytes, fragment_bytes;  // the rank's settings; all ranks use rank 0's
  uint64_t held;  // bytes that the rank's process has taken for all of its groups
  bool single_copy;
  bool crowded;  // whether the rank knows of more ranks than CPUs
};

struct Answer {
  Outcome outcome;
  bool reads_all;
};

struct Name {
  char text[48];
};

// One exchange among the ranks: each tells a message, and gets those of all.
template <class Message>
class Round {
 public:
  explicit Round(const Bootstrap& bootstrap) noexcept
      : bootstrap_(bootstrap), all_(new(std::nothrow) Message[static_cast<size_t>(bootstrap.size)]) {
    if (all_ == nullptr) base::lacking("collectives: no memory for what %d ranks say", bootstrap.size);
  }
  bool tell(const Message& mine) noexcept {
    return bootstrap_.allgather(bootstrap_.context, &mine, all_.get(), sizeof(Message));
  }
  const Message& operator[](int rank) const noexcept { return all_[static_cast<size_t>(rank)]; }

 private:
  const Bootstrap& bootstrap_;
  const std::unique_ptr<Message[]> all_;
};

constexpr uint64_t kProbe = 0x6c6c6f6374666577;  // "weftcoll"

bool reads_all(const Round<RankInfo>& infos, const Bootstrap& bootstrap) noexcept {
  for (int rank = 0; rank < bootstrap.size; ++rank) {
    if (!infos[rank].single_copy) return false;
    uint64_t found = 0;
    if (rank != bootstrap.rank &&
        !(read_peer(infos[rank].pid, &found, infos[rank].probe, sizeof found) && found == kProbe)) {
      return false;
    }
  }
  return true;
}

// Maps the file and takes this rank's part.
Outcome take_part(const MemoryFile& file, Mapping& mapping, const Bootstrap& bootstrap, size_t area) noexcept {
  if (!mapping.map(file, area * static_cast<size_t>(bootstrap.size))) return Outcome::not_mapped;
  const size_t offset = area * static_cast<size_t>(bootstrap.rank);
  const Location location = own_location(bootstrap.size > kMostFlat);
  if (!take_pages(file, mapping, offset, area, location.node)) return Outcome::no_memory;
  begin_area(mapping.data() + offset, self().process, location);
  return Outcome::good;
}

// Returns `good` if all ranks have answered so; else the answer of the first one that has not.
Outcome agree(const Round<Answer>& answers, int ranks, bool* reads) noexcept {
  *reads = true;
  for (int rank = 0; rank < ranks; ++rank) {
    if (answers[rank].outcome != Outcome::good) return answers[rank].outcome;
    *reads = *reads && answers[rank].reads_all;
  }
  return Outcome::good;
}

// So many bytes a process takes at most, for all of its groups: many communicators must not fill the machine.
constexpr uint64_t kMostHeld = uint64_t{32} << 20;
std::atomic<uint64_t> g_held{0};

// Says why the ranks cannot share memory; null: they can.
const char* why_not(const Round<RankInfo>& infos, int ranks, size_t area) noexcept {
  for (int rank = 0; rank < ranks; ++rank) {
    const RankInfo& other = infos[rank];
    if (other.boot[0] == '\0' || other.numbers == 0) return "a rank cannot read /proc";
    if (std::strcmp(other.boot, infos[0].boot) != 0 || other.numbers != infos[0].numbers ||
        other.page != infos[0].page) {
      return "the ranks are on several nodes, or in several containers";
    }
    if (other.held > 0 && other.held + area > kMostHeld)
      return "other communicators have as much memory as weft takes (32 MiB a rank)";
  }
  return nullptr;
}

// With more ranks a block of alltoall for each of them would not fit into a buffer.
constexpr int kMostRanks = 1024;

constexpr char kNoTalk[] = "the ranks could not talk";

// Shares the memory by the name of a file, for ranks that may not look into each other's /proc. Returns why it has
// failed; empty: it has not.
const char* take_named(const Bootstrap& bootstrap, MemoryFile& file, Mapping& mapping, size_t area, bool reads,
                       bool* all_read) noexcept {
  Name name{};
  if (bootstrap.rank == 0) file.make_named(area * static_cast<size_t>(bootstrap.size), name.text, sizeof name.text);
  Round<Name> names(bootstrap);
  bool all_heard = names.tell(name);
  Answer answer{Outcome::not_opened, reads};
  if (all_heard && names[0].text[0] != '\0' && (bootstrap.rank == 0 || file.open_named(names[0].text))) {
    answer.outcome = take_part(file, mapping, bootstrap, area);
  }
  Round<Answer> answers(bootstrap);
  all_heard = all_heard && answers.tell(answer);
  if (bootstrap.rank == 0) MemoryFile::remove_name(name.text);
  return all_heard ? text_of(agree(answers, bootstrap.size, all_read)) : kNoTalk;
}

// Returns null when all ranks have mapped the memory and have begun their areas; else why not. `settings` gets rank 0's
// sizes; `crowded` becomes true if any rank says so.
const char* find_together(const Bootstrap& bootstrap, Settings& settings, Mapping& mapping, bool* crowded) noexcept {
  static_assert(sizeof(Self::boot) == sizeof(RankInfo::boot));
  const auto ranks = static_cast<size_t>(bootstrap.size);
  MemoryFile file;
  bool made = true;
  if (bootstrap.rank == 0) made = file.make_nameless(area_bytes(settings, bootstrap.size) * ranks);
  const uint64_t probe = kProbe;
  RankInfo mine{.boot = {},
                .numbers = self().numbers,
                .pid = self().process.pid,
                .file = made ? file.number() : -1,
                .page = page_bytes(),
                .probe = reinterpret_cast<uint64_t>(&probe),
                .queue_bytes = settings.queue_bytes,
                .fragment_bytes = settings.fragment_bytes,
                // Relaxed: it only has to be about right.
                .held = g_held.load(std::memory_order_relaxed),
                .single_copy = settings.single_copy,
                .crowded = settings.job_ranks > job_cpus()};
  std::memcpy(mine.boot, self().boot, sizeof mine.boot);
  Round<RankInfo> infos(bootstrap);
  if (!infos.tell(mine)) return kNoTalk;
  settings.queue_bytes = infos[0].queue_bytes;
  settings.fragment_bytes = infos[0].fragment_bytes;
  const size_t area = area_bytes(settings, bootstrap.size);
  *crowded = false;
  for (int rank = 0; rank < bootstrap.size; ++rank) *crowded = *crowded || infos[rank].crowded;
  if (const char* why = why_not(infos, bootstrap.size, area)) return why;

  Answer answer{Outcome::not_opened, reads_all(infos, bootstrap)};
  if (infos[0].file >= 0 && (bootstrap.rank == 0 || file.open_of_process(infos[0].pid, infos[0].file))) {
    answer.outcome = take_part(file, mapping, bootstrap, area);
  }
  Round<Answer> answers(bootstrap);
  if (!answers.tell(answer)) return kNoTalk;
  const Outcome outcome = agree(answers, bootstrap.size, &settings.single_copy);
  if (outcome == Outcome::good) return nullptr;
  if (outcome != Outcome::not_opened) return text_of(outcome);
  mapping.unmap();
  const char* why = take_named(bootstrap, file, mapping, area, answer.reads_all, &settings.single_copy);
  return *why == '\0' ? nullptr : why;
}

}  // namespace

size_t queue_offset() noexcept { return whole_pages(sizeof(Area)); }

size_t area_bytes(const Settings& settings, int ranks) noexcept {
  return queue_offset() + queue_bytes(settings, ranks);
}

void begin_area(char* begin, const platform::ProcessId& process, const Location& location) noexcept {
  auto* area = new (begin) Area;
  area->member = {.process = process, .location = location, .cpus = platform::thread_cpus()};
}

Group* assemble(char* memory, int rank, int size, const Settings& settings, bool crowded) noexcept {
  const Group::Shape shape{
      .rank = rank, .size = size, .area_bytes = area_bytes(settings, size), .queue_offset = queue_offset()};
  Facts facts{};
  facts.single_copy = settings.single_copy;
  platform::CpuSet cpus;
  platform::NodeSet nodes;
  for (int other = 0; other < size; ++other) {
    const Member& member = reinterpret_cast<Area*>(memory + static_cast<size_t>(other) * shape.area_bytes)->member;
    cpus.add_all(member.cpus);
    nodes.add(member.location.node);
  }
  facts.cpus = cpus.count();
  facts.crowded = crowded || facts.cpus < size;
  facts.nodes = std::max(nodes.count(), 1);
  auto* group = new (std::nothrow) Group(memory, shape, settings, facts);
  if (group == nullptr) base::lacking("collectives: no memory for a group");
  group->set(lay_out_queue(settings, size, Speed{}), Speed{});
  group->plant_trees(settings.trees_from);
  return group;
}

Group* create(const Bootstrap& bootstrap, const Settings& settings, const char** why) noexcept {
  const base::KeepErrno keep;
  Mapping mapping;
  Settings agreed = settings;
  if (bootstrap.size > kMostRanks) {
    *why = "there are more than 1024 ranks";
    return nullptr;
  }
  bool crowded = false;
  *why = find_together(bootstrap, agreed, mapping, &crowded);
  if (*why != nullptr) return nullptr;
  g_held.fetch_add(area_bytes(agreed, bootstrap.size), std::memory_order_relaxed);
  Group* group = assemble(mapping.release(), bootstrap.rank, bootstrap.size, agreed, crowded);
  if (!group->crowded()) {
    const Speed speed = measure_speed(*group);
    group->set(lay_out_queue(agreed, bootstrap.size, speed), speed);
  }
  return group;
}

void release(Group* group) noexcept { delete group; }

void destroy(Group* group) noexcept {
  if (group == nullptr) return;
  const base::KeepErrno keep;
  g_held.fetch_sub(group->area_bytes(), std::memory_order_relaxed);
  munmap(group->memory(), group->memory_bytes());
  release(group);
}

}  // namespace weft::coll
