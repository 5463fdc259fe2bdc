// SPDX-License-Identifier: Apache-2.0
#include "profile/writer.h"

#include <algorithm>
#include <clocale>
#include <cstring>
#include <string>

#include <unistd.h>

#include "profile/memory.h"
#include "profile/messages.h"
#include "profile/nodes.h"
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

const char* word_of(Schedule schedule) noexcept {
  switch (schedule) {
    case Schedule::fixed: return "static";
    case Schedule::dynamic: return "dynamic";
    case Schedule::guided: return "guided";
    case Schedule::unknown: break;
  }
  return "";
}

std::string contents_of(const char* path) {
  std::string all;
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return all;
  char some[4096];
  while (const size_t count = std::fread(some, 1, sizeof some, file)) all.append(some, count);
  std::fclose(file);
  return all;
}

// Which variables say how many threads there are and what they do.
bool is_setting(const char* variable) {
  for (const char* beginning : {"OMP_", "GOMP_", "KMP_", "WEFT_", "OPENBLAS_", "MKL_", "BLIS_", "GOTO_"}) {
    if (std::strncmp(variable, beginning, std::strlen(beginning)) == 0) return true;
  }
  return false;
}

class Json {
 public:
  explicit Json(std::FILE* file) : file_(file) {}

  void key(const char* name) {
    comma();
    std::fprintf(file_, "\"%s\":", name);
    first_ = true;
  }
  void open(char bracket) {
    comma();
    std::fputc(bracket, file_);
    first_ = true;
  }
  void close(char bracket) {
    std::fputc(bracket, file_);
    first_ = false;
  }
  void value(double number) {
    comma();
    std::fprintf(file_, "%.10g", number);
  }
  void value(uint64_t number) {
    comma();
    std::fprintf(file_, "%llu", static_cast<unsigned long long>(number));
  }
  void value(int number) {
    comma();
    std::fprintf(file_, "%d", number);
  }
  // Bytes that are no UTF-8 are kept as characters of their number.
  void value(const std::string& text) {
    comma();
    std::fputc('"', file_);
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\') {
        std::fprintf(file_, "\\u%04x", byte);
      } else {
        std::fputc(c, file_);
      }
    }
    std::fputc('"', file_);
  }
  template <class Value>
  void field(const char* name, const Value& what) {
    key(name);
    value(what);
  }

 private:
  void comma() {
    if (!first_) std::fputc(',', file_);
    first_ = false;
  }

  std::FILE* file_;
  bool first_ = true;
};

void write_command(Json& json) {
  json.key("command");
  json.open('[');
  const std::string all = contents_of("/proc/self/cmdline");
  for (size_t at = 0; at < all.size(); at += std::strlen(all.c_str() + at) + 1) json.value(std::string(&all[at]));
  json.close(']');
}

void write_settings(Json& json) {
  json.key("settings");
  json.open('{');
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const char* equals = std::strchr(*variable, '=');
    if (equals == nullptr || !is_setting(*variable)) continue;
    const std::string name(static_cast<const char*>(*variable), equals);
    if (name.find_first_of("\"\\") == std::string::npos) json.field(name.c_str(), std::string(equals + 1));
  }
  json.close('}');
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
    const char* callee = node.callee.load(std::memory_order_relaxed);
    json.field("callee", std::string(callee != nullptr ? callee : ""));
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

void write_threads(Json& json, const Sampler& sampler) {
  const auto has = [](const std::vector<int>& numbers, int number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  };
  json.key("threads");
  json.open('[');
  for (const Threads::Thread& thread : sampler.threads().all()) {
    // Those of the pool that are no carriers have its name too.
    const bool ours = has(sampler.carriers(), thread.number) || thread.name.rfind("weft", 0) == 0;
    json.open('{');
    json.field("name", thread.name);
    json.field("whose", std::string(has(sampler.roots(), thread.number) ? "program" : ours ? "weft" : "other"));
    json.field("cpu", static_cast<double>(thread.cpu));
    json.close('}');
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
  char host[128] = "";
  gethostname(host, sizeof host - 1);
  // Numbers with a point, whatever the program's locale is.
  const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const locale_t before = uselocale(plain);
  Json json(file);
  json.open('{');
  json.field("format", std::string("weft profile 1"));
  json.field("version", std::string("weft " WEFT_VERSION));
  json.field("process", static_cast<int>(getpid()));
  json.field("host", std::string(host));
  json.field("began", unix_began);
  json.field("nanoseconds", static_cast<double>(sampler.last() - sampler.began()));
  json.field("cpus", sampler.cpus());
  json.field("snapshots", sampler.snapshots());
  json.field("lost_nodes", g_nodes.lost());
  json.field("rank", ranks().rank);
  json.field("ranks", ranks().ranks);
  const MemorySpread& memory = sampler.memory();
  json.field("others_cpu", static_cast<double>(sampler.used_by_others()));
  json.field("memory_nodes", memory.nodes);
  json.field("memory_on_one_node", memory.on_one_node);
  write_command(json);
  write_settings(json);
  write_nodes(json, sampler.ledger());
  write_timeline(json, sampler);
  write_threads(json, sampler);
  write_messages(json);
  json.field("maps", contents_of("/proc/self/maps"));
  json.close('}');
  std::fputc('\n', file);
  uselocale(before);
  freelocale(plain);
  return std::ferror(file) == 0;
}

}  // namespace weft::profile
