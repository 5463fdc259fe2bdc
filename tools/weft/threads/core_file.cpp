// SPDX-License-Identifier: Apache-2.0
#include "threads/core_file.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include <elf.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <unistd.h>

namespace weft::tools {

namespace {

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#else
constexpr int kMachine = EM_AARCH64;
#endif

// Of signals that leave a core file; gcore writes down the one by which it has stopped the process.
bool ends_processes(int signal) {
  constexpr int kSignals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSYS, SIGXCPU, SIGXFSZ};
  return std::find(std::begin(kSignals), std::end(kSignals), signal) != std::end(kSignals);
}

SystemThread thread_of(const elf_prstatus& status) {
  SystemThread thread;
  const elf_gregset_t& saved = status.pr_reg;
#if defined(__x86_64__)
  // Places in pr_reg (user_regs_struct), by DWARF's numbers: rax, rdx, rcx, rbx, rsi, rdi, rbp, then r8 to r15.
  constexpr std::pair<int, int> kRegisters[] = {{0, 10}, {1, 12}, {2, 11}, {3, 5},  {4, 13}, {5, 14}, {6, 4}, {8, 9},
                                                {9, 8},  {10, 7}, {11, 6}, {12, 3}, {13, 2}, {14, 1}, {15, 0}};
  constexpr size_t kCall = 15, kCounter = 16, kStackPointer = 19;
  constexpr size_t kArguments[] = {14, 13, 12, 7, 9, 8};
  for (const auto& [number, place] : kRegisters) thread.registers.others.emplace_back(number, saved[place]);
  thread.call = static_cast<long>(saved[kCall]);
  for (size_t i = 0; i < thread.arguments.size(); ++i) thread.arguments[i] = saved[kArguments[i]];
  thread.registers.program_counter = saved[kCounter];
  thread.registers.stack_pointer = saved[kStackPointer];
#else
  constexpr size_t kStackPointer = 31, kCounter = 32;
  for (size_t i = 0; i < kStackPointer; ++i) thread.registers.others.emplace_back(static_cast<int>(i), saved[i]);
  for (size_t i = 0; i < thread.arguments.size(); ++i) thread.arguments[i] = saved[i];
  thread.registers.program_counter = saved[kCounter];
  thread.registers.stack_pointer = saved[kStackPointer];
#endif
  thread.sleeps = thread.call >= 0;
  return thread;
}

uint64_t padded(uint64_t size) { return (size + 3) & ~uint64_t{3}; }

}  // namespace

std::unique_ptr<CoreFile> CoreFile::open(const std::string& path, std::string* fault) {
  std::unique_ptr<CoreFile> core(new CoreFile(path));
  *fault = core->read_headers();
  if (!fault->empty()) return nullptr;
  *fault = core->find_inspected() ? "" : core->why_no_records();
  if (fault->empty() && core->inspected_.process != core->process_)
    *fault = "process " + std::to_string(core->process_) + " was the child of a fork and has opened no parallel region";
  if (!fault->empty()) return nullptr;
  core->write_maps();
  return core;
}

CoreFile::~CoreFile() {
  if (maps_ >= 0) close(maps_);
}

std::string CoreFile::read_headers() {
  Elf64_Ehdr header{};
  if (!file_.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_CORE)
    return "it is no core file; one of systemd's, or one that is compressed, has to be taken out first: coredumpctl "
           "dump -o core";
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine) return "it is of another kind of machine";
  uint64_t count = header.e_phnum;
  Elf64_Shdr first{};
  if (count == PN_XNUM && file_.read(header.e_shoff, first)) count = first.sh_info;
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Phdr entry{};
    if (!file_.read(header.e_phoff + i * sizeof entry, entry)) return "it is cut off";
    if (entry.p_type == PT_LOAD) {
      const uint64_t end = file_.all().size();
      const uint64_t there = entry.p_offset < end ? std::min(entry.p_filesz, end - entry.p_offset) : 0;
      is_cut_off_ = is_cut_off_ || there < entry.p_filesz;
      segments_.push_back({entry.p_vaddr, there, entry.p_offset, entry.p_memsz, entry.p_flags});
    } else if (entry.p_type == PT_NOTE) {
      read_notes(entry.p_offset, entry.p_filesz);
    }
  }
  std::sort(segments_.begin(), segments_.end(),
            [](const Segment& a, const Segment& b) { return a.address < b.address; });
  // What the thread has done at last was to end the process.
  if (const auto ended = threads_.find(signalled()); ended != threads_.end()) ended->second.sleeps = false;
  return {};
}

std::string CoreFile::why_no_records() const {
  if (is_cut_off_) return "it is cut off: ulimit -c unlimited, and room on the disk";
  if (lacks_data_) return "it has no data of libraries: /proc/self/coredump_filter has left it out";
  return "the records of weft are not in it: the program was not on weft, had opened no parallel region, or used "
         "another version";
}

void CoreFile::read_notes(uint64_t offset, uint64_t size) {
  const uint64_t end = offset + size;
  Elf64_Nhdr note{};
  while (offset + sizeof note <= end && file_.read(offset, note)) {
    offset += sizeof note;
    const std::string owner = file_.text(offset);
    offset += padded(note.n_namesz);
    take_note(note.n_type, owner, offset, note.n_descsz);
    offset += padded(note.n_descsz);
  }
}

void CoreFile::take_note(uint32_t type, const std::string& owner, uint64_t offset, uint64_t size) {
  constexpr uint32_t kArmSystemCall = 0x404;
  elf_prstatus status{};
  elf_prpsinfo info{};
  siginfo_t signal{};
  if (type == NT_PRSTATUS && owner == "CORE" && file_.read(offset, status)) {
    order_.push_back(status.pr_pid);
    threads_[status.pr_pid] = thread_of(status);
  } else if (type == NT_PRPSINFO && owner == "CORE" && file_.read(offset, info)) {
    process_ = info.pr_pid;
    program_.assign(info.pr_fname, strnlen(info.pr_fname, sizeof info.pr_fname));
  } else if (type == NT_SIGINFO && signal_ == 0 && file_.read(offset, signal)) {
    signal_ = ends_processes(signal.si_signo) ? signal.si_signo : 0;
    was_sent_ = signal.si_code == SI_USER || signal.si_code == SI_QUEUE;
  } else if (type == NT_AUXV) {
    Elf64_auxv_t entry{};
    for (uint64_t at = offset; at + sizeof entry <= offset + size && file_.read(at, entry); at += sizeof entry) {
      if (entry.a_type == AT_EXECFN) name_of_program_ = entry.a_un.a_val;
    }
  } else if (type == NT_FILE) {
    take_mapped_files(offset, size);
  } else if (type == kArmSystemCall && !order_.empty()) {
    int32_t call = -1;
    SystemThread& thread = threads_[order_.back()];
    if (file_.read(offset, call)) thread.call = call;
    thread.sleeps = call >= 0;
  }
}

// A count, the size of a page, for each part its begin, end and page in the file, and then the names.
void CoreFile::take_mapped_files(uint64_t offset, uint64_t size) {
  const uint64_t end = offset + size;
  uint64_t count = 0;
  uint64_t page = 0;
  if (!file_.read(offset, count) || !file_.read(offset + 8, page)) return;
  uint64_t entry = offset + 16;
  if (count > size / 24) return;
  uint64_t name = entry + count * 24;
  for (uint64_t i = 0; i < count && name < end; ++i, entry += 24) {
    MappedPart part;
    uint64_t first = 0;
    if (!file_.read(entry, part.begin) || !file_.read(entry + 8, part.end) || !file_.read(entry + 16, first)) return;
    part.offset = first * page;
    part.path = file_.text(name);
    name += part.path.size() + 1;
    mapped_.push_back(std::move(part));
  }
}

// In the data of a library: those pages are its own, so they are written down.
bool CoreFile::find_inspected() {
  const auto is_of_file = [&](const Segment& segment) {
    return std::any_of(mapped_.begin(), mapped_.end(), [&](const MappedPart& part) {
      return part.begin < segment.address + segment.mapped && segment.address < part.end;
    });
  };
  for (const Segment& segment : segments_) {
    if ((segment.flags & PF_W) == 0 || !is_of_file(segment)) continue;
    lacks_data_ = lacks_data_ || segment.size == 0;
    for (uint64_t at = 0; at + sizeof inspected_ <= segment.size; at += alignof(core::InspectionStart)) {
      uint64_t pool = 0;
      if (file_.read(segment.offset + at, inspected_) && has_own_layout() && read(inspected_.pool, &pool, sizeof pool))
        return true;
    }
  }
  return false;
}

// As /proc/PID/maps; each file has a number of its own, by which parts of it are told to belong together.
void CoreFile::write_maps() {
  std::string text;
  std::map<std::string, int> numbers;
  for (const MappedPart& part : mapped_) {
    const auto segment = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& some) {
      return some.address <= part.begin && part.begin < some.address + some.mapped;
    });
    const uint32_t flags = segment != segments_.end() ? segment->flags : uint32_t{PF_R};
    const int number = numbers.emplace(part.path, static_cast<int>(numbers.size()) + 1).first->second;
    char line[120];
    std::snprintf(line, sizeof line, "%" PRIx64 "-%" PRIx64 " %c%c%cp %08" PRIx64 " 00:01 %d ", part.begin, part.end,
                  (flags & PF_R) != 0 ? 'r' : '-', (flags & PF_W) != 0 ? 'w' : '-', (flags & PF_X) != 0 ? 'x' : '-',
                  part.offset, number);
    text += line + part.path + '\n';
  }
  maps_ = memfd_create("weft-maps", MFD_CLOEXEC);
  if (maps_ >= 0 && write(maps_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    close(maps_);
    maps_ = -1;
  }
}

std::string CoreFile::maps_file() const { return "/proc/self/fd/" + std::to_string(maps_); }

std::string CoreFile::subject() const {
  const std::string text = "core file of process " + std::to_string(process_);
  return signal_ == 0 ? text : text + ", ended by signal " + std::to_string(signal_) + ", " + strsignal(signal_);
}

// Below a stack lies a guard, or nothing.
bool CoreFile::overflowed(bool* initial) const {
  const auto thread = threads_.find(signalled());
  if (thread == threads_.end() || signal_ != SIGSEGV) return false;
  const uint64_t at = thread->second.registers.stack_pointer;
  const auto above = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return (segment.flags & PF_W) != 0 && at < segment.address + segment.mapped;
  });
  if (above == segments_.end() || above->address <= at) return false;
  *initial = above->address <= name_of_program_ && name_of_program_ < above->address + above->mapped;
  return true;
}

std::vector<char> CoreFile::read_some(uint64_t address, size_t size) {
  std::vector<char> data;
  while (data.size() < size) {
    const uint64_t at = address + data.size();
    const auto next = std::upper_bound(segments_.begin(), segments_.end(), at,
                                       [](uint64_t wanted, const Segment& some) { return wanted < some.address; });
    if (next == segments_.begin()) break;
    const Segment& segment = *(next - 1);
    if (at - segment.address >= segment.size) break;
    const uint64_t most = std::min<uint64_t>(size - data.size(), segment.size - (at - segment.address));
    const std::string_view bytes = file_.part(segment.offset + (at - segment.address), most);
    if (bytes.empty()) break;
    data.insert(data.end(), bytes.begin(), bytes.end());
  }
  return data;
}

bool CoreFile::read(uint64_t address, void* data, size_t size) {
  const std::vector<char> bytes = read_some(address, size);
  if (bytes.size() != size) return false;
  std::memcpy(data, bytes.data(), size);
  return true;
}

std::vector<pid_t> CoreFile::threads() { return order_; }

SystemThread CoreFile::thread(pid_t number) {
  const auto found = threads_.find(number);
  return found != threads_.end() ? found->second : SystemThread();
}

}  // namespace weft::tools
