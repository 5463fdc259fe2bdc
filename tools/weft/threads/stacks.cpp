// SPDX-License-Identifier: Apache-2.0
#include "threads/stacks.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "symbols/libdw.h"

namespace weft::tools::threads {

namespace {

constexpr size_t kMostFrames = 200;
constexpr uint64_t kPage = 4096;

class DwarfStacks : public Stacks {
 public:
  DwarfStacks(const DwarfFunctions& library, Inspector& process)
      : dw_(library),
        process_(process),
        symbols_(read_symbols(process.maps_file())),
        callbacks_{.find_elf = library.dwfl_linux_proc_find_elf,
                   .find_debuginfo = library.dwfl_standard_find_debuginfo,
                   .section_address = nullptr,
                   .debuginfo_path = nullptr} {
    std::FILE* maps = std::fopen(process.maps_file().c_str(), "re");
    if (maps == nullptr) return;
    dwfl_ = dw_.dwfl_begin(&callbacks_);
    if (dwfl_ != nullptr) {
      dw_.dwfl_linux_proc_maps_report(dwfl_, maps);
      dw_.dwfl_report_end(dwfl_, nullptr, nullptr);
      attached_ = dw_.dwfl_attach_state(dwfl_, nullptr, process.process(), &kThreads, this);
      runtime_ = dw_.dwfl_addrmodule(dwfl_, process.inspected().code);
    }
    std::fclose(maps);
  }
  ~DwarfStacks() override {
    if (dwfl_ != nullptr) dw_.dwfl_end(dwfl_);
  }
  DwarfStacks(const DwarfStacks&) = delete;
  DwarfStacks& operator=(const DwarfStacks&) = delete;

  CodePlace place(uint64_t address) override { return symbols_->find(address + 1); }

  std::vector<Frame> frames(const Registers& registers) override {
    frames_.clear();
    if (!attached_ || registers.program_counter == 0) return {};
    registers_ = &registers;
    dw_.dwfl_getthread_frames(dwfl_, ++serial_, take_frame, this);
    return std::move(frames_);
  }

 private:
  static bool is_of_system(const std::string& file) {
    return file.starts_with("/usr/include/") || file.find("/include/c++/") != std::string::npos;
  }

  // A function of a header that has been inlined stands at the line of its call. The innermost one outside of headers.
  void leave_system_headers(uint64_t address, CodePlace& place) const {
    Dwfl_Module* module = dw_.dwfl_addrmodule(dwfl_, address);
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = module != nullptr ? dw_.dwfl_module_addrdie(module, address, &bias) : nullptr;
    Dwarf_Files* files = nullptr;
    if (unit == nullptr || dw_.dwarf_getsrcfiles(unit, &files, nullptr) != 0) return;
    // The innermost scope is where the address is; those around it are told by a call of their own, since behind an
    // inlined function the first list goes on with the function's definition.
    Dwarf_Die* innermost = nullptr;
    Dwarf_Die* scopes = nullptr;
    if (dw_.dwarf_getscopes(unit, address - bias, &innermost) <= 0) return;
    const int count = dw_.dwarf_getscopes_die(innermost, &scopes);
    std::free(innermost);
    for (int i = 0; i < count; ++i) {
      constexpr int kInlined = 0x1d, kCallFile = 0x58, kCallLine = 0x59;
      if (dw_.dwarf_tag(&scopes[i]) != kInlined) continue;
      Dwarf_Attribute attribute;
      Dwarf_Word file = 0;
      Dwarf_Word line = 0;
      if (dw_.dwarf_formudata(dw_.dwarf_attr(&scopes[i], kCallFile, &attribute), &file) != 0 ||
          dw_.dwarf_formudata(dw_.dwarf_attr(&scopes[i], kCallLine, &attribute), &line) != 0)
        break;
      const char* name = dw_.dwarf_filesrc(files, file, nullptr, nullptr);
      if (name == nullptr || is_of_system(name)) continue;
      place.file = name;
      place.line = static_cast<int>(line);
      break;
    }
    std::free(scopes);
  }

  // Compilers give code of their own, such as calls of the runtime, line 0: that of the statement before it counts.
  void take_line_before(uint64_t address, CodePlace& place) const {
    constexpr uint64_t kFar = 64;
    for (uint64_t back = 1; back < kFar; ++back) {
      const CodePlace before = symbols_->find(address - back);
      if (before.function != place.function) return;
      if (before.line == 0) continue;
      place.file = before.file;
      place.line = before.line;
      return;
    }
  }

  static int take_frame(Dwfl_Frame* frame, void* argument) {
    auto* self = static_cast<DwarfStacks*>(argument);
    Dwarf_Addr counter = 0;
    bool is_activation = false;
    if (!self->dw_.dwfl_frame_pc(frame, &counter, &is_activation) || counter == 0) return DWARF_CB_ABORT;
    Frame found;
    // A return address stands behind its call.
    found.place = self->symbols_->find(is_activation ? counter + 1 : counter);
    // Behind the first frame of a context there is none.
    if (found.place.object.empty()) return DWARF_CB_ABORT;
    if (is_of_system(found.place.file)) self->leave_system_headers(counter - (is_activation ? 0 : 1), found.place);
    if (found.place.line == 0) self->take_line_before(counter, found.place);
    // Written by hand: its lines are those of whatever stands before it.
    if (found.place.function == "_start" || found.place.line == 0) found.place.file.clear();
    Dwfl_Module* module = self->dw_.dwfl_addrmodule(self->dwfl_, counter - 1);
    found.of_weft = module != nullptr && module == self->runtime_;
    self->frames_.push_back(std::move(found));
    return self->frames_.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
  }

  // ---- what libdw asks for: one thread at a time, under a number of its own ----

  static pid_t next_thread(Dwfl* /*unused*/, void* /*unused*/, void** /*unused*/) { return 0; }
  static bool get_thread(Dwfl* /*unused*/, pid_t /*unused*/, void* argument, void** thread) {
    *thread = argument;
    return true;
  }
  static bool read_memory(Dwfl* /*unused*/, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
    return static_cast<DwarfStacks*>(argument)->read_word(address, result);
  }
  static bool set_registers(Dwfl_Thread* thread, void* argument) {
    const auto* self = static_cast<DwarfStacks*>(argument);
    const Registers& registers = *self->registers_;
#if defined(__x86_64__)
    constexpr int kStackPointer = 7, kProgramCounter = 16;
#else
    constexpr int kStackPointer = 31, kProgramCounter = -1;
#endif
    const auto set = [&](int number, uint64_t value) {
      return self->dw_.dwfl_thread_state_registers(thread, number, 1, &value);
    };
    for (const auto& [number, value] : registers.others) {
      if (!set(number, value)) return false;
    }
    if (!set(kStackPointer, registers.stack_pointer)) return false;
    if (kProgramCounter >= 0) return set(kProgramCounter, registers.program_counter);
    self->dw_.dwfl_thread_state_register_pc(thread, registers.program_counter);
    return true;
  }
  static constexpr Dwfl_Thread_Callbacks kThreads{.next_thread = next_thread,
                                                  .get_thread = get_thread,
                                                  .memory_read = read_memory,
                                                  .set_initial_registers = set_registers,
                                                  .detach = nullptr,
                                                  .thread_detach = nullptr};

  bool read_word(uint64_t address, Dwarf_Word* word) {
    std::array<char, sizeof *word> bytes{};
    for (size_t i = 0; i < bytes.size(); ++i) {
      const std::vector<char>& page = page_at((address + i) / kPage);
      const size_t offset = (address + i) % kPage;
      if (offset >= page.size()) return false;
      bytes[i] = page[offset];
    }
    std::memcpy(word, bytes.data(), sizeof *word);
    return true;
  }

  const std::vector<char>& page_at(uint64_t number) {
    const auto found = pages_.find(number);
    if (found != pages_.end()) return found->second;
    return pages_.emplace(number, process_.read_some(number * kPage, kPage)).first->second;
  }

  const DwarfFunctions& dw_;
  Inspector& process_;
  std::unique_ptr<Symbols> symbols_;
  const Dwfl_Callbacks callbacks_;
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* runtime_ = nullptr;
  bool attached_ = false;
  pid_t serial_ = 0;
  const Registers* registers_ = nullptr;
  std::vector<Frame> frames_;
  std::map<uint64_t, std::vector<char>> pages_;
};

}  // namespace

std::unique_ptr<Stacks> read_stacks(Inspector& process) {
  const DwarfFunctions* library = libdw();
  return library != nullptr ? std::make_unique<DwarfStacks>(*library, process) : nullptr;
}

}  // namespace weft::tools::threads
