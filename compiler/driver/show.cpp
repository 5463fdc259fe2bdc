// SPDX-License-Identifier: Apache-2.0
#include "show.h"

#include "flags.h"

namespace weft::driver {

namespace {

std::string quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./%@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

Words with(Words flags, const Words& appended) {
  // gcc needs it said; for LLVM's compilers it is among the flags.
  if (flags.empty() || flags.front() != "-fopenmp=libomp") flags.insert(flags.begin(), "-fopenmp");
  flags.insert(flags.end(), appended.begin(), appended.end());
  return flags;
}

}  // namespace

std::string quoted(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

std::string shown(const std::string& what, const CommandLine& line, const Toolchain& toolchain) {
  const Words compile = with(compile_flags(toolchain), toolchain.compile_flags);
  const Words link = with(link_flags(toolchain, line.thread_sanitizer), toolchain.link_flags);
  if (what == "compile") return quoted(compile);
  if (what == "link") return quoted(link);
  if (what == "libs") return toolchain.family == Family::gcc ? "gomp" : "omp";
  if (what == "incdirs") return toolchain.headers;
  if (what == "libdirs") return toolchain.libraries;
  if (what == "command") return quoted(toolchain.compiler.words);
  if (what == "version") return std::string(names_of(toolchain.language).command) + " (weft) " WEFT_VERSION;
  if (!line.compiler.empty())
    return quoted(line.openmp ? command_for(line, toolchain, {}) : [&] {
      Words command = toolchain.compiler.words;
      command.insert(command.end(), line.compiler.begin(), line.compiler.end());
      return command;
    }());
  // Nothing to compile: what would be added.
  Words command = toolchain.compiler.words;
  command.insert(command.end(), compile.begin(), compile.end());
  command.insert(command.end(), link.begin() + 1, link.end());
  return quoted(command);
}

}  // namespace weft::driver
