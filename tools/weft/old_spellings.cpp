// SPDX-License-Identifier: Apache-2.0
#include "old_spellings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "program.h"

namespace weft::tools {

namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

// Files of `weft compare` beside the one at `at`.
size_t other_files(const std::vector<std::string>& words, size_t at) {
  size_t count = 0;
  for (size_t i = 1; i < words.size(); ++i) count += i != at && !is_option(words[i]) ? 1 : 0;
  return count;
}

// Whether the word at `at`, behind `--json`, is another argument of the command. Nothing may be written over that.
bool is_argument(const std::vector<std::string>& words, size_t at) {
  constexpr size_t kSides = 2;
  if (words[0] == "compare") return other_files(words, at) < kSides;
  return words[0] == "info" && words[at] != "-" && !examine_program(words[at]).path.empty();
}

std::vector<std::string> of_tune(std::vector<std::string> words) {
  constexpr std::string_view kMpi = "--mpi";
  if (words[1] == "report") words[1] = "check";
  for (std::string& word : words) {
    if (word == kMpi || word.starts_with("--mpi=")) word.replace(0, kMpi.size(), "--for");
  }
  return words;
}

bool had_flag(const std::vector<std::string>& words) {
  return words[0] == "compare" || words[0] == "info" || words[0] == "top" ||
         (words[0] == "node" && words[1] == "status");
}

}  // namespace

std::vector<std::string> as_spelled_now(std::vector<std::string> words) {
  if (words.size() < 2) return words;
  if (words[0] == "tune") return of_tune(std::move(words));
  if (!had_flag(words)) return words;
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto flag = std::find(words.begin(), end, "--json");
  if (flag == end) return words;
  const size_t next = static_cast<size_t>(flag - words.begin()) + 1;
  if (next == words.size() || is_option(words[next]) || is_argument(words, next)) *flag = "--json=-";
  return words;
}

}  // namespace weft::tools
