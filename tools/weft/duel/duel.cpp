// SPDX-License-Identifier: Apache-2.0
#include "duel/duel.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include <fcntl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/message.h"
#include "child.h"
#include "duel/ratios.h"
#include "exit_codes.h"
#include "program.h"
#include "report_file.h"

namespace weft::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLeastRounds = 8;
constexpr size_t kMostRounds = 1000;
// Neither is faster by more than this: then it is clear, too.
constexpr double kSame = 0.01;

// The standard output of the programs is nobody's while this lives.
class Silence {
 public:
  Silence() : kept_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept_ < 0 || nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
  }
  ~Silence() {
    if (kept_ < 0) return;
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  const int kept_;
};

std::string words_of(const std::vector<std::string>& command) {
  std::string all;
  for (const std::string& word : command) all += (all.empty() ? "" : " ") + word;
  return all;
}

struct Side {
  std::vector<std::string> command;
  Program program{};
  std::vector<double> seconds;
};

// The ratios of the second side's times to the first one's, round by round.
std::vector<double> ratios(const std::vector<Side>& sides) {
  std::vector<double> all;
  for (size_t i = 0; i < sides[1].seconds.size(); ++i) all.push_back(sides[1].seconds[i] / sides[0].seconds[i]);
  return all;
}

bool is_clear(const std::optional<Interval>& interval) {
  if (!interval) return false;
  const bool differ = interval->high < 1 || interval->low > 1;
  return differ || (interval->low > 1 - kSame && interval->high < 1 + kSame);
}

// 0, or the code of a run that failed.
int run_once(Side& side) {
  const Silence silence;
  const Ending ending = run_child("compare", side.program.path, side.command, [] {}, std::chrono::milliseconds(20));
  if (ending.exit_code != 0) {
    base::warn("compare: %s has ended with code %d: nothing is compared", words_of(side.command).c_str(),
               ending.exit_code);
  }
  side.seconds.push_back(ending.seconds);
  return ending.exit_code;
}

std::string conclusion(double ratio, const std::optional<Interval>& interval) {
  char text[256];
  if (!interval) {
    std::snprintf(text, sizeof text,
                  "B takes %.3f of A's time in the median: too few runs to say more; --time-limit gives more\n", ratio);
    return text;
  }
  const char* verdict = interval->high < 1   ? "B is faster"
                        : interval->low > 1  ? "A is faster"
                        : is_clear(interval) ? "they differ by less than 1 %"
                                             : "it is not clear which is faster; --time-limit gives more";
  std::snprintf(text, sizeof text, "B takes %.3f of A's time (%.3f to %.3f with 99 %% confidence): %s\n", ratio,
                interval->low, interval->high, verdict);
  return text;
}

std::string as_text(const std::vector<Side>& sides, double ratio, const std::optional<Interval>& interval) {
  std::string text;
  for (size_t i = 0; i < sides.size(); ++i) {
    const auto [least, most] = std::minmax_element(sides[i].seconds.begin(), sides[i].seconds.end());
    char line[160];
    std::snprintf(line, sizeof line, "%c  %8.3f s  (median of %zu runs in turn, %.3f to %.3f)  ",
                  static_cast<char>('A' + i), median_of(sides[i].seconds), sides[i].seconds.size(), *least, *most);
    text += line + words_of(sides[i].command) + '\n';
  }
  return text + conclusion(ratio, interval);
}

std::string as_json(const std::vector<Side>& sides, double ratio, const std::optional<Interval>& interval) {
  nlohmann::ordered_json all{{"programs", nlohmann::ordered_json::array()}};
  for (const Side& side : sides)
    all["programs"].push_back(
        {{"command", side.command}, {"median", median_of(side.seconds)}, {"seconds", side.seconds}});
  all["ratio"] = ratio;
  if (interval) all["interval"] = {interval->low, interval->high};
  all["clear"] = is_clear(interval);
  return all.dump(2) + '\n';
}

}  // namespace

std::vector<std::vector<std::string>> commands_of_duel(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> commands(1);
  for (const std::string& word : words) {
    if (word == "--") {
      commands.emplace_back();
    } else {
      commands.back().push_back(word);
    }
  }
  const bool complete = commands.size() == 2 && !commands[0].empty() && !commands[1].empty();
  return complete ? commands : std::vector<std::vector<std::string>>{};
}

int duel(const DuelOptions& options, const std::vector<std::vector<std::string>>& commands) {
  ReportFile json("compare", "--json", options.json);
  if (!json.good()) return kFailed;
  std::vector<Side> sides;
  for (const std::vector<std::string>& command : commands) {
    sides.push_back({command, examine_program(command.front()), {}});
    const Program& program = sides.back().program;
    if (program.path.empty()) {
      base::warn("%s", program.complaint.c_str());
      return program.exit_code;
    }
  }
  // The first run of each fetches its files from disk.
  for (Side& side : sides) {
    if (const int code = run_once(side); code != 0) return code;
    side.seconds.clear();
  }
  const Clock::time_point began = Clock::now();
  std::optional<Interval> interval;
  for (size_t round = 0; round < kMostRounds; ++round) {
    const double passed = std::chrono::duration<double>(Clock::now() - began).count();
    if (round > 0 && passed > options.seconds) break;
    // Each begins as often as the other: what a round leaves behind is both's.
    for (size_t i = 0; i < sides.size(); ++i) {
      if (const int code = run_once(sides[(i + round) % sides.size()]); code != 0) return code;
    }
    interval = interval_of_median(ratios(sides));
    if (round + 1 >= kLeastRounds && is_clear(interval)) break;
  }
  const double ratio = median_of(ratios(sides));
  if (!options.json.empty() && !json.write(as_json(sides, ratio, interval))) return kFailed;
  if (options.json != "-") std::fputs(as_text(sides, ratio, interval).c_str(), stdout);
  return 0;
}

}  // namespace weft::tools
