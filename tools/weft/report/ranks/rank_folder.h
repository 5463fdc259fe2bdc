// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a job meet to make one report: a hidden folder beside the page, named by the page and the job.
// They need nothing but a file system that all of them see (docs/explanation/report.md, "One report of several ranks").
//
// In it are, for each rank N:
//   N.here   from the start of its `weft report` on, which touches it again and again: whether that still runs
//   N.part   what the rank has left, put in place at once when its program has ended
// and `ending`, made by a rank whose program has failed: the launcher is about to end the others, so that they leave
// what they know so far. A rank that finds all parts, or finds that no more will come, renames the folder, which
// one process alone can do; then the parts are that one's.
//
// A job may run several programs one after the other with one page. Each is a run with a folder of its own while those
// before it have not been gathered: a rank that has left its part of one goes on in the next one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job.h"
#include "report/ranks/rank_part.h"

namespace weft::tools {

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
  // `names`: of the report's files, the page first. Warns where the folder cannot be made.
  RankFolder(const std::vector<std::string>& names, Job job);
  // Without its parts a job has no use for it: the last rank that leaves it takes it away.
  ~RankFolder();
  RankFolder(const RankFolder&) = delete;
  RankFolder& operator=(const RankFolder&) = delete;

  bool good() const { return good_; }
  // While the program runs: says that this rank is still here. Whether another one has failed.
  bool look();
  // Late: somebody has gathered the parts already. Warns where it is not all.
  enum class Left { all, not_all, late };
  Left leave(RankPart part);
  // How the program has ended.
  enum class End { good, failed };
  // Behind leave(): waits, not for long, and returns what there is; nothing where another rank makes the report, or
  // where has_failed() says so.
  std::optional<RankParts> gather(End end);
  bool has_failed() const { return has_failed_; }

 private:
  // Of those of whom there is no part: whether one is there, or one has not been seen, or there are none but those that
  // are gone.
  enum class Others { ended, unseen, alive };
  Others look_at_others();
  std::filesystem::path file(int rank, const char* kind) const;
  bool is_mine() const;
  bool is_of_this_job(const std::filesystem::path& file) const;
  int64_t same_start() const;
  void sweep() const;
  bool is_abandoned(const std::filesystem::path& folder) const;
  std::filesystem::path folder_of(int run) const;
  std::set<int> runs_there() const;
  void choose_run();
  void stay();
  void say_failed();
  int rank_that_failed() const;
  bool is_alive(int rank) const;
  bool is_behind(int rank) const;
  bool has_come(int rank);
  std::optional<RankParts> take();
  std::filesystem::path rename_away();
  void say_not_gathered();

  const Job job_;
  const std::filesystem::path place_;  // of its first run
  const std::string machine_;
  int run_ = 1;
  std::filesystem::path path_;
  std::vector<std::filesystem::path> earlier_;  // of runs before this one
  std::vector<char> come_;  // by rank: its part has been seen
  int next_ = 0;  // the first one whose part has not been seen
  int64_t began_ = 0;
  int64_t touched_ = 0;  // by this process's clock
  bool good_ = false;
  bool has_failed_ = false;
};

}  // namespace weft::tools
