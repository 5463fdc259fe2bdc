// SPDX-License-Identifier: Apache-2.0
#include "audit/room.h"

#include <climits>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/program_headers.h"
#include "audit/say.h"
#include "audit/start.h"
#include "platform/loaded_object.h"
#include "platform/static_tls.h"
#include "platform/valgrind.h"

namespace weft::audit {

namespace {

// What the dynamic linker adds for an audit library and its libc, which this one has not.
constexpr unsigned long kForAudit = 144 + 160;

constexpr char kSelf[] = "/proc/self/exe";

bool g_started = false;
bool g_all_count = false;  // the program reaches thread-local data of some library by its place
unsigned long g_needed = 0;

bool reaches_without_call(const ElfW(Dyn) * dynamic) noexcept {
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_FLAGS) return (dynamic->d_un.d_val & DF_STATIC_TLS) != 0;
  }
  return false;
}

// Whether the file is likely to be this very program: the machine's own, with as many headers, and begun at the same
// place of a page.
bool is_this_program(const char* path) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ElfW(Ehdr) header{};
  const auto in_page = [](unsigned long address) { return address % static_cast<unsigned long>(page_size()); };
  const bool is_this = read_at(file, 0, header) &&
                       std::strncmp(reinterpret_cast<const char*>(header.e_ident), ELFMAG, SELFMAG) == 0 &&
                       header.e_phnum == auxiliary(AT_PHNUM) && in_page(header.e_entry) == in_page(auxiliary(AT_ENTRY));
  close(file);
  return is_this;
}

// The bytes of thread-local data of the object in that file, with what its alignment may cost.
unsigned long thread_local_bytes(const char* path) noexcept {
  unsigned long bytes = 0;
  for_each_header(path, [&bytes](const ElfW(Phdr) & segment) {
    if (segment.p_type == PT_TLS) bytes = segment.p_memsz + segment.p_align;
  });
  return bytes;
}

}  // namespace

const char* program_file(char* path, size_t room) noexcept {
  const ssize_t length = readlink(kSelf, path, room - 1);
  if (length <= 0) {
    // Without /proc: what it was executed by, unless that is a script, whose interpreter runs here.
    const auto* executed = reinterpret_cast<const char*>(auxiliary(AT_EXECFN));
    return executed != nullptr && is_this_program(executed) ? executed : nullptr;
  }
  path[length] = '\0';
  // A file that has been removed, or that another one lies over, can still be had by its link.
  struct stat named{};
  struct stat self{};
  const bool same =
      stat(path, &named) == 0 && stat(kSelf, &self) == 0 && named.st_dev == self.st_dev && named.st_ino == self.st_ino;
  return same ? path : kSelf;
}

namespace {

// Comes back when it cannot be done.
void start_again(const char* before, unsigned long bytes) noexcept {
  // A dynamic linker that was called by name, or a tool that runs the process, would be lost.
  if (auxiliary(AT_BASE) == 0 || platform::on_valgrind()) return;
  char path[PATH_MAX];
  const char* program = program_file(path, sizeof path);
  if (program == nullptr) return;

  if (before == nullptr) before = "";
  const size_t kept = platform::without_own_static_tls(before);
  size_t count = 0;
  while (environment()[count] != nullptr) ++count;
  const size_t pointers = (count + 2) * sizeof(char*);
  const size_t size = pointers + sizeof platform::kTunables + kept + platform::kOwnSetting + 2;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  constexpr size_t kName = sizeof platform::kTunables - 1;
  char* setting = static_cast<char*>(memory) + pointers;
  std::memcpy(setting, platform::kTunables, kName);
  setting[kName] = '=';
  platform::with_own_static_tls(before, kept, bytes, setting + kName + 1);
  char** into = static_cast<char**>(memory);
  bool replaced = false;
  for (char** from = environment(); *from != nullptr; ++from) {
    const bool is_setting = std::strncmp(*from, setting, kName + 1) == 0;
    *into++ = is_setting ? setting : *from;
    replaced |= is_setting;
  }
  if (!replaced) *into++ = setting;
  *into = nullptr;
  execve(program, arguments(), static_cast<char**>(memory));
  munmap(memory, size);
}

// The dynamic linker is about to find no room, and would not say what to do.
void tell(unsigned long bytes) noexcept {
  static bool said = false;
  if (said) return;
  said = true;
  char number[kDecimal];
  say(
      {"weft: no room for the thread-local data of this program's libraries, and it cannot be started again with more; "
       "set ",
       platform::kTunables, "=", platform::kStaticTls, "=", decimal(bytes, number), " or use weft run --preload\n"});
}

}  // namespace

void make_room(const link_map* object) noexcept {
  if (g_started) return;
  // The program itself, the first of all, is known when room is set up.
  if (object->l_name[0] == '\0') {
    g_all_count = platform::LoadedObject(object->l_addr, object->l_ld).reaches_others_thread_local();
    return;
  }
  if (!g_all_count && !reaches_without_call(object->l_ld)) return;
  g_needed += thread_local_bytes(object->l_name);
  const char* tunables = std::getenv(platform::kTunables);
  const unsigned long given = platform::static_tls(tunables);
  // As much as without an audit library is left to what is loaded later.
  const unsigned long wanted = g_needed + platform::kUsualStaticTls;
  if (wanted <= given + kForAudit) return;
  // With something for those that are not mapped yet.
  start_again(tunables, wanted + platform::kLinkedStaticTls);
  if (g_needed > given + kForAudit) tell(wanted + platform::kLinkedStaticTls);
}

void end_start() noexcept {
  g_started = true;
  char* tunables = std::getenv(platform::kTunables);
  if (tunables != nullptr) tunables[platform::without_own_static_tls(tunables)] = '\0';
}

}  // namespace weft::audit
