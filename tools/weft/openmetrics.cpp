// SPDX-License-Identifier: Apache-2.0
// https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md describes the one format,
// https://prometheus.io/docs/instrumenting/exposition_formats the other.
#include "openmetrics.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>

#include <nlohmann/json.hpp>

#include "version.h"

namespace weft::tools::openmetrics {

namespace {

using node::ProcessStatus;

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string seconds(int64_t ns) { return number(static_cast<double>(ns) * 1e-9); }

// The name of a command is the other process's choice: readers refuse all of a text with a byte that is not UTF-8.
std::string as_utf8(const char* text) {
  using Json = nlohmann::json;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

std::string label(const char* name, const std::string& value) {
  std::string text = std::string(name) + "=\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text + '"';
}

std::string labels_of(const ProcessStatus& process) {
  return label("pid", std::to_string(process.pid)) + ',' + label("command", as_utf8(process.command));
}

enum class Type { gauge, counter, info };

struct Family {
  const char* name;
  Type type;
  const char* unit;  // the last word of the name; null: it has none
  const char* help;
};

struct ProcessFamily {
  Family family;
  // The value; empty: of this process it is not known.
  std::string (*value)(const Process& process);
};

struct NodeFamily {
  Family family;
  std::string (*value)(const std::vector<Process>& processes);
};

template <class Value>
std::string sum(const std::vector<Process>& processes, Value ProcessStatus::* member) {
  uint64_t all = 0;  // there may be nonsense in the segment, of which no sum may be undefined
  for (const Process& process : processes) all += static_cast<uint64_t>(process.status.*member);
  return std::to_string(all);
}

// By node there are no counters: a sum would fall when a process ends, which readers take for a new start.
const NodeFamily kNode[] = {
    {{"weft_node_processes", Type::gauge, nullptr, "Processes that share the CPUs of the node."},
     [](const std::vector<Process>& all) { return std::to_string(all.size()); }},
    {{"weft_node_cpus", Type::gauge, nullptr, "CPUs that at least one of the processes may use."},
     [](const std::vector<Process>& all) {
       platform::CpuSet cpus;
       for (const Process& process : all) cpus.add_all(process.status.cpus);
       return std::to_string(cpus.count());
     }},
    {{"weft_node_slots_held", Type::gauge, nullptr, "CPUs that the processes have."},
     [](const std::vector<Process>& all) { return sum(all, &ProcessStatus::held); }},
    {{"weft_node_slots_wanted", Type::gauge, nullptr, "CPUs that the processes have or could use now."},
     [](const std::vector<Process>& all) { return sum(all, &ProcessStatus::wanted); }},
    {{"weft_node_slots_lent", Type::gauge, nullptr, "CPUs of the processes' shares that others may use."},
     [](const std::vector<Process>& all) { return sum(all, &ProcessStatus::lent); }},
    {{"weft_node_weight", Type::gauge, nullptr, "Sum of the weights of the processes."},
     [](const std::vector<Process>& all) { return sum(all, &ProcessStatus::weight); }},
    {{"weft_node_tasks_pending", Type::gauge, nullptr, "Tasks, and events of tasks, that wait for messages."},
     [](const std::vector<Process>& all) { return sum(all, &ProcessStatus::pending); }},
    {{"weft_node_silent_seconds", Type::gauge, "seconds", "Longest silence of a process of the node."},
     [](const std::vector<Process>& all) {
       int64_t longest = 0;
       for (const Process& process : all) longest = std::max(longest, process.status.silent_ns);
       return seconds(longest);
     }},
};

const ProcessFamily kProcess[] = {
    {{"weft_process_slots_held", Type::gauge, nullptr, "CPUs that the process has."},
     [](const Process& process) { return std::to_string(process.status.held); }},
    {{"weft_process_slots_wanted", Type::gauge, nullptr, "CPUs that the process has or could use now."},
     [](const Process& process) { return std::to_string(process.status.wanted); }},
    {{"weft_process_slots_lent", Type::gauge, nullptr, "CPUs of the process's share that others may use."},
     [](const Process& process) { return std::to_string(process.status.lent); }},
    {{"weft_process_cpus", Type::gauge, nullptr, "CPUs that the process may use."},
     [](const Process& process) { return std::to_string(process.status.cpus.count()); }},
    {{"weft_process_weight", Type::gauge, nullptr, "Share of the CPUs relative to the weights of the others."},
     [](const Process& process) { return std::to_string(process.status.weight); }},
    {{"weft_process_threads", Type::gauge, nullptr, "Threads of the process in the system."},
     [](const Process& process) { return std::to_string(process.threads); }},
    {{"weft_process_regions_running", Type::gauge, nullptr,
      "Outermost parallel regions in progress; only in the modes that count them, exclusive and counting."},
     [](const Process& process) {
       return process.status.running >= 0 ? std::to_string(process.status.running) : std::string();
     }},
    {{"weft_process_regions", Type::counter, nullptr, "Parallel regions that the process has run."},
     [](const Process& process) { return std::to_string(process.status.regions); }},
    {{"weft_process_waited_seconds", Type::counter, "seconds",
      "Time in which the process had less than its share and wanted more."},
     [](const Process& process) { return seconds(process.status.waited_ns); }},
    {{"weft_process_slots_given", Type::counter, nullptr, "CPUs that the process gave up since others missed some."},
     [](const Process& process) { return std::to_string(process.status.given); }},
    {{"weft_process_slots_received", Type::counter, nullptr, "CPUs that the process had to wait for and got."},
     [](const Process& process) { return std::to_string(process.status.received); }},
    {{"weft_process_tasks_pending", Type::gauge, nullptr, "Tasks, and events of tasks, that wait for messages."},
     [](const Process& process) { return std::to_string(process.status.pending); }},
    {{"weft_process_silent_seconds", Type::gauge, "seconds",
      "Time in which no task that waits for messages has gone on; 0 if none waits."},
     [](const Process& process) { return seconds(process.status.silent_ns); }},
};

// Collects families, one after the other.
class Text {
 public:
  explicit Text(Format format) : format_(format) {}

  void begin(const Family& family) {
    const bool full = format_ == Format::openmetrics;
    sample_ = family.name;
    if (family.type == Type::counter) sample_ += "_total";
    if (family.type == Type::info) sample_ += "_info";
    // The older format knows neither infos nor names that differ from those of the values.
    const std::string name = full ? family.name : sample_;
    const char* const type = family.type == Type::counter        ? "counter"
                             : full && family.type == Type::info ? "info"
                                                                 : "gauge";
    text_ += "# TYPE " + name + ' ' + type + '\n';
    if (full && family.unit != nullptr) text_ += "# UNIT " + name + ' ' + family.unit + '\n';
    text_ += "# HELP " + name + ' ' + family.help + '\n';
  }

  void add(const std::string& labels, const std::string& value) {
    text_ += sample_ + (labels.empty() ? "" : '{' + labels + '}') + ' ' + value + '\n';
  }

  std::string end() && {
    if (format_ == Format::openmetrics) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  const Format format_;
  std::string sample_;
  std::string text_;
};

void add_version(Text& text) {
  text.begin({"weft_build", Type::info, nullptr, "The weft that has looked."});
  std::string labels = label("version", kVersion);
  if (*kCommit != '\0') labels += ',' + label("commit", kCommit);
  text.add(labels, "1");
}

void add_modes(Text& text, const std::vector<Process>& processes) {
  text.begin({"weft_process", Type::info, nullptr, "How outermost parallel regions of the process share the CPUs."});
  for (const Process& process : processes) {
    text.add(labels_of(process.status) + ',' + label("mode", as_utf8(process.status.mode)), "1");
  }
}

// A process that has become another program may be there twice for a moment, and readers refuse a text that has two
// values for the same labels.
std::vector<Process> without_doubles(const std::vector<Process>& processes) {
  std::vector<Process> once;
  std::set<pid_t> seen;
  for (const Process& process : processes) {
    if (seen.insert(process.status.pid).second) once.push_back(process);
  }
  return once;
}

}  // namespace

std::string to_text(const Look& look, Format format) {
  Text text(format);
  add_version(text);
  text.begin({"weft_node_readable", Type::gauge, nullptr,
              "1: what the processes share could be read, or there is none. 0: it could not, and no more is known."});
  text.add("", look.readable ? "1" : "0");
  if (!look.readable) return std::move(text).end();
  const std::vector<Process> processes = without_doubles(look.processes);
  for (const NodeFamily& row : kNode) {
    text.begin(row.family);
    text.add("", row.value(processes));
  }
  add_modes(text, processes);
  std::vector<std::string> labels;
  for (const Process& process : processes) labels.push_back(labels_of(process.status));
  for (const ProcessFamily& row : kProcess) {
    text.begin(row.family);
    for (size_t i = 0; i < processes.size(); ++i) {
      const std::string value = row.value(processes[i]);
      if (!value.empty()) text.add(labels[i], value);
    }
  }
  return std::move(text).end();
}

}  // namespace weft::tools::openmetrics
