// SPDX-License-Identifier: Apache-2.0
#include "top/program_tree.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

namespace weft::tools {

namespace {

constexpr int kMostAncestors = 64;

// What a column without a number counts.
constexpr double kNothing = -1;

// The largest number first, the first name first; where rows are alike the smallest PID.
bool is_before(const ProgramRow& a, const ProgramRow& b, TableOrder order) {
  const auto number = [order](const ProgramRow& row) -> double {
    switch (order) {
      case TableOrder::cpu: return row.cpus;
      case TableOrder::regions: return row.regions.value_or(kNothing);
      case TableOrder::efficiency: return row.efficiency();
      case TableOrder::work: return row.work.value_or(kNothing);
      case TableOrder::threads: return row.threads;
      case TableOrder::seconds: return row.seconds;
      case TableOrder::name:
      case TableOrder::pid: break;
    }
    return 0;
  };
  if (number(a) != number(b)) return number(a) > number(b);
  if (order == TableOrder::name && a.command != b.command) return a.command < b.command;
  return a.pid < b.pid;
}

bool has_text(std::string_view text, std::string_view wanted) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same) != text.end();
}

// A program that starts another one and then waits; and the first process of a system.
bool only_starts(const Ancestor& process) {
  constexpr std::string_view kStarters[] = {"weft",      "timeout",     "time",     "env",     "nice", "ionice",
                                            "taskset",   "numactl",     "setsid",   "stdbuf",  "chrt", "orted",
                                            "prted",     "unshare",     "nohup",    "systemd", "init", "tini",
                                            "dumb-init", "docker-init", "catatonit"};
  constexpr std::string_view kShells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash", "busybox"};
  const auto is_one_of = [&](auto& names) {
    return std::find(std::begin(names), std::end(names), process.name) != std::end(names);
  };
  if (is_one_of(kStarters) || process.name.starts_with("hydra_pmi")) return true;
  // "sh -c COMMAND" of make, Python and others; one that people type at has no such option.
  const size_t space = process.command.find(' ');
  return is_one_of(kShells) && space != std::string::npos && process.command.compare(space, 4, " -c ") == 0;
}

class Tree {
 public:
  explicit Tree(const ProgramRows& rows) : rows_(rows) {
    for (const ProgramRow& row : rows.programs) programs_[row.pid] = &row;
    // Those above that are listed: the nearest one of each process.
    for (const ProgramRow& row : rows.programs) {
      const int above = nearest_above(row.parent, [](const Ancestor& process) { return !only_starts(process); });
      if (rows.ancestors.contains(above)) starters_.insert(above);
    }
  }

  // 0: nobody who is listed.
  int parent_of(int pid) const {
    const auto program = programs_.find(pid);
    const int above = program != programs_.end() ? program->second->parent : rows_.ancestors.at(pid).parent;
    int next = above;
    for (int i = 0; i < kMostAncestors && next > 0; ++i) {
      if (programs_.contains(next) || starters_.contains(next)) return next;
      const auto ancestor = rows_.ancestors.find(next);
      next = ancestor != rows_.ancestors.end() ? ancestor->second.parent : 0;
    }
    return 0;
  }

  // `order`: programs, the first first. Their branches are in the order of what is first in them.
  std::vector<ListedProcess> list(const std::vector<const ProgramRow*>& order) {
    for (const ProgramRow* row : order) place(row->pid);
    for (const int root : roots_) add(root, 0, 0, "", true);
    return std::move(listed_);
  }

 private:
  template <class Wanted>
  int nearest_above(int pid, Wanted&& wanted) const {
    for (int i = 0; i < kMostAncestors && pid > 0; ++i) {
      if (programs_.contains(pid)) return pid;
      const auto ancestor = rows_.ancestors.find(pid);
      if (ancestor == rows_.ancestors.end()) return 0;
      if (wanted(ancestor->second)) return pid;
      pid = ancestor->second.parent;
    }
    return 0;
  }

  // Below its parent, which is placed first. What /proc says of several moments may go in a circle: that is cut.
  void place(int pid) {
    if (!placed_.insert(pid).second) return;
    const int parent = parent_of(pid);
    const bool is_cut = placed_.contains(parent) && !in_tree_.contains(parent);
    if (parent != 0 && !is_cut) place(parent);
    (parent != 0 && !is_cut ? children_[parent] : roots_).push_back(pid);
    in_tree_.insert(pid);
  }

  void add(int pid, int parent, int depth, const std::string& before, bool is_last) {
    if (depth > kMostAncestors) return;
    ListedProcess line;
    line.pid = pid;
    line.parent = parent;
    line.depth = depth;
    if (depth > 0) line.branch = before + (is_last ? "`- " : "|- ");
    const auto program = programs_.find(pid);
    if (program != programs_.end()) {
      line.program = program->second;
      line.start = line.program->start;
    } else {
      line.ancestor = &rows_.ancestors.at(pid);
      line.start = line.ancestor->start;
    }
    listed_.push_back(std::move(line));
    const std::vector<int>& children = children_[pid];
    const std::string below = depth > 0 ? before + (is_last ? "   " : "|  ") : before;
    for (size_t i = 0; i < children.size(); ++i) add(children[i], pid, depth + 1, below, i + 1 == children.size());
  }

  const ProgramRows& rows_;
  std::map<int, const ProgramRow*> programs_;
  std::set<int> starters_;
  std::set<int> placed_;   // or being placed
  std::set<int> in_tree_;
  std::vector<int> roots_;
  std::map<int, std::vector<int>> children_;
  std::vector<ListedProcess> listed_;
};

std::vector<const ProgramRow*> in_order(const ProgramRows& rows, TableOrder order, std::string_view filter) {
  std::vector<const ProgramRow*> found;
  for (const ProgramRow& row : rows.programs) {
    if (fits_filter(row, filter)) found.push_back(&row);
  }
  std::sort(found.begin(), found.end(),
            [order](const ProgramRow* a, const ProgramRow* b) { return is_before(*a, *b, order); });
  return found;
}

}  // namespace

bool is_order(char key) { return std::string_view("crewTsnp").find(key) != std::string_view::npos; }

bool fits_filter(const ProgramRow& row, std::string_view filter) {
  return has_text(row.command, filter) || has_text(row.name, filter) || has_text(std::to_string(row.pid), filter);
}

std::vector<ListedProcess> list_of(const ProgramRows& rows, TableOrder order, std::string_view filter) {
  std::vector<ListedProcess> listed;
  for (const ProgramRow* row : in_order(rows, order, filter)) {
    ListedProcess line;
    line.pid = row->pid;
    line.start = row->start;
    line.program = row;
    listed.push_back(std::move(line));
  }
  return listed;
}

std::vector<ListedProcess> tree_of(const ProgramRows& rows, TableOrder order, std::string_view filter) {
  return Tree(rows).list(in_order(rows, order, filter));
}

}  // namespace weft::tools
