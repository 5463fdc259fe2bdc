// SPDX-License-Identifier: Apache-2.0
#include "toolchain.h"

#include <cstdlib>
#include <filesystem>

#include "library.h"
#include "refusal.h"

namespace weft::driver {

namespace fs = std::filesystem;

namespace {

std::string find_runtime(const Configuration& configuration) {
  std::error_code error;
  if (configuration.libraries.empty()) return tools::find_libraries().runtime.parent_path();
  if (fs::exists(fs::path(configuration.libraries) / "libgomp.so.1", error)) return configuration.libraries;
  throw Refusal{kUsage, "weftcc.cfg: libraries = " + configuration.libraries + ": there is no libgomp.so.1 in it"};
}

std::string find_headers() {
  std::error_code error;
  const fs::path folder = tools::own_path().parent_path().parent_path() / "include";
  const bool searched_anyway = folder == "/usr/include" || folder == "/usr/local/include";
  return !searched_anyway && fs::exists(folder / "weft/weft.h", error) ? folder.string() : std::string();
}

// Sets the plugin, or why there is none.
void find_pass(Toolchain& toolchain) {
  const std::string& name = toolchain.compiler.words.front();
  if (toolchain.family != Family::clang && toolchain.family != Family::flang) {
    toolchain.not_lowered = name + " is not a compiler of LLVM, so that weft is only its runtime";
    return;
  }
  const fs::path pass = fs::path(toolchain.libraries) / "libweft-pass.so";
  std::error_code error;
  if (!fs::exists(pass, error)) {
    toolchain.not_lowered = "there is no " + pass.string() + "; build weft with LLVM " WEFT_LLVM_MAJOR;
    return;
  }
  const int major = llvm_major(toolchain.compiler);
  if (major != std::atoi(WEFT_LLVM_MAJOR)) {
    toolchain.not_lowered = name + " is of LLVM " + (major > 0 ? std::to_string(major) : "of unknown release") +
                            ", the pass of LLVM " WEFT_LLVM_MAJOR;
    return;
  }
  toolchain.pass = pass;
}

}  // namespace

Toolchain assemble_toolchain(Language language, Compiler compiler, const Options& options,
                             const Configuration& configuration) {
  Toolchain toolchain;
  toolchain.language = language;
  toolchain.family = family_of(compiler);
  toolchain.compiler = std::move(compiler);
  toolchain.libraries = find_runtime(configuration);
  toolchain.headers = find_headers();
  toolchain.lowering = options.lowering.value_or(configuration.lowering.value_or(Lowering::range));
  if (toolchain.lowering != Lowering::none) find_pass(toolchain);
  toolchain.reports = options.report.has_value();
  toolchain.compile_flags = configuration.compile_flags;
  toolchain.link_flags = configuration.link_flags;
  return toolchain;
}

}  // namespace weft::driver
