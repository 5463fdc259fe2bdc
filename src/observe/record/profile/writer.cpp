// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/writer.h"

#include <string>

#include "observe/account/construct_tree.h"
#include "observe/format/files.h"
#include "observe/format/json.h"
#include "observe/record/process/process.h"
#include "observe/record/profile/counts.h"
#include "observe/record/profile/messages.h"
#include "platform/cycles.h"

namespace weft::observe {

namespace {

void write_nodes(Json& json, Recording& recording) {
  const uint32_t count = g_nodes.count();
  const std::vector<Sum> all = recording.scaled_sums(count);
  Ledger& ledger = recording.sampler().ledger();
  json.key("nodes");
  json.open('[');
  for (uint32_t id = 0; id < count; ++id) {
    const ConstructNode& node = g_nodes[id];
    const Sum& sum = all[id];
    const Account& account = ledger.at(id);
    json.open('{');
    json.field("parent", static_cast<uint64_t>(node.parent));
    json.field("kind", std::string(word_of(node.kind)));
    json.field("caller", static_cast<uint64_t>(reinterpret_cast<uintptr_t>(node.caller)));
    json.field("level", static_cast<int>(node.level));
    json.field("members", node.members.load(std::memory_order_relaxed));
    json.field("requested", node.requested.load(std::memory_order_relaxed));
    json.field("schedule", std::string(word_of(node.schedule.load(std::memory_order_relaxed))));
    const char* callee = node.callee.load(std::memory_order_relaxed);
    json.field("callee", std::string(callee != nullptr ? callee : ""));
    json.field("count", sum.count);
    json.field("iterations", sum.iterations);
    json.field("pieces", sum.pieces);
    json.field("stolen", sum.stolen);
    json.field("timed", sum.timed);
    json.field("timed_ns", mean_ns(sum) * static_cast<double>(sum.timed));
    json.key("lengths");
    json.open('[');
    for (const uint64_t length : sum.lengths) json.value(length);
    json.close(']');
    json.field("useful", account.useful);
    json.field("wall", account.wall);
    json.key("lost");
    json.open('{');
    for (int i = 0; i < kLosses; ++i) json.field(kLossWords[i], account.lost[static_cast<size_t>(i)]);
    json.close('}');
    json.close('}');
  }
  json.close(']');
}

void write_timeline(Json& json, const Sampler& sampler) {
  const std::vector<Timeline::Row>& rows = sampler.timeline().rows();
  json.key("timeline");
  json.open('[');
  // Row by row: when, and what each CPU does from then on, as a node and Doing's number in turn.
  for (const Timeline::Row& row : rows) {
    json.open('[');
    json.value(static_cast<uint64_t>(row.time));
    for (const uint32_t cell : row.cpus) {
      json.value(static_cast<uint64_t>(Timeline::node_of(cell)));
      json.value(static_cast<int>(Timeline::doing_of(cell)));
    }
    json.close(']');
  }
  json.close(']');
}

void write_messages(Json& json, const Recording& recording) {
  json.key("messages");
  json.open('[');
  for (const Messages& row : recording.new_messages()) {
    json.open('{');
    json.field("call", std::string(row.call));
    json.field("peer", row.peer == base::TracedCall::kNone ? -1 : row.peer);
    json.field("count", row.count);
    json.field("waited", static_cast<double>(row.waited));
    json.close('}');
  }
  json.close(']');
}

}  // namespace

bool write(std::FILE* file, Recording& recording, const char* title) {
  Sampler& sampler = recording.sampler();
  const double now = static_cast<double>(platform::clock_ns(CLOCK_REALTIME)) / 1e9;
  const PlainNumbers plain;
  Json json(file);
  json.open('{');
  json.field("format", std::string(kProfileFormat));
  json.field("part", title != nullptr ? 1 : 0);
  json.field("nanoseconds", static_cast<double>(sampler.last() - sampler.began()));
  json.field("snapshots", sampler.snapshots());
  json.field("unseen", sampler.unseen());
  json.field("lost_nodes", recording.lost_nodes());
  json.field("rank", ranks().rank);
  json.field("ranks", ranks().ranks);
  write_process(json, {.version = "weft " WEFT_VERSION,
                       .title = title,
                       .unix_began = now - static_cast<double>(platform::now_ns() - sampler.began()) / 1e9,
                       .cpus = sampler.cpus(),
                       .others_cpu = sampler.used_by_others(),
                       .memory = sampler.memory(),
                       .threads = sampler.threads(),
                       .carriers = sampler.carriers(),
                       .roots = sampler.roots()});
  write_nodes(json, recording);
  write_timeline(json, sampler);
  write_messages(json, recording);
  json.close('}');
  std::fputc('\n', file);
  return std::ferror(file) == 0;
}

}  // namespace weft::observe
