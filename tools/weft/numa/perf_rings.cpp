// SPDX-License-Identifier: Apache-2.0
#include "numa/perf_rings.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numa/perf_event.h"
#include "platform/cpu_set.h"

namespace weft::tools::numa {

namespace {

using weft::numa::Access;

// Of each CPU; a power of two of pages. A ring is emptied when it is half full: some 600 touches.
constexpr size_t kRingPages = 16;
constexpr size_t kMostKept = 1 << 20;
constexpr int kPatienceMs = 500;

size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
size_t ring_bytes() { return kRingPages * page_size(); }

// As kSampleType makes the kernel write it.
struct Sample {
  perf_event_header header;
  uint64_t code;
  uint32_t process;
  uint32_t thread;
  uint64_t time;
  uint64_t address;
  uint32_t cpu;
  uint32_t reserved;
  uint64_t data_source;
};

int open_event(perf_event_attr wanted, int cpu, int leader) {
  constexpr int kThisThread = 0;
  wanted.size = sizeof wanted;
  wanted.inherit = 1;
  wanted.watermark = 1;
  wanted.wakeup_watermark = static_cast<uint32_t>(ring_bytes() / 2);
  // As all times of the record.
  wanted.use_clockid = 1;
  wanted.clockid = CLOCK_MONOTONIC;
  return static_cast<int>(syscall(SYS_perf_event_open, &wanted, kThisThread, cpu, leader, PERF_FLAG_FD_CLOEXEC));
}

Access access_of(uint64_t data_source) {
  if ((data_source & PERF_MEM_OP_STORE) != 0) return Access::write;
  return (data_source & PERF_MEM_OP_LOAD) != 0 ? Access::read : Access::unknown;
}

}  // namespace

PerfRings::PerfRings(const std::vector<PerfEvent>& events) {
  error_ = open_all(events);
  if (error_ != 0) {
    // There may be hundreds, and the command goes on.
    close_all();
    return;
  }
  // The signals of the command go to those who wait for them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A ring for each event on each CPU that the program may use: events that children inherit have no other.
int PerfRings::open_all(const std::vector<PerfEvent>& events) {
  wake_ = eventfd(0, EFD_CLOEXEC);
  if (wake_ < 0) return errno;
  if (events.empty()) return ENODEV;
  const platform::CpuSet cpus = platform::thread_cpus();
  for (PerfEvent event : events) {
    int error = ENODEV;
    for (const int cpu : platform::each(cpus)) {
      error = open_one(event, cpu);
      if (error != 0 && error != ENODEV) return error;
    }
    if (rings_.empty()) return error;
  }
  return 0;
}

// Touches in system calls too, if that is allowed: read() into a new array touches it first. ENODEV: a CPU that is
// offline.
int PerfRings::open_one(PerfEvent& event, int cpu) {
  int leader = -1;
  if (event.leader) {
    leader = open_event(*event.leader, cpu, -1);
    if (leader < 0) return errno;
    leaders_.push_back(leader);
  }
  Ring ring{.source = event.source};
  ring.file = open_event(event.attributes, cpu, leader);
  if (ring.file < 0 && (errno == EACCES || errno == EPERM) && event.attributes.exclude_kernel == 0) {
    event.attributes.exclude_kernel = 1;
    ring.file = open_event(event.attributes, cpu, leader);
  }
  if (ring.file < 0) return errno;
  void* memory = mmap(nullptr, page_size() + ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, ring.file, 0);
  const int error = memory == MAP_FAILED ? errno : 0;
  if (error == 0) ring.memory = memory;
  rings_.push_back(ring);
  return error;
}

PerfRings::~PerfRings() {
  take();
  close_all();
}

void PerfRings::close_all() {
  for (const Ring& ring : rings_) {
    if (ring.memory != nullptr) munmap(ring.memory, page_size() + ring_bytes());
    close(ring.file);
  }
  for (const int leader : leaders_) close(leader);
  if (wake_ >= 0) close(wake_);
  rings_.clear();
  leaders_.clear();
  wake_ = -1;
}

std::vector<KernelTouch> PerfRings::take() {
  if (thread_.joinable()) {
    for (const Ring& ring : rings_) ioctl(ring.file, PERF_EVENT_IOC_DISABLE, 0);
    over_ = true;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
    thread_.join();
  }
  return std::exchange(kept_, {});
}

void PerfRings::run() {
  std::vector<pollfd> files;
  for (const Ring& ring : rings_) files.push_back({ring.file, POLLIN, 0});
  files.push_back({wake_, POLLIN, 0});
  bool is_last = false;
  while (!is_last) {
    poll(files.data(), files.size(), kPatienceMs);
    is_last = over_;
    for (Ring& ring : rings_) drain(ring);
    // A program that has ended hangs up, for good.
    for (pollfd& file : files) {
      if ((file.revents & (POLLHUP | POLLERR)) != 0) file.fd = -1;
    }
  }
}

void PerfRings::drain(Ring& ring) {
  auto* control = static_cast<perf_event_mmap_page*>(ring.memory);
  const char* data = static_cast<char*>(ring.memory) + page_size();
  const size_t bytes = ring_bytes();
  // Acquire pairs with the kernel's release: what lies before the head is complete.
  const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = control->data_tail;
  while (tail + sizeof(perf_event_header) <= head) {
    Sample sample{};
    // It may go on at the beginning of the ring.
    const auto copy = [&](size_t size) {
      const size_t at = tail % bytes;
      const size_t first = std::min(size, bytes - at);
      std::memcpy(&sample, data + at, first);
      std::memcpy(reinterpret_cast<char*>(&sample) + first, data, size - first);
    };
    copy(sizeof sample.header);
    const size_t size = sample.header.size;
    if (size < sizeof sample.header || tail + size > head) break;
    if (sample.header.type == PERF_RECORD_SAMPLE && size == sizeof sample) {
      copy(sizeof sample);
      // Addresses of the kernel: the program was in a system call.
      const bool in_kernel = (sample.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
      keep({static_cast<int64_t>(sample.time), sample.address, in_kernel ? 0 : sample.code,
            static_cast<int>(sample.process), static_cast<int>(sample.thread), static_cast<int>(sample.cpu),
            ring.source, access_of(sample.data_source)});
    }
    tail += size;
  }
  // Release: the kernel may write over it only when it has been read.
  __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}

// Of a program with very many, one of two, four, eight ...
void PerfRings::keep(const KernelTouch& touch) {
  if (seen_++ % stride_ != 0) return;
  kept_.push_back(touch);
  if (kept_.size() < kMostKept) return;
  for (size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
  kept_.resize((kept_.size() + 1) / 2);
  stride_ *= 2;
}

}  // namespace weft::tools::numa
