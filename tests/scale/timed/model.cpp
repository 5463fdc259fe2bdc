// SPDX-License-Identifier: Apache-2.0
#include "timed/model.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

namespace weft::scale {

namespace {

using Json = nlohmann::json;

Time picoseconds(const Json& ns) { return std::llround(ns.get<double>() * static_cast<double>(kNanosecond)); }

Costs read_costs(const Json& json) {
  const Json& ns = json.at("ns");
  Costs costs;
  const std::pair<const char*, Time Costs::*> fields[] = {{"access", &Costs::access},
                                                          {"update", &Costs::update},
                                                          {"fence", &Costs::fence},
                                                          {"same_core", &Costs::same_core},
                                                          {"same_cache", &Costs::same_cache},
                                                          {"same_node", &Costs::same_node},
                                                          {"same_socket", &Costs::same_socket},
                                                          {"other_socket", &Costs::other_socket},
                                                          {"memory", &Costs::memory},
                                                          {"line_busy", &Costs::line_busy},
                                                          {"pause", &Costs::pause},
                                                          {"clock", &Costs::clock},
                                                          {"system_call", &Costs::system_call},
                                                          {"wake", &Costs::wake},
                                                          {"wake_latency", &Costs::wake_latency},
                                                          {"context_switch", &Costs::context_switch},
                                                          {"create_thread", &Costs::create_thread},
                                                          {"small_file", &Costs::small_file},
                                                          {"time_slice", &Costs::time_slice}};
  for (const auto& [name, field] : fields) costs.*field = picoseconds(ns.at(name));
  costs.store_buffer = json.at("store_buffer").get<int>();
  costs.misses = json.at("misses").get<int>();
  return costs;
}

}  // namespace

Model Model::read(const std::string& path) {
  Model model;
  try {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("it cannot be opened");
    const Json json = Json::parse(file);
    model.name_ = json.at("name").get<std::string>();
    model.costs_ = read_costs(json);
    const int sockets = json.at("sockets").get<int>();
    const int nodes = json.at("nodes_per_socket").get<int>();
    const int caches = json.at("caches_per_node").get<int>();
    const int cores = json.at("cores_per_cache").get<int>();
    const int threads = json.at("threads_per_core").get<int>();
    const int count = sockets * nodes * caches * cores * threads;
    if (count < 1 || count > kMostCpus) throw std::runtime_error("it has no CPU, or more than 256");
    for (int cpu = 0; cpu < count; ++cpu) {
      const int core = cpu / threads;
      const int cache = core / cores;
      const int node = cache / caches;
      model.places_.push_back({core, cache, node, node / nodes});
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scale: %s: %s\n", path.c_str(), error.what());
    std::exit(2);
  }
  for (int from = 0; from < model.cpus(); ++from) {
    for (int to = 0; to < model.cpus(); ++to) model.transfers_.push_back(model.distance(from, to));
  }
  return model;
}

Time Model::distance(int from, int to) const {
  if (core(from) == core(to)) return costs_.same_core;
  if (cache(from) == cache(to)) return costs_.same_cache;
  if (node(from) == node(to)) return costs_.same_node;
  return socket(from) == socket(to) ? costs_.same_socket : costs_.other_socket;
}

std::string Model::list(int Place::* level, int of) const {
  std::string text;
  for (int cpu = 0; cpu < cpus(); ++cpu) {
    if (places_[static_cast<size_t>(cpu)].*level == of) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  }
  return text + "\n";
}

bool Model::system_file(const std::string& path, std::string& text) const {
  int cpu = -1;
  int end = 0;
  if (std::sscanf(path.c_str(), "/sys/devices/system/cpu/cpu%d/%n", &cpu, &end) == 1 && end > 0) {
    if (cpu < 0 || cpu >= cpus()) return false;
    const std::string rest = path.substr(static_cast<size_t>(end));
    if (rest == "topology/core_cpus_list")
      text = list(&Place::core, core(cpu));
    else if (rest == "topology/die_cpus_list" || rest == "topology/package_cpus_list")
      text = list(&Place::socket, socket(cpu));
    else if (rest == "cache/index0/level")
      text = "3\n";
    else if (rest == "cache/index0/shared_cpu_list")
      text = list(&Place::cache, cache(cpu));
    else
      return false;
    return true;
  }
  int node = -1;
  if (std::sscanf(path.c_str(), "/sys/devices/system/node/node%d/cpulist%n", &node, &end) == 1) {
    text = list(&Place::node, node);
    return text.size() > 1;
  }
  const std::string all = "0-" + std::to_string(cpus() - 1) + "\n";
  if (path == "/sys/devices/system/cpu/online" || path == "/sys/devices/system/cpu/possible") {
    text = all;
    return true;
  }
  if (path == "/sys/devices/system/node/online" || path == "/sys/devices/system/node/has_cpu" ||
      path == "/sys/devices/system/node/possible") {
    text = "0-" + std::to_string(node_count() - 1) + "\n";
    return true;
  }
  return false;
}

}  // namespace weft::scale
