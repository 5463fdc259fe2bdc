// SPDX-License-Identifier: Apache-2.0
#include "placement.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/message.h"
#include "base/options.h"
#include "platform/numa.h"

namespace weft::tools {

namespace {

using platform::MemoryPolicy;
using platform::NodeSet;

// For memory a policy of the kernel's, for threads the runtime's WEFT_NUMA. Memory that is to lie beside the threads
// gets the standard policy, which is the same as `local`; but by automatic balancing the kernel moves pages of that one
// alone.
struct Mode {
  base::Numa word;
  enum class Nodes { none, may, must } nodes;  // whether =LIST follows
  MemoryPolicy policy;
  bool threads = false;  // WEFT_NUMA says where they are
};
constexpr Mode kModes[] = {
    {base::Numa::none, Mode::Nodes::none, MemoryPolicy::standard},
    {base::Numa::local, Mode::Nodes::none, MemoryPolicy::standard, true},
    {base::Numa::interleave, Mode::Nodes::may, MemoryPolicy::interleave},
    {base::Numa::bind, Mode::Nodes::must, MemoryPolicy::bind},
    {base::Numa::preferred, Mode::Nodes::must, MemoryPolicy::preferred},
    {base::Numa::preferred_many, Mode::Nodes::must, MemoryPolicy::preferred_many},
    {base::Numa::spread, Mode::Nodes::none, MemoryPolicy::standard, true},
    {base::Numa::compact, Mode::Nodes::none, MemoryPolicy::standard, true},
};

struct Request {
  const Mode* mode = nullptr;
  std::string nodes;
};

Request parse(const std::string& text) {
  const size_t equals = text.find('=');
  Request request;
  for (const Mode& mode : kModes) {
    if (text.substr(0, equals) == base::name_of(mode.word)) request.mode = &mode;
  }
  if (equals != std::string::npos) request.nodes = text.substr(equals + 1);
  return request;
}

// Of a list that is one by its form: a range that ends before it begins, or a number that no node has; empty: none.
std::string fault_of_ranges(const std::string& text) {
  constexpr unsigned long kMost = NodeSet::kMost - 1;
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string range = text.substr(at, comma - at);
    char* end = nullptr;
    const unsigned long first = std::strtoul(range.c_str(), &end, 10);
    const unsigned long last = *end == '-' ? std::strtoul(end + 1, nullptr, 10) : first;
    if (first > kMost || last > kMost) {
      return range + ": the greatest number that a node can have is " + std::to_string(kMost);
    }
    if (last < first) return range + ": a range goes up, as in " + std::to_string(last) + "-" + std::to_string(first);
    at = comma + 1;
  }
  return {};
}

// "0", "0-3,8": numbers with commas and dashes between.
bool is_list(const std::string& text) {
  bool digit = false;
  bool range = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      digit = true;
    } else if (!digit || (c == '-' && range) || (c != '-' && c != ',')) {
      return false;
    } else {
      range = c == '-';
      digit = false;
    }
  }
  return digit;
}

std::string text_of(const NodeSet& nodes) {
  char text[256];
  platform::format_node_list(nodes, text, sizeof text);
  return text;
}

}  // namespace

std::string fault_of_numa_mode(const std::string& text) {
  const Request request = parse(text);
  const bool has_list = text.find('=') != std::string::npos;
  if (request.mode == nullptr) {
    return text +
           ": wanted is none, local, interleave[=NODES], bind=NODES, preferred=NODE, preferred-many=NODES, spread or "
           "compact";
  }
  if (has_list && request.mode->nodes == Mode::Nodes::none)
    return text + ": " + base::name_of(request.mode->word) + " takes no nodes";
  if (!has_list && request.mode->nodes == Mode::Nodes::must) {
    return text + ": nodes are wanted, as in " + base::name_of(request.mode->word) + "=0";
  }
  if (has_list && !is_list(request.nodes)) return text + ": nodes are numbers, as in 0-1,3";
  if (const std::string fault = fault_of_ranges(request.nodes); !fault.empty()) return text + ": " + fault;
  return {};
}

bool place(const std::string& text, bool by_variable) {
  const Request request = parse(text);
  const std::string asked = (by_variable ? "WEFT_NUMA=" : "--numa ") + text;
  const Mode& mode = *request.mode;
  if (mode.threads) setenv("WEFT_NUMA", base::name_of(mode.word), 1);
  if (mode.policy == MemoryPolicy::standard && !mode.threads) return true;
  const platform::NumaNodes machine("");
  NodeSet nodes;
  if (!request.nodes.empty()) {
    nodes = platform::parse_node_list(request.nodes.c_str());
    NodeSet there = nodes;
    there.keep_only(machine.with_memory());
    if (!(there == nodes)) {
      base::warn("%s: this machine has memory on node %s%s", asked.c_str(), text_of(machine.with_memory()).c_str(),
                 instead(by_variable));
      return false;
    }
  } else if (mode.policy == MemoryPolicy::interleave) {
    nodes = machine.with_memory();
  }
  const int error = platform::set_thread_policy(mode.policy, nodes);
  if (error == ENOSYS || error == EPERM) {
    base::warn("%s: the kernel places no memory (%s); the program runs without", asked.c_str(), std::strerror(error));
  } else if (error == EINVAL && mode.policy == MemoryPolicy::preferred_many) {
    base::warn("%s: %s: Linux 5.15 is wanted, and these nodes in the cpuset of this process%s", asked.c_str(),
               std::strerror(error), instead(by_variable));
    return false;
  } else if (error != 0) {
    base::warn("%s: %s: does the cpuset of this process have these nodes (Mems_allowed in /proc/self/status)?%s",
               asked.c_str(), std::strerror(error), instead(by_variable));
    return false;
  }
  return true;
}

}  // namespace weft::tools
