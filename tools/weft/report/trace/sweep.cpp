// SPDX-License-Identifier: Apache-2.0
#include "report/trace/sweep.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "observe/account/blame.h"
#include "observe/format/files.h"
#include "report/trace/sites.h"

namespace weft::tools::report {

namespace {

using Json = nlohmann::json;
using observe::ConstructId;
using observe::Shown;

// A figure of the run, which a file from anywhere may lack.
double figure(const Json& run, const char* name, double least, double most) {
  const auto found = run.find(name);
  const double value = found != run.end() && found->is_number() ? found->get<double>() : least - 1;
  if (!(value >= least && value <= most)) {
    throw std::runtime_error(std::string("the trace is damaged: \"") + name + "\" of its run is no figure that can be");
  }
  return value;
}

class Sweep {
 public:
  Sweep(const Trace& trace, const Contexts& contexts, const InRuntime& in_runtime)
      : trace_(trace),
        contexts_(contexts),
        cpus_(static_cast<int>(figure(trace.run, "cpus", 1, 1 << 16))),
        before_(figure(trace.run, "nanoseconds_before", 0, 1e18)),
        nodes_(std::make_unique<observe::ConstructTree>()),
        sites_(trace, contexts, in_runtime, *nodes_),
        blame_(*nodes_, ledger_, cpus_),
        timeline_(cpus_) {
    end_ = static_cast<int64_t>(figure(trace.run, "nanoseconds", 0, 1e18));
    if (!contexts.changes.empty()) end_ = std::max(end_, contexts.changes.back().time);
    step_ = std::max<int64_t>(1, end_ / kTicks);
  }

  void run() {
    const double worked = std::min(before_, figure(trace_.run, "cpu_before", 0, 1e18));
    const ConstructId start = nodes_->child(0, observe::Kind::serial, nullptr);
    blame_.take_start(start, before_, worked);
    where_.assign(static_cast<size_t>(contexts_.count), -1);
    for (const Change& change : contexts_.changes) {
      pass_until(change.time);
      apply(change);
    }
    pass_until(end_);
    settle();
  }

  Json profile() {
    Json made = trace_.run;
    made["format"] = observe::kProfileFormat;
    made["nanoseconds"] = before_ + static_cast<double>(end_);
    made["part"] = 0;
    made["unseen"] = 0;
    made["snapshots"] = 0;
    made["blocked_part"] = blocked_part_;
    made["lost_nodes"] = nodes_->lost();
    made["rank"] = trace_.rank;
    made["ranks"] = trace_.ranks;
    made["nodes"] = nodes_json();
    made["timeline"] = timeline_json();
    made["messages"] = messages_json();
    return made;
  }

 private:
  static constexpr int64_t kTicks = 2000;  // of the timeline

  // Everything was as it is until then.
  void pass_until(int64_t time) {
    while (next_tick_ < time) {
      pass(next_tick_);
      timeline_.take(seen_, static_cast<int64_t>(before_) + next_tick_);
      next_tick_ += step_;
    }
    pass(time);
  }

  void pass(int64_t time) {
    if (time > now_) blame_.take(seen_, static_cast<double>(time - now_));
    now_ = std::max(now_, time);
  }

  // What seemed to be work, and was more than the CPU time that the process has had: its threads have had no CPU.
  // Where, a trace does not say, so that all work is taken to have had its part of it.
  void settle() {
    double seemed = 0;
    for (ConstructId id = 0; id < nodes_->count(); ++id) seemed += ledger_.at(id).useful;
    const double had = figure(trace_.run, "cpu", 0, 1e18);
    // Clocks of CPU time go by ticks on some machines.
    constexpr double kSure = 0.98;
    if (had >= kSure * seemed) return;
    const double part = had / seemed;
    for (ConstructId id = 0; id < nodes_->count(); ++id) {
      observe::Account& account = ledger_.at(id);
      ledger_.lose(id, observe::Loss::blocked, (1 - part) * account.useful);
      account.useful *= part;
    }
    blocked_part_ = 1 - part;
  }

  void apply(const Change& change) {
    int32_t& where = where_[static_cast<size_t>(change.context)];
    if (change.state == observe::State::out) {
      if (where < 0) return;
      // The last one takes its place.
      seen_[static_cast<size_t>(where)] = seen_.back();
      owners_[static_cast<size_t>(where)] = owners_.back();
      where_[static_cast<size_t>(owners_.back())] = where;
      seen_.pop_back();
      owners_.pop_back();
      where = -1;
      return;
    }
    if (where < 0) {
      where = static_cast<int32_t>(seen_.size());
      seen_.emplace_back();
      owners_.push_back(change.context);
    }
    Shown& shown = seen_[static_cast<size_t>(where)];
    shown.node = sites_.of(change.frame);
    shown.state = change.state;
    shown.primary = change.is_primary;
    shown.root = change.is_root;
    shown.left = change.left;
    shown.carrier = change.carrier;
  }

  Json nodes_json() {
    Json rows = Json::array();
    for (ConstructId id = 0; id < nodes_->count(); ++id) {
      const observe::ConstructNode& node = (*nodes_)[id];
      const NodeCounts& counts = sites_.counts(id);
      const observe::Account& account = ledger_.at(id);
      Json lost = Json::object();
      for (int i = 0; i < observe::kLosses; ++i) {
        lost[observe::kLossWords[i]] = account.lost[static_cast<size_t>(i)];
      }
      rows.push_back({{"parent", node.parent},
                      {"kind", observe::word_of(node.kind)},
                      {"caller", reinterpret_cast<uintptr_t>(node.caller)},
                      {"level", node.level},
                      {"members", node.members.load(std::memory_order_relaxed)},
                      {"requested", node.requested.load(std::memory_order_relaxed)},
                      {"callee", ""},
                      {"schedule", observe::word_of(node.schedule.load(std::memory_order_relaxed))},
                      {"count", counts.count},
                      {"iterations", counts.iterations},
                      {"pieces", 0},
                      {"stolen", counts.stolen},
                      {"timed", counts.timed},
                      {"timed_ns", counts.timed_ns},
                      {"lengths", counts.lengths},
                      {"useful", account.useful},
                      {"wall", account.wall},
                      {"lost", lost}});
    }
    return rows;
  }

  Json timeline_json() const {
    Json rows = Json::array();
    for (const observe::Timeline::Row& row : timeline_.rows()) {
      Json made = Json::array({row.time});
      for (const uint32_t cell : row.cpus) {
        made.push_back(observe::Timeline::node_of(cell));
        made.push_back(static_cast<int>(observe::Timeline::doing_of(cell)));
      }
      rows.push_back(std::move(made));
    }
    return rows;
  }

  // By call and peer.
  Json messages_json() const {
    struct Sum {
      uint64_t count = 0;
      int64_t waited = 0;
    };
    std::map<std::pair<uint32_t, int32_t>, Sum> sums;
    for (const Call& call : trace_.calls) {
      Sum& sum = sums[{call.name, call.peer}];
      ++sum.count;
      sum.waited += call.end - call.begin;
    }
    Json rows = Json::array();
    for (const auto& [key, sum] : sums) {
      rows.push_back({{"call", trace_.call_names[key.first]},
                      {"peer", key.second},
                      {"count", sum.count},
                      {"waited", static_cast<double>(sum.waited)}});
    }
    return rows;
  }

  const Trace& trace_;
  const Contexts& contexts_;
  const int cpus_;
  const double before_;  // from the start of the process to that of the trace
  int64_t end_ = 0;
  int64_t step_ = 1;
  std::unique_ptr<observe::ConstructTree> nodes_;
  NodesOfTrace sites_;
  observe::Ledger ledger_;
  observe::Blame blame_;
  observe::Timeline timeline_;
  std::vector<Shown> seen_;
  std::vector<int32_t> owners_;  // of what is seen
  std::vector<int32_t> where_;   // by context: its place in what is seen; -1: none
  double blocked_part_ = 0;  // of what seemed to be work
  int64_t now_ = 0;
  int64_t next_tick_ = 0;
};

}  // namespace

Json profile_of(const Trace& trace, const Contexts& contexts, const InRuntime& in_runtime) {
  Sweep sweep(trace, contexts, in_runtime);
  sweep.run();
  return sweep.profile();
}

}  // namespace weft::tools::report
