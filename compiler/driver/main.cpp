// SPDX-License-Identifier: Apache-2.0
// weftcc, weftc++ and weftfort: a compiler's command line with weft in it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <unistd.h>

#include "base/message.h"
#include "command_line.h"
#include "compiler.h"
#include "configuration.h"
#include "defaults_object.h"
#include "flags.h"
#include "library.h"
#include "options.h"
#include "process.h"
#include "refusal.h"
#include "report.h"
#include "show.h"
#include "toolchain.h"

namespace weft::driver {

namespace {

Compiler wanted_compiler(const Options& options, const Configuration& configuration, Language language) {
  if (!options.compiler.empty()) return find_compiler(options.compiler, "--weft-cc", language);
  return find_compiler(configuration.compiler, configuration.compiler_from, language);
}

int print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) != EOF && std::fflush(stdout) == 0) return 0;
  base::warn("standard output cannot be written");
  return EXIT_FAILURE;
}

// What the user would otherwise be left to find out.
void warn_about(const CommandLine& line, const Options& options, const Toolchain& toolchain) {
  const bool llvm = toolchain.family == Family::clang || toolchain.family == Family::flang;
  if (!line.foreign.empty()) {
    base::warn("%s: this weft is for another machine; it is left out", line.foreign.c_str());
    return;
  }
  if (line.goal == Goal::preprocess) return;
  if (llvm && line.openmp_runtime == "libgomp" && !line.sources.empty()) {
    base::warn("-fopenmp=libgomp: LLVM's compilers ignore OpenMP's directives then; say -fopenmp");
  }
  if (compiles(line) && toolchain.pass.empty() && toolchain.lowering != Lowering::none &&
      (llvm || options.lowering.has_value())) {
    base::warn("loops are not lowered: %s; --weft-lower=none says that this is meant", toolchain.not_lowered.c_str());
  }
  if (options.keep && compiles(line) && toolchain.pass.empty()) {
    base::warn("--weft-keep: there is nothing to keep, since nothing is lowered");
  }
  if (line.thread_sanitizer && links(line) && instrumented_libraries(toolchain).empty()) {
    base::warn("-fsanitize=thread: races will be told that are none: there is no %s/tsan; `make install-tsan` makes it",
               toolchain.libraries.c_str());
  }
  if (line.static_runtime && line.goal == Goal::link && line.inputs) {
    base::warn("weft is a shared library: a static program runs on the compiler's own OpenMP runtime");
  } else if (!options.defaults.empty() && line.shared && line.goal == Goal::link) {
    base::warn("%s: defaults belong to programs, so that this library gets none", options.defaults.front().c_str());
  }
}

// OUTPUT of the files that --weft-keep leaves.
std::string kept_prefix(const CommandLine& line) {
  if (line.sources.size() > 1) throw Refusal{kUsage, "--weft-keep: one source file a command, please"};
  std::string name = line.output;
  if (name.empty() || name == "-" || name == "/dev/null") {
    name = line.sources.front().substr(line.sources.front().rfind('/') + 1);
  }
  const size_t dot = name.rfind('.');
  const size_t folder = name.rfind('/');
  return dot != std::string::npos && dot > 0 && (folder == std::string::npos || dot > folder + 1) ? name.substr(0, dot)
                                                                                                  : name;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

int compile(const CommandLine& line, const Options& options, const Toolchain& toolchain) {
  warn_about(line, options, toolchain);
  std::optional<Report> report;
  if (compiles(line)) {
    if (options.report) report.emplace(*options.report);
    if (!toolchain.pass.empty()) {
      setenv("WEFTCC_LOWER", name_of(toolchain.lowering), 1);
      if (report) setenv("WEFTCC_REPORT", report->lines().c_str(), 1);
      if (options.keep) setenv("WEFTCC_KEEP", kept_prefix(line).c_str(), 1);
    }
  }
  std::optional<TemporaryFile> defaults;
  if (!options.defaults.empty() && links(line) && !line.shared) {
    defaults.emplace(".o");
    defaults->write(defaults_object(options.defaults));
  }
  const Words command = command_for(line, toolchain, defaults ? defaults->path() : std::string());
  if (!report && !defaults) become(toolchain.compiler.path, command);
  const int exit_code = run(toolchain.compiler.path, command);
  if (report && exit_code == 0) {
    const bool asked = toolchain.lowering != Lowering::none;
    report->write(joined(line.sources), asked ? toolchain.not_lowered : "--weft-lower=none");
  }
  return exit_code;
}

// The compiler says so, and says it as if weft were not there only if nothing has been added.
bool lacks_a_source(const CommandLine& line) {
  return std::any_of(line.sources.begin(), line.sources.end(),
                     [](const std::string& name) { return name != "-" && access(name.c_str(), F_OK) != 0; });
}

int drive(int count, char** arguments) {
  const Language language = language_of(arguments[0]);
  const Words words(arguments + 1, arguments + count);
  if (words == Words{"--help"}) return print(help(language));
  const CommandLine line = read_command_line(words);
  const Options options = read_options(line.own);
  const Configuration configuration = read_configuration(tools::own_path().parent_path(), language);
  Compiler compiler = wanted_compiler(options, configuration, language);
  if (!options.show && (!line.openmp || !line.inputs || lacks_a_source(line))) {
    Words command = compiler.words;
    command.insert(command.end(), line.compiler.begin(), line.compiler.end());
    become(compiler.path, command);
  }
  const Toolchain toolchain = assemble_toolchain(language, std::move(compiler), options, configuration);
  if (options.show) return print(shown(*options.show, line, toolchain) + "\n");
  return compile(line, options, toolchain);
}

}  // namespace

}  // namespace weft::driver

int main(int count, char** arguments) {
  try {
    return weft::driver::drive(count, arguments);
  } catch (const weft::driver::Refusal& refusal) {
    weft::base::warn("%s", refusal.message.c_str());
    return refusal.exit_code;
  }
}
