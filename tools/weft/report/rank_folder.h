// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a job meet to make one report: a hidden folder beside the page, named by the page and the job.
// They need nothing but a file system that all of them see (docs/explanation/report.md, "One report of several ranks").
//
// In it are, for each rank N:
//   N.here   from the start of its `weft report` on, which touches it again and again: whether that still runs
//   N.part   what the rank has left, put in place at once when its program has ended
// and `ending`, made by a rank whose program has failed: the launcher is about to end the others, so that they leave
// what they know so far. Who finds all parts, or finds that no more will come, renames the folder, which one process
// alone can do; then the parts are that one's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "job.h"

namespace weft::tools {

// What a rank has left.
struct RankPart {
  int rank = 0;
  int exit_code = 0;
  std::string why;  // there is no report; empty: there is one
  bool is_early = false;  // the rank still ran when another one failed
  std::string host;
  int host_cpus = 0;  // that the host has
  int64_t began = 0;  // when it came here, by the clock of the file system
  std::string report;  // its JSON
};

// What there is when the parts are gathered.
struct RankParts {
  std::vector<RankPart> parts;
  std::vector<int> running;  // were here and have left nothing yet
  std::vector<int> gone;  // likewise, and their `weft report` is there no more
  std::vector<int> unseen;
  int failed = -1;  // the rank that has ended it early; -1: none
};

class RankFolder {
 public:
  // Warns where the folder cannot be made.
  RankFolder(const std::filesystem::path& page, Job job);
  // Without its parts a job has no use for it: the last one who leaves it takes it away.
  ~RankFolder();
  RankFolder(const RankFolder&) = delete;
  RankFolder& operator=(const RankFolder&) = delete;

  bool good() const { return good_; }
  // While the program runs: says that this rank is still here. Whether another one has failed.
  bool look();
  // Whether it could be put there; otherwise somebody has gathered the parts already.
  bool leave(RankPart part);
  // How the program has ended: doubtful without having left anything, though MPI's library is in it.
  enum class End { good, doubtful, failed };
  // Behind leave(): waits, not for long, and returns what there is; nothing where another rank makes the report.
  std::optional<RankParts> gather(End end);

 private:
  // Of those of whom there is no part: whether one is there, or one has not been seen, or there are none but those that
  // are gone.
  enum class Others { ended, unseen, alive };
  Others look_at_others();
  std::filesystem::path file(int rank, const char* kind) const;
  bool is_of_this_job(const std::filesystem::path& file) const;
  void sweep() const;
  bool is_abandoned(const std::filesystem::path& folder) const;
  void wait_for_earlier_run();
  void stay();
  void say_failed();
  int rank_that_failed() const;
  bool is_alive(int rank) const;
  bool has_come(int rank);
  std::optional<RankParts> take();

  const Job job_;
  std::filesystem::path path_;
  std::string machine_;
  std::vector<char> come_;  // by rank: its part has been seen
  int next_ = 0;  // the first one whose part has not been seen
  int64_t began_ = 0;
  int64_t touched_ = 0;  // by this process's clock
  bool good_ = false;
};

}  // namespace weft::tools
