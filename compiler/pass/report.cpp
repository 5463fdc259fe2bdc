// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fcntl.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace weft::pass {
namespace {

using namespace llvm;

struct SourcePlace {
  std::string file;
  unsigned line = 0;  // 0: not known
  unsigned column = 0;
  std::string function;
};

SourcePlace place_of(const CallBase& fork) {
  SourcePlace place;
  place.file = fork.getModule()->getSourceFileName();
  const StringRef name = fork.getFunction()->getName();
  place.function = demangle(std::string_view(name.data(), name.size()));
  if (const DebugLoc& location = fork.getDebugLoc()) {
    place.file = location->getFilename().str();
    place.line = location.getLine();
    place.column = location.getCol();
  }
  return place;
}

// One write, so that lines of compilers that run at the same time do not mix.
void append(const std::string& file, const std::string& line) {
  const int handle = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (handle < 0 || write(handle, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    errs() << "weftcc: WEFTCC_REPORT=" << file << ": " << std::strerror(errno) << "\n";
  if (handle >= 0) close(handle);
}

std::string json_line(const SourcePlace& place, const Outcome& outcome) {
  json::Object object{{"file", json::fixUTF8(place.file)},
                      {"line", place.line},
                      {"column", place.column},
                      {"function", json::fixUTF8(place.function)},
                      {"construct", outcome.construct},
                      {"lowering", name_of(outcome.lowering)},
                      {"reason", json::fixUTF8(outcome.reason)}};
  std::string line;
  raw_string_ostream stream(line);
  stream << json::Value(std::move(object)) << "\n";
  return line;
}

void remark(const CallBase& fork, const Outcome& outcome) {
  OptimizationRemarkEmitter emitter(fork.getFunction());
  if (outcome.lowering == Lowering::range) {
    emitter.emit(OptimizationRemark("weft", "Range", &fork) << outcome.construct << " runs in ranges");
    return;
  }
  const char* what = outcome.lowering == Lowering::hint ? " is announced only: " : " is left as it is: ";
  const char* name = outcome.lowering == Lowering::hint ? "Hint" : "None";
  emitter.emit(OptimizationRemarkMissed("weft", name, &fork) << outcome.construct << what << outcome.reason);
}

}  // namespace

void report(const CallBase& fork, const Outcome& outcome, const Settings& settings) {
  remark(fork, outcome);
  if (!settings.report_file.empty()) append(settings.report_file, json_line(place_of(fork), outcome));
}

}  // namespace weft::pass
