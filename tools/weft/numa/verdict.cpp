// SPDX-License-Identifier: Apache-2.0
// docs/how-to/numa.md has the table of these thresholds.
#include <algorithm>
#include <cmath>

#include "numa/report.h"

namespace weft::tools::numa {

namespace {

constexpr double kFault = 0.2;         // so much of an array must lie wrong
constexpr double kNearlyAll = 0.9;     // "on one node", "used from one node"
constexpr double kMoved = 0.1;         // so much must have been moved by the kernel
constexpr double kMostlyShared = 0.5;  // so much must be used by all alike
constexpr double kMostlyDecided = 0.5;  // of so much it must be known who uses it
constexpr int kLeastTouches = 16;

int percent(double part) { return static_cast<int>(std::lround(100 * part)); }

std::string node_text(int node) { return "node " + std::to_string(node); }

// The node with the greatest part among those that are not `except`.
int greatest(const Shares& shares, int except = -1) {
  int best = -1;
  double part = 0;
  for (const auto& [node, share] : shares) {
    if (node < 0 || node == except || share <= part) continue;
    best = node;
    part = share;
  }
  return best;
}

double share_of(const Shares& shares, int node) {
  const auto found = shares.find(node);
  return found != shares.end() ? found->second : 0;
}

// Without the pages that nobody has touched.
Shares touched(const Shares& pages) {
  Shares shares;
  double sum = 0;
  for (const auto& [node, share] : pages) sum += node >= 0 ? share : 0;
  for (const auto& [node, share] : pages) {
    if (node >= 0 && sum > 0) shares[node] = share / sum;
  }
  return shares;
}

bool is_interleaved(const ArrayRow& row) {
  constexpr double kMixed = 0.5;
  return row.policy.starts_with("interleave") || row.mixing >= kMixed;
}

// "100 % on node 0" or "61 % on node 0, 39 % on node 1".
std::string lies_text(const Shares& pages) {
  std::string text;
  for (const auto& [node, share] : pages) {
    if (percent(share) > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(percent(share)) + " % on " + node_text(node);
  }
  return text;
}

std::string used_text(const ArrayRow& row, int home) {
  std::string text;
  for (const auto& [node, share] : row.use) {
    if (node == home || percent(share) == 0) continue;
    text += (text.empty() ? "" : " and ") + std::to_string(percent(share)) + " % from " + node_text(node);
  }
  return text.empty() ? "used from several nodes" : "used " + text;
}

// ", touched first from node 0 by one thread".
std::string first_text(const ArrayRow& row) {
  if (row.first_threads == 0) return {};
  const int node = greatest(row.first_touch);
  const bool one_node = share_of(row.first_touch, node) >= kNearlyAll;
  return ", touched first from " + (one_node ? node_text(node) : std::string("several nodes")) + " by " +
         (row.first_threads == 1 ? "one thread" : std::to_string(row.first_threads) + " threads");
}

std::string place_to_change(const ArrayRow& row) {
  return row.first_line.empty() ? "behind " + row.name : "at " + row.first_line;
}

// Who uses it, by the model, where touches were not sampled.
Shares expected_use(const ArrayRow& row) {
  Shares use;
  for (const int node : row.expected) {
    if (node >= 0) use[node] += 1.0 / kStrip;
  }
  return use;
}

void say(ArrayRow& row, Verdict verdict, std::string text) {
  row.verdict = verdict;
  row.text = std::move(text);
}

void judge_misplaced(const Machine& machine, ArrayRow& row, const Shares& pages, double wrong) {
  const int home = greatest(pages);
  const bool on_one = share_of(pages, home) >= kNearlyAll;
  const int user = greatest(row.use);
  const std::string lies = lies_text(pages);
  const std::string bind = machine.floating ? "bind the threads (OMP_PROC_BIND=true), and " : "";
  const bool by_default = row.policy.empty() || row.policy.starts_with("default") || row.policy.starts_with("local");
  if (row.moved >= kMoved) {
    say(row, Verdict::balanced_away,
        lies + ", " + used_text(row, home) + ": the kernel has moved " + std::to_string(percent(row.moved)) +
            " % of it away from its users: bind the threads (OMP_PROC_BIND=true), or run with weft run --numa local");
  } else if (by_default && row.recycled >= kFault) {
    say(row, on_one ? Verdict::wrong_node : Verdict::mismatched,
        lies + ", " + used_text(row, home) +
            ": recycled memory, whose pages lie where those had them who used it before: " + bind +
            "allocate it once and keep it, or place it with weft_numa_split() or weft_numa_interleave() (weft.h)");
  } else if (share_of(row.use, user) >= kNearlyAll && on_one) {
    say(row, Verdict::wrong_node,
        lies + ", used from " + node_text(user) + ": " + bind + "initialise it there (now " + place_to_change(row) +
            "), or run with weft run --numa bind=" + std::to_string(user));
  } else if (on_one && row.first_threads <= 1) {
    say(row, Verdict::serial_init,
        lies + ", " + used_text(row, home) + ": " + bind + "initialise it in parallel " + place_to_change(row) +
            ", or run with weft run --numa interleave");
  } else if (on_one) {
    say(row, Verdict::wrong_node,
        lies + (row.policy.starts_with("default") ? "" : " by its policy (" + row.policy + ")") + ", " +
            used_text(row, home) + ": " + bind +
            "let each thread initialise its part, without that policy, or run with weft run --numa interleave");
  } else {
    say(row, Verdict::mismatched,
        lies + ", " + std::to_string(percent(wrong)) + " % of it elsewhere than its users: " + bind +
            "divide the loop " + place_to_change(row) +
            " as those that use it, or run with weft run --numa interleave");
  }
}

}  // namespace

const char* word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::one_node: return "one_node";
    case Verdict::untouched: return "untouched";
    case Verdict::unknown: return "unknown";
    case Verdict::local: return "local";
    case Verdict::interleaved: return "interleaved";
    case Verdict::shared: return "shared";
    case Verdict::serial_init: return "serial_init";
    case Verdict::wrong_node: return "wrong_node";
    case Verdict::mismatched: return "mismatched";
    case Verdict::balanced_away: return "balanced_away";
  }
  return "unknown";
}

bool is_fault(const ArrayRow& row) {
  const Verdict verdict = row.verdict;
  if (row.modelled) return false;
  return verdict == Verdict::serial_init || verdict == Verdict::wrong_node || verdict == Verdict::mismatched ||
         verdict == Verdict::balanced_away;
}

void judge(const Machine& machine, ArrayRow& row) {
  const Shares pages = touched(row.pages);
  if (machine.memory_nodes <= 1) return say(row, Verdict::one_node, "one node: nothing to place");
  if (!row.pages_known) return say(row, Verdict::unknown, "where it lies is not known");
  if (pages.empty()) return say(row, Verdict::untouched, "nobody has touched it");
  const std::string lies = lies_text(pages);
  if (is_interleaved(row)) return say(row, Verdict::interleaved, lies + ", page by page");
  // Parts may look as if they belonged to somebody by chance: then touches are not remote.
  double wrong = row.remote >= kFault ? row.misplaced : 0;
  const bool seen = row.touches >= kLeastTouches && (row.remote < kFault || row.decided >= kMostlyDecided);
  if (!seen) {
    // What threads have initialised together, or one of them for itself, need not be divided as the model says.
    if (machine.sampled || row.expected_remote < 0 || (!row.serial && row.expected_remote >= kFault)) {
      return say(row, Verdict::unknown,
                 lies + first_text(row) + (machine.floating ? "; threads are not bound to nodes" : "") +
                     (machine.sampled ? "; too few touches were seen" : "; who uses it later was not seen"));
    }
    row.modelled = true;
    row.use = expected_use(row);
    wrong = row.expected_remote;
  }
  if (wrong >= kFault) {
    judge_misplaced(machine, row, pages, wrong);
    if (row.modelled) row.text += " (if loops are divided by schedule(static))";
    return;
  }
  if (seen && row.remote >= kFault && row.shared >= kMostlyShared) {
    return say(row, Verdict::shared, lies + ", each part used by several nodes: no placement makes it local");
  }
  std::string text = lies + (row.modelled ? ", where schedule(static) would use it" : ", where it is used");
  if (row.moved >= kMoved) text += "; the kernel has moved " + std::to_string(percent(row.moved)) + " % of it there";
  say(row, Verdict::local, text);
}

}  // namespace weft::tools::numa
