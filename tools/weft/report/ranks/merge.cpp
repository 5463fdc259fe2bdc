// SPDX-License-Identifier: Apache-2.0
#include "report/ranks/merge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <map>
#include <utility>

#include "report/model/constructs.h"
#include "report/model/stable_sort.h"
#include "report/model/tree.h"

namespace weft::tools::report {

namespace {

// As many cells as one process's timeline has at most (src/observe/account/timeline.cpp); a job of any size has so
// many.
constexpr size_t kMostCells = 350'000;
constexpr size_t kLeastTicks = 16;

double wait_in(const Report& report) {
  double sum = 0;
  for (const MessageRow& row : report.messages) sum += row.waited;
  return sum;
}

RankRow row_of(const Report& report) {
  RankRow row;
  row.rank = report.run.rank;
  row.host = report.run.host;
  row.seconds = report.run.seconds;
  row.cpus = std::max(report.run.cpus, 1);
  row.efficiency = factors_of(report).parallel_efficiency;
  for (const Site& site : report.sites) {
    row.useful += site.useful;
    for (size_t i = 0; i < row.lost.size(); ++i) row.lost[i] += site.lost[i];
  }
  row.waited = wait_in(report);
  row.exit_code = report.run.exit_code;
  return row;
}

// Seconds since the epoch; below 0: it says nothing.
double time_of(const std::string& began) {
  std::tm parts{};
  const char* rest = strptime(began.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return -1;
  const double fraction = *rest == '.' ? std::strtod(rest, nullptr) : 0;
  return static_cast<double>(timegm(&parts)) + fraction;
}

// How much later each began than the first one. Hosts have clocks of their own: where these cannot be right, together.
std::vector<double> delays_of(const std::vector<Report>& ranks, double longest) {
  std::vector<double> times;
  for (const Report& rank : ranks) times.push_back(time_of(rank.run.began));
  const auto [first, last] = std::minmax_element(times.begin(), times.end());
  const double begin = *first;
  if (begin < 0 || *last - begin > longest / 2) return std::vector<double>(ranks.size(), 0);
  for (double& time : times) time -= begin;
  return times;
}

class Sites {
 public:
  std::vector<Site> sites;

  // Returns the number here of each site of the rank.
  std::vector<int> add_rank(const Report& rank) {
    std::vector<int> number_of(rank.sites.size(), 0);
    std::vector<double> walls(sites.size(), 0);
    // sites_within() has those around a site before it.
    for (const int number : sites_within(rank, 0)) {
      const Site& site = rank.sites[static_cast<size_t>(number)];
      const int around = parent_of(rank, number);
      const int parent = around < 0 ? -1 : number_of[static_cast<size_t>(around)];
      const auto [found, is_new] = numbers_.emplace(std::pair(parent, number == 0 ? PlaceKey() : place_key(site)),
                                                    static_cast<int>(sites.size()));
      const auto here = static_cast<size_t>(found->second);
      number_of[static_cast<size_t>(number)] = found->second;
      if (is_new) {
        sites.push_back(site);
        sites.back().parent = parent;
        sites.back().wall = 0;
        walls.push_back(site.wall);
      } else {
        const double wall = sites[here].wall;
        add(sites[here], site);
        sites[here].wall = wall;
        walls[here] += site.wall;
      }
    }
    // The ranks are in it at the same time.
    for (size_t i = 0; i < sites.size(); ++i) {
      sites[i].wall = std::max(sites[i].wall, std::min(walls[i], rank.run.seconds));
    }
    return number_of;
  }

 private:
  std::map<std::pair<int, PlaceKey>, int> numbers_;
};

double length_of(const Timeline& timeline) {
  uint64_t ticks = 0;
  for (const std::vector<Span>& cpu : timeline.cpus) {
    uint64_t here = 0;
    for (const Span& span : cpu) here += span.ticks;
    ticks = std::max(ticks, here);
  }
  return static_cast<double>(ticks) * timeline.tick;
}

void add(std::vector<Span>& spans, int site, Doing doing) {
  if (!spans.empty() && spans.back().site == site && spans.back().doing == doing) {
    ++spans.back().ticks;
  } else {
    spans.push_back({1, site, doing});
  }
}

// The CPU in ticks of another length, `delay` seconds later.
std::vector<Span> resampled(const std::vector<Span>& spans, double tick, double delay,
                            const std::vector<int>& number_of, size_t ticks, double new_tick) {
  std::vector<Span> result;
  size_t at = 0;
  double end = delay + (spans.empty() ? 0 : spans[0].ticks * tick);  // of the span `at`
  for (size_t i = 0; i < ticks; ++i) {
    const double now = (static_cast<double>(i) + 0.5) * new_tick;
    while (at < spans.size() && end <= now) {
      if (++at < spans.size()) end += spans[at].ticks * tick;
    }
    if (now < delay || at >= spans.size()) {
      add(result, 0, Doing::idle);
    } else {
      add(result, number_of[static_cast<size_t>(spans[at].site)], spans[at].doing);
    }
  }
  return result;
}

Timeline timeline_of(const std::vector<Report>& ranks, const std::vector<std::vector<int>>& numbers,
                     const std::vector<double>& delays) {
  Timeline timeline;
  double span = 0;
  double finest = 0;
  size_t cpus = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    span = std::max(span, delays[i] + length_of(ranks[i].timeline));
    const double tick = ranks[i].timeline.tick;
    if (tick > 0) finest = finest > 0 ? std::min(finest, tick) : tick;
    cpus += static_cast<size_t>(std::max(ranks[i].run.cpus, 1));
  }
  if (span <= 0) {
    timeline.cpus.resize(cpus);
    return timeline;
  }
  const size_t most = std::max(kMostCells / cpus, kLeastTicks);
  const double wanted = span / finest;
  const size_t ticks = wanted < static_cast<double>(most) ? static_cast<size_t>(std::ceil(wanted)) : most;
  timeline.tick = span / static_cast<double>(ticks);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Timeline& own = ranks[i].timeline;
    // As many as the rank has CPUs, so that each track is found by its rank.
    for (size_t cpu = 0; cpu < static_cast<size_t>(std::max(ranks[i].run.cpus, 1)); ++cpu) {
      const std::vector<Span> none;
      timeline.cpus.push_back(resampled(cpu < own.cpus.size() ? own.cpus[cpu] : none, own.tick, delays[i], numbers[i],
                                        ticks, timeline.tick));
    }
  }
  return timeline;
}

// What all ranks say is said once, the rest with their numbers.
std::vector<std::string> notes_of(const std::vector<Report>& ranks) {
  std::vector<std::pair<std::string, std::vector<int>>> said;
  for (const Report& rank : ranks) {
    for (const std::string& note : rank.run.notes) {
      auto known = std::find_if(said.begin(), said.end(), [&](const auto& each) { return each.first == note; });
      if (known == said.end()) known = said.insert(said.end(), {note, {}});
      known->second.push_back(rank.run.rank);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [note, of] : said) {
    std::string who = ranks_text(of);
    who[0] = 'R';
    notes.push_back(of.size() >= ranks.size() ? note : who + ": " + note);
  }
  return notes;
}

std::vector<std::string> deadlocks_of(const std::vector<Report>& ranks) {
  std::vector<std::string> lines;
  for (const Report& rank : ranks) {
    for (const std::string& line : rank.run.deadlock) {
      const bool is_first = &line == &rank.run.deadlock.front();
      lines.push_back(is_first ? "rank " + std::to_string(rank.run.rank) + ": " + line : line);
    }
  }
  return lines;
}

void add(const NodeShare& more, NodeShare& sum) {
  sum.others = std::max(sum.others, more.others);
  sum.share += more.share;
  sum.held += more.held;
  sum.lent += more.lent;
  sum.borrowed += more.borrowed;
  sum.waited += more.waited;
}

Run run_of(const std::vector<Report>& ranks) {
  Run run = ranks.front().run;
  run.cpus = 0;
  run.samples = 0;
  run.period = 0;
  run.others_cpu = 0;
  run.node = {};
  run.own_cpu_seconds = 0;
  std::vector<std::string> hosts;
  bool same_settings = true;
  for (const Report& rank : ranks) {
    const Run& own = rank.run;
    run.seconds = std::max(run.seconds, own.seconds);
    run.cpus += std::max(own.cpus, 1);
    run.samples += own.samples;
    run.period += own.period / static_cast<double>(ranks.size());
    run.others_cpu += own.others_cpu;
    add(own.node, run.node);
    run.own_seconds = std::max(run.own_seconds, own.own_seconds);
    run.own_cpu_seconds += own.own_cpu_seconds;
    run.memory_nodes = std::max(run.memory_nodes, own.memory_nodes);
    run.memory_on_one_node = std::max(run.memory_on_one_node, own.memory_on_one_node);
    run.ranks = std::max(run.ranks, own.ranks);
    run.stood_still = std::max(run.stood_still, own.stood_still);
    if (run.exit_code == 0) run.exit_code = own.exit_code;
    if (!own.began.empty() && own.began < run.began) run.began = own.began;
    if (std::find(hosts.begin(), hosts.end(), own.host) == hosts.end()) hosts.push_back(own.host);
    same_settings = same_settings && own.settings == run.settings;
  }
  run.deadlock = deadlocks_of(ranks);
  run.notes = notes_of(ranks);
  if (!same_settings) {
    run.notes.push_back("The ranks have different settings: those of rank " + std::to_string(run.rank) + " are shown.");
  }
  run.rank = -1;
  if (hosts.size() > 1) run.host += " and " + std::to_string(hosts.size() - 1) + " more";
  return run;
}

uint64_t part(uint64_t count, size_t ranks) { return (count + ranks - 1) / ranks; }

}  // namespace

Report merge(std::vector<Report> ranks) {
  sort_stably(ranks, [](const Report& a, const Report& b) { return a.run.rank < b.run.rank; });
  Report merged;
  merged.run = run_of(ranks);
  Sites sites;
  std::vector<std::vector<int>> numbers;
  double ended = 0;
  for (const Report& rank : ranks) {
    merged.ranks.push_back(row_of(rank));
    numbers.push_back(sites.add_rank(rank));
    ended += std::max(rank.run.cpus, 1) * (merged.run.seconds - rank.run.seconds);
    const std::string whose = "rank " + std::to_string(rank.run.rank);
    for (const ThreadRow& row : rank.threads) merged.threads.push_back({whose + ": " + row.name, row.whose, row.cpu});
    for (MessageRow row : rank.messages) {
      row.rank = rank.run.rank;
      merged.messages.push_back(std::move(row));
    }
  }
  merged.sites = std::move(sites.sites);
  merged.sites[0].lost[static_cast<size_t>(Loss::imbalance)] += ended;
  merged.timeline = timeline_of(ranks, numbers, delays_of(ranks, merged.run.seconds));
  return merged;
}

Report mean_rank(const Report& merged) {
  const size_t count = std::max<size_t>(merged.ranks.size(), 1);
  const auto ranks = static_cast<double>(count);
  Report mean = merged;
  mean.ranks.clear();
  mean.timeline = {};
  mean.run.cpus = std::max(static_cast<int>(std::lround(merged.run.cpus / ranks)), 1);
  mean.run.samples = part(merged.run.samples, count);
  mean.run.others_cpu /= ranks;
  mean.run.own_cpu_seconds /= ranks;
  for (Site& site : mean.sites) {
    for (uint64_t* number : {&site.count, &site.iterations, &site.pieces, &site.stolen, &site.lengths.timed}) {
      *number = part(*number, count);
    }
    site.useful /= ranks;
    for (double& lost : site.lost) lost /= ranks;
    for (double& pieces : site.lengths.histogram) pieces /= ranks;
  }
  std::map<std::pair<std::string, std::string>, double> threads;
  for (const ThreadRow& row : merged.threads) {
    const size_t colon = row.name.find(": ");
    const std::string name = colon == std::string::npos ? row.name : row.name.substr(colon + 2);
    threads[{row.whose, name}] += row.cpu / ranks;
  }
  mean.threads.clear();
  for (const auto& [thread, cpu] : threads) mean.threads.push_back({thread.second, thread.first, cpu});
  return mean;
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    // Two in a row are two.
    if (last == i + 1) last = i;
    parts.push_back(std::to_string(ranks[i]) + (last > i ? " to " + std::to_string(ranks[last]) : ""));
    i = last + 1;
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < parts.size() ? ", " : " and ") + parts[i];
  }
  return text;
}

}  // namespace weft::tools::report
