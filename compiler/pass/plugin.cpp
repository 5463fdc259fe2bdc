// SPDX-License-Identifier: Apache-2.0
// The plugin that compilers load (-fpass-plugin). It runs before all other passes: private variables are in memory
// then, and regions look as the front end has written them.
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include "lower.h"
#include "settings.h"

namespace weft::pass {
namespace {

using namespace llvm;

constexpr char kDone[] = "weft.lowered";

void keep(const Module& module, const Settings& settings, const char* suffix) {
  if (settings.keep_prefix.empty()) return;
  const std::string file = settings.keep_prefix + suffix;
  std::error_code error;
  raw_fd_ostream stream(file, error);
  if (error) {
    errs() << "weftcc: " << file << ": " << error.message() << "\n";
    return;
  }
  module.print(stream, nullptr);
}

class LoweringPass : public PassInfoMixin<LoweringPass> {
 public:
  PreservedAnalyses run(Module& module, ModuleAnalysisManager& analyses) {
    // Once: code that is compiled in steps passes here in each of them.
    if (module.getNamedMetadata(kDone) != nullptr) return PreservedAnalyses::all();
    const Settings settings = read_settings();
    keep(module, settings, ".before.ll");
    auto& functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    const bool changed = ModuleLowering(module, functions, settings).run();
    if (changed) module.getOrInsertNamedMetadata(kDone);
    keep(module, settings, ".after.ll");
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

void add_to_pipelines(PassBuilder& builder) {
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager& passes, OptimizationLevel) { passes.addPass(LoweringPass()); });
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager& passes, ArrayRef<PassBuilder::PipelineElement>) {
        if (name != "weft") return false;
        passes.addPass(LoweringPass());
        return true;
      });
}

}  // namespace
}  // namespace weft::pass

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "weft", "1", weft::pass::add_to_pipelines};
}
