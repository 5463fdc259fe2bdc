// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/message.h"
#include "options.h"
#include "platform/file_name.h"
#include "refusal.h"

namespace weft::driver {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& line, const char* key) {
  const auto at = line.find(key);
  if (at == line.end()) return {};
  return at->is_string() ? at->get<std::string>() : at->dump();
}

// How many constructs have become what.
class Counts {
 public:
  void add(const std::string& lowering) {
    ++all_;
    for (const Lowering known : kKinds) {
      if (lowering == name_of(known)) ++counts_[static_cast<size_t>(known)];
    }
  }
  bool empty() const { return all_ == 0; }
  std::string text() const {
    std::string text = std::to_string(all_) + (all_ == 1 ? " construct" : " constructs");
    const char* separator = ": ";
    for (const Lowering kind : kKinds) {
      const int count = counts_[static_cast<size_t>(kind)];
      if (count == 0) continue;
      text += separator + std::to_string(count) + " " + name_of(kind);
      separator = ", ";
    }
    return text;
  }

 private:
  static constexpr Lowering kKinds[] = {Lowering::range, Lowering::hint, Lowering::none};
  int all_ = 0;
  std::array<int, 3> counts_{};
};

// By one call, so that the reports of several compilers do not mix.
void write_all(int file, const std::string& text) {
  if (write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size())) return;
  base::warn("--weft-report: %s", std::strerror(errno));
}

}  // namespace

Report::Report(const std::string& wanted)
    : lines_(".jsonl"),
      in_file_(!wanted.empty()),
      as_json_(wanted.ends_with(".json") || wanted.ends_with(".jsonl")),
      file_(wanted.empty() ? dup(STDERR_FILENO)
                           : open(wanted.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw Refusal{kUsage, "--weft-report=" + wanted + ": " + platform::why_not_written(wanted, errno)};
}

Report::~Report() { close(file_); }

void Report::write(const std::string& what, const std::string& not_lowered) const {
  std::ifstream lines(lines_.path());
  Counts counts;
  std::string details;
  std::string json;
  for (std::string line; std::getline(lines, line);) {
    const Json parsed = Json::parse(line, nullptr, false);
    if (!parsed.is_object()) continue;
    const std::string lowering = text_of(parsed, "lowering");
    const std::string reason = text_of(parsed, "reason");
    counts.add(lowering);
    details += text_of(parsed, "file") + ":" + text_of(parsed, "line") + ": " + text_of(parsed, "construct") + ": " +
               lowering + (reason.empty() ? "" : ": " + reason) + "\n";
    json += line + "\n";
  }
  // Reports of many commands come together in a file.
  if (in_file_ && counts.empty() && not_lowered.empty()) return;
  const std::string summary = not_lowered.empty() ? counts.text() : "nothing is lowered: " + not_lowered;
  write_all(file_, as_json_ ? json : "weft: " + what + ": " + summary + "\n" + details);
}

}  // namespace weft::driver
