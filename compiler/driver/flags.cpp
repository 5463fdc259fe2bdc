// SPDX-License-Identifier: Apache-2.0
#include "flags.h"

#include <algorithm>
#include <filesystem>

namespace weft::driver {

namespace {

bool is_llvm(const Toolchain& toolchain) {
  return toolchain.family == Family::clang || toolchain.family == Family::flang;
}

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

// -Wl, separates by commas, so that a path with one goes another way.
void append_run_path(Words& flags, const std::string& folder) {
  if (folder.find(',') == std::string::npos) {
    flags.push_back("-Wl,-rpath," + folder);
  } else {
    append(flags, {"-Xlinker", "-rpath", "-Xlinker", folder});
  }
}

void append_folder(Words& flags, const std::string& folder) {
  flags.push_back("-L" + folder);
  append_run_path(flags, folder);
}

// The compiler's words, with -fopenmp as it spells it.
Words respelled(const Words& words, const Toolchain& toolchain) {
  Words spelled = words;
  if (toolchain.family == Family::other) return spelled;
  for (std::string& word : spelled) {
    if (const std::string_view usual = usual_spelling(word); !usual.empty()) word = std::string(usual);
  }
  return spelled;
}

}  // namespace

bool compiles(const CommandLine& line) {
  return line.goal != Goal::preprocess && !line.sources.empty() && line.foreign.empty();
}

bool links(const CommandLine& line) {
  return line.goal == Goal::link && line.inputs && !line.static_runtime && line.foreign.empty();
}

Words compile_flags(const Toolchain& toolchain) {
  Words flags;
  // Later ones win, -fno-openmp too.
  if (is_llvm(toolchain)) flags.emplace_back("-fopenmp=libomp");
  if (!toolchain.pass.empty()) flags.push_back("-fpass-plugin=" + toolchain.pass);
  // Whoever asks for remarks has lines in LLVM's code without -g, and no debug information in the object. These remarks
  // are those of no pass.
  if (!toolchain.pass.empty() && toolchain.reports) flags.emplace_back("-Rpass=weftcc-wants-lines");
  if (!toolchain.headers.empty() && toolchain.language != Language::fortran) {
    append(flags, {"-idirafter", toolchain.headers});
  }
  return flags;
}

std::string instrumented_libraries(const Toolchain& toolchain) {
  std::string folder = toolchain.libraries + "/tsan";
  std::error_code error;
  return std::filesystem::exists(folder + "/libgomp.so.1", error) ? folder : std::string();
}

Words link_flags(const Toolchain& toolchain, bool thread_sanitizer) {
  Words flags;
  if (is_llvm(toolchain)) flags.emplace_back("-fopenmp=libomp");
  if (thread_sanitizer) {
    if (const std::string instrumented = instrumented_libraries(toolchain); !instrumented.empty()) {
      append_folder(flags, instrumented);
    }
  }
  append_folder(flags, toolchain.libraries);
  return flags;
}

Words command_for(const CommandLine& line, const Toolchain& toolchain, const std::string& defaults) {
  Words flags;
  Words appended;
  if (compiles(line)) {
    append(flags, compile_flags(toolchain));
    append(appended, toolchain.compile_flags);
  }
  if (links(line)) {
    append(flags, link_flags(toolchain, line.thread_sanitizer));
    append(appended, toolchain.link_flags);
  }
  if (flags.empty() && is_llvm(toolchain)) flags.emplace_back("-fopenmp=libomp");
  if (std::count(flags.begin(), flags.end(), "-fopenmp=libomp") > 1) {
    flags.erase(std::find(flags.begin() + 1, flags.end(), "-fopenmp=libomp"));
  }
  if (!defaults.empty()) flags.push_back(defaults);

  Words command = toolchain.compiler.words;
  append(command, flags);
  append(command, respelled(line.compiler, toolchain));
  command.insert(std::find(command.begin(), command.end(), "--"), appended.begin(), appended.end());
  return command;
}

}  // namespace weft::driver
