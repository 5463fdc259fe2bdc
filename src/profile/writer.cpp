// SPDX-License-Identifier: Apache-2.0
#include "profile/writer.h"

#include <string>

#include "profile/json.h"
#include "profile/messages.h"
#include "profile/nodes.h"
#include "profile/process.h"
#include "profile/scale.h"
#include "profile/slot.h"

namespace weft::profile {

namespace {

// What a node's counts are over all contexts.
struct Sum {
  uint64_t count = 0;
  uint64_t untold = 0;
  uint64_t iterations = 0;
  uint64_t pieces = 0;
  uint64_t stolen = 0;
  uint64_t timed = 0;
  uint64_t timed_ticks = 0;
  std::array<uint64_t, kLengthClasses> lengths{};
};

// What was counted inside of regions that were told stands for the others too.
void scale(std::vector<Sum>& all) {
  std::vector<double> factors(all.size(), 1);
  for (NodeId id = 1; id < all.size(); ++id) {
    const NodeId parent = g_nodes[id].parent;
    const Sum& around = all[parent];
    factors[id] = factors[parent];
    if (around.untold > 0 && around.untold < around.count) {
      factors[id] *= static_cast<double>(around.count) / static_cast<double>(around.count - around.untold);
    }
    const auto scaled = [factor = factors[id]](uint64_t& number) {
      number = static_cast<uint64_t>(static_cast<double>(number) * factor + 0.5);
    };
    Sum& sum = all[id];
    if (factors[id] == 1) continue;
    for (uint64_t* number : {&sum.count, &sum.untold, &sum.iterations, &sum.pieces, &sum.stolen}) scaled(*number);
  }
}

std::vector<Sum> sums(uint32_t nodes) {
  std::vector<Sum> all(nodes);
  for (const Slot* slot = g_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    slot->visit([&](const Entry& entry) {
      if (entry.node >= nodes) return;
      Sum& sum = all[entry.node];
      sum.count += entry.count.get();
      sum.untold += entry.untold.get();
      sum.iterations += entry.iterations.get();
      sum.pieces += entry.pieces.get();
      sum.stolen += entry.stolen.get();
      sum.timed += entry.timed.get();
      sum.timed_ticks += entry.timed_ticks.get();
      for (size_t i = 0; i < sum.lengths.size(); ++i) sum.lengths[i] += entry.lengths[i].get();
    });
  }
  scale(all);
  return all;
}

void write_nodes(Json& json, Ledger& ledger) {
  const uint32_t count = g_nodes.count();
  const std::vector<Sum> all = sums(count);
  json.key("nodes");
  json.open('[');
  for (uint32_t id = 0; id < count; ++id) {
    const Node& node = g_nodes[id];
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
    json.field("count", sum.count);
    json.field("iterations", sum.iterations);
    json.field("pieces", sum.pieces);
    json.field("stolen", sum.stolen);
    json.field("timed", sum.timed);
    json.field("timed_ns", static_cast<double>(sum.timed_ticks) * ns_per_tick());
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

void write_messages(Json& json) {
  json.key("messages");
  json.open('[');
  for (const Messages& row : messages()) {
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

bool write(std::FILE* file, Sampler& sampler, double unix_began) {
  const PlainNumbers plain;
  Json json(file);
  json.open('{');
  json.field("format", std::string("weft profile 1"));
  json.field("nanoseconds", static_cast<double>(sampler.last() - sampler.began()));
  json.field("snapshots", sampler.snapshots());
  json.field("lost_nodes", g_nodes.lost());
  json.field("rank", ranks().rank);
  json.field("ranks", ranks().ranks);
  write_process(json, {.version = "weft " WEFT_VERSION,
                       .unix_began = unix_began,
                       .cpus = sampler.cpus(),
                       .others_cpu = sampler.used_by_others(),
                       .memory = sampler.memory(),
                       .threads = sampler.threads(),
                       .carriers = sampler.carriers(),
                       .roots = sampler.roots()});
  write_nodes(json, sampler.ledger());
  write_timeline(json, sampler);
  write_messages(json);
  json.close('}');
  std::fputc('\n', file);
  return std::ferror(file) == 0;
}

}  // namespace weft::profile
