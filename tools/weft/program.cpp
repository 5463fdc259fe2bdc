// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "executable.h"
#include "exit_codes.h"
#include "linked_objects.h"
#include "platform/openmp_runtime.h"

namespace weft::tools {

namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#endif

bool is_file(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// The file that execvp would run; one that may not be run counts only when there is no other.
std::string search_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable != nullptr ? variable : "/bin:/usr/bin");
  std::string folder;
  std::string second_best;
  while (std::getline(folders, folder, ':')) {
    std::string candidate = folder.empty() ? name : folder + "/" + name;
    if (!is_file(candidate)) continue;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (second_best.empty()) second_best = std::move(candidate);
  }
  return second_best;
}

// Why the dynamic linker would not heed LD_AUDIT and LD_PRELOAD of its caller.
bool is_privileged(const std::string& path, std::string& why) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) {
    why = "is setuid";
  } else if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) {
    why = "is setgid";
  } else if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    why = "has file capabilities";
  }
  return !why.empty();
}

enum class Kind { dynamic, other_libc, statically_linked, other_machine, thirty_two_bit, script, unknown };

struct Contents {
  Kind kind = Kind::unknown;
  std::string interpreter;  // of a script; of a program its dynamic linker
};

Contents look_into(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 256> start{};
  file.read(start.data(), start.size() - 1);
  const auto size = static_cast<size_t>(file.gcount());
  if (size >= 2 && start[0] == '#' && start[1] == '!') {
    std::istringstream line(start.data() + 2);
    Contents script{Kind::script, {}};
    line >> script.interpreter;
    std::string argument;
    // `env` only looks the interpreter up.
    if (script.interpreter.ends_with("/env") && line >> argument && argument != "-S") script.interpreter = argument;
    return script;
  }
  if (size < EI_NIDENT || std::memcmp(start.data(), ELFMAG, SELFMAG) != 0) return {};
  if (start[EI_CLASS] != ELFCLASS64) return {Kind::thirty_two_bit, {}};
  Elf64_Ehdr header{};
  if (size < sizeof header) return {};
  std::memcpy(&header, start.data(), sizeof header);
  if (header.e_machine != kMachine) return {Kind::other_machine, {}};
  const std::string linker = look_into_executable(path).linker;
  if (linker.empty()) return {Kind::statically_linked, {}};
  return {is_linker_of_glibc(linker) ? Kind::dynamic : Kind::other_libc, linker};
}

// Not a library, though it looks like one: it runs a program that stands behind it. That of glibc heeds what its caller
// asks for.
bool is_dynamic_linker(const std::string& path) {
  return is_linker_of_glibc(path) || path.substr(path.rfind('/') + 1).starts_with("ld-");
}

// What keeps weft out of the program at `path`; empty: nothing.
std::string obstacle(const std::string& path, int depth) {
  std::string why;
  if (is_privileged(path, why)) return why + ", so the dynamic linker ignores what its caller asks for";
  const Contents contents = look_into(path);
  switch (contents.kind) {
    case Kind::statically_linked:
      if (is_linker_of_glibc(path)) return {};
      return is_dynamic_linker(path) ? "is not the dynamic linker of glibc, which weft needs" : "is statically linked";
    case Kind::other_libc: return "is started by " + contents.interpreter + ", which is not glibc's, as weft needs it";
    case Kind::thirty_two_bit: return "is a 32-bit program";
    case Kind::other_machine: return "is a program for another kind of machine";
    case Kind::script: {
      const bool is_path = contents.interpreter.find('/') != std::string::npos;
      const std::string interpreter = is_path ? contents.interpreter : search_path(contents.interpreter);
      constexpr int kDeepest = 4;
      if (interpreter.empty() || depth == kDeepest) return {};
      why = obstacle(interpreter, depth + 1);
      return why.empty() ? why : "is a script for " + interpreter + ", which " + why;
    }
    case Kind::dynamic:
    case Kind::unknown: return {};
  }
  return {};
}

}  // namespace

bool is_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 256> start{};
  file.read(start.data(), start.size());
  return std::memchr(start.data(), '\0', static_cast<size_t>(file.gcount())) == nullptr;
}

void run_by_shell(const std::string& path, const std::vector<char*>& program) {
  constexpr char kShell[] = "/bin/sh";
  std::string shell = kShell;
  std::string script = path;
  std::vector<char*> arguments{shell.data(), script.data()};
  arguments.insert(arguments.end(), program.begin() + 1, program.end());
  execv(kShell, arguments.data());
}

Program examine_program(const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos;
  const std::string path = is_path ? name : search_path(name);
  struct stat status{};
  if (path.empty()) return {{}, kNotFound, name + ": no such program in PATH"};
  if (stat(path.c_str(), &status) != 0) {
    return {{}, errno == ENOENT || errno == ENOTDIR ? kNotFound : kCannotExecute, path + ": " + std::strerror(errno)};
  }
  if (S_ISDIR(status.st_mode)) return {{}, kCannotExecute, path + ": is a directory"};
  if (look_into_executable(path).is_library && !is_dynamic_linker(path)) {
    return {{}, kCannotExecute, path + ": is a library; it runs on weft in each program that weft runs"};
  }
  if (access(path.c_str(), X_OK) != 0) {
    return {{}, kCannotExecute, path + ": not executable (chmod +x makes it so)"};
  }
  const std::string why = obstacle(path, 0);
  if (!why.empty()) return {path, 0, path + " " + why + ": it runs without weft", {}, false};
  const Contents contents = look_into(path);
  return {path, 0, {}, contents.kind == Kind::script ? contents.interpreter : ""};
}

namespace {

// The first version of an OpenMP runtime that the file needs and is not among `versions`; null: there is none.
std::optional<Executable::Version> lacking(const std::string& path, const std::vector<std::string>& versions) {
  for (const Executable::Version& version : look_into_executable(path).needed_versions) {
    if (!platform::has_runtime_name(version.provider.c_str())) continue;
    if (std::find(versions.begin(), versions.end(), version.name) == versions.end()) return version;
  }
  return std::nullopt;
}

}  // namespace

void examine_versions(Program& program, const Libraries& libraries, const std::string& runtime, bool preloads) {
  const std::vector<std::string> versions = look_into_executable(runtime).versions;
  // A library that has no versions at all is taken by every program.
  if (versions.empty()) return;
  std::vector<std::string> files{program.path};
  if (preloads) {
    for (LinkedObject& object : linked_objects(program.path, libraries, With::nothing)) {
      if (!object.file.empty()) files.push_back(std::move(object.file));
    }
  }
  for (const std::string& file : files) {
    const std::optional<Executable::Version> version = lacking(file, versions);
    if (!version) continue;
    program.complaint = file + " needs " + version->name + " of " + version->provider + ", which " + runtime +
                        " does not have: " + (file == program.path ? "it" : program.path) + " runs without weft";
    return;
  }
}

}  // namespace weft::tools
