// SPDX-License-Identifier: Apache-2.0
#include "openmp/affinity/affinity.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "base/keep_errno.h"
#include "base/message.h"
#include "openmp/affinity/hw_subset.h"
#include "openmp/affinity/kmp_affinity.h"
#include "openmp/affinity/place_syntax.h"

namespace weft::openmp {

namespace {

using base::Options;
using base::ProcBind;
using platform::CpuSet;
using platform::Level;
using platform::Topology;

void refuse(const char* variable, const base::Text& text, const char* accepted) noexcept {
  base::warn("%s=%.*s is not %s; it is ignored", variable, base::kShownOfValue, text.value, accepted);
}

void warn_about_unused(const char* variable, bool is_set, const char* winner) noexcept {
  if (is_set) base::warn("%s is ignored, since %s is set; unset one of them", variable, winner);
}

// The decision for one process, variable by variable.
class Decision {
 public:
  Decision(const Options& options, const CpuSet& process, const char* root) noexcept : options_(options), root_(root) {
    result_.process = process;
  }

  // What follows stays out of line, since it needs more of the stack, and only where variables say something.
  Affinity make() noexcept {
    const bool part = take_subset();
    KmpAffinity kmp;
    if (is_set(options_.kmp_affinity) && !parse_kmp_affinity(options_.kmp_affinity.value, &kmp)) {
      refuse("KMP_AFFINITY", options_.kmp_affinity,
             "[modifier,...]none|compact|scatter|balanced|explicit[,permute][,offset], as in granularity=fine,compact "
             "or explicit,proclist=[0,2-4]");
      kmp = KmpAffinity();
    }
    if (kmp.type != KmpAffinity::Type::unset) {
      decide_by(kmp);
    } else {
      decide_by_openmp();
    }
    kmp.proclist.free_memory();
    warn_about_memory();
    if (part && !result_.on) confine();
    if (kmp.verbose) tell();
    return result_;
  }

 private:
  // KMP_HW_SUBSET: whether the process is to use a part of its CPUs. Places are then looked for in that part.
  bool take_subset() noexcept { return is_set(options_.kmp_hw_subset) && read_subset(); }

  [[gnu::noinline]] bool read_subset() noexcept {
    HwSubset subset;
    if (!parse_hw_subset(options_.kmp_hw_subset.value, &subset)) {
      refuse("KMP_HW_SUBSET", options_.kmp_hw_subset,
             "[number]unit[@offset][:kind],..., as in 1s,4c@2,1t; units s, d, n, ll, c and t (sockets, dies, NUMA "
             "domains, last-level caches, cores, threads), kinds of cores intel_atom, intel_core and eff0 to eff7");
      return false;
    }
    const char* lacking = nullptr;
    const CpuSet chosen = choose_cpus(subset, result_.process, root_, &lacking);
    if (chosen.empty()) {
      std::array<char, base::kShownOfValue + 1> allowed;
      format_cpu_list(result_.process, allowed.data(), allowed.size());
      base::warn("KMP_HW_SUBSET=%.*s asks for more %s than this process may use (CPU %s: see taskset); it is ignored",
                 base::kShownOfValue, options_.kmp_hw_subset.value, lacking, allowed.data());
      return false;
    }
    result_.process = chosen;
    return true;
  }

  // Nothing but KMP_HW_SUBSET says where threads run: anywhere in that part of the machine, which is one place.
  [[gnu::noinline]] void confine() noexcept {
    result_.places.add(result_.process);
    result_.policies = {{ProcBind::false_}, 1};
    result_.on = true;
  }

  static bool is_set(const base::Text& text) noexcept { return text.value != nullptr; }

  [[gnu::noinline]] void decide_by(const KmpAffinity& kmp) noexcept {
    constexpr const char* kWinner = "KMP_AFFINITY";
    warn_about_unused("OMP_PROC_BIND", options_.proc_bind.count > 0, kWinner);
    warn_about_unused("OMP_PLACES", is_set(options_.places), kWinner);
    warn_about_unused("GOMP_CPU_AFFINITY", is_set(options_.gomp_cpu_affinity), kWinner);
    warn_about_unused("WEFT_NUMA", wants_numa(), kWinner);
    if (kmp.type == KmpAffinity::Type::none) return;
    with_topology([&](const Topology& topology) { add_places(kmp, topology, &result_.places); });
    if (!restrict_to_process(kWinner)) return;
    result_.first = kmp.offset % result_.places.size();
    result_.cyclic = kmp.type != KmpAffinity::Type::balanced;
    result_.policies = {{ProcBind::true_}, 1};
    result_.on = true;
  }

  bool wants_numa() const noexcept { return options_.numa != base::Numa::none && !base::places_memory(options_.numa); }

  // What is said of memory is done by `weft run`, which has named its runtime.
  void warn_about_memory() const noexcept {
    if (!base::places_memory(options_.numa) || is_set(options_.runtime)) return;
    base::warn("WEFT_NUMA=%s places memory where weft run starts the program; this program has memory already",
               base::name_of(options_.numa));
  }

  // WEFT_NUMA. Compact: each thread a core of its own, of which those of a domain stand together in the list. Else each
  // thread a domain: those with consecutive numbers share one.
  [[gnu::noinline]] void decide_by_numa() noexcept {
    const bool compact = options_.numa == base::Numa::compact;
    with_topology([&](const Topology& topology) {
      add_groups(topology, compact ? Level::cores : Level::numa_domains, kMostPlaces, &result_.places);
    });
    result_.policies = {{compact ? ProcBind::close : ProcBind::spread}, 1};
    result_.local = options_.numa == base::Numa::local;
    result_.on = true;
  }

  void decide_by_openmp() noexcept {
    const bool others = options_.proc_bind.count > 0 || is_set(options_.places) || is_set(options_.gomp_cpu_affinity);
    if (wants_numa() && !others) return decide_by_numa();
    warn_about_unused("WEFT_NUMA", wants_numa(), "OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY");
    if (options_.proc_bind.count > 0 && options_.proc_bind.values[0] == ProcBind::false_) {
      warn_about_unused("GOMP_CPU_AFFINITY", is_set(options_.gomp_cpu_affinity), "OMP_PROC_BIND=false");
      return;
    }
    if (read_places()) {
      warn_about_unused("GOMP_CPU_AFFINITY", is_set(options_.gomp_cpu_affinity), "OMP_PLACES");
    } else if (read_cpu_affinity()) {
      result_.cyclic = true;
    } else if (options_.proc_bind.count > 0) {
      with_topology(
          [&](const Topology& topology) { add_groups(topology, Level::threads, kMostPlaces, &result_.places); });
    } else {
      return;
    }
    result_.on = true;
    result_.policies = options_.proc_bind;
    if (result_.policies.count == 0) result_.policies = {{ProcBind::true_}, 1};
  }

  bool read_places() noexcept { return is_set(options_.places) && places_by_openmp(); }

  [[gnu::noinline]] bool places_by_openmp() noexcept {
    PlacesText text;
    if (!parse_places(options_.places.value, &text)) {
      refuse("OMP_PLACES", options_.places,
             "threads, cores, ll_caches, numa_domains or sockets, nor a list of places such as {0:4}:2:4,{8,9},!{0:4}");
      text.list.free_memory();
      return false;
    }
    if (text.abstract) {
      with_topology([&](const Topology& topology) { add_groups(topology, text.level, text.most, &result_.places); });
      return true;
    }
    result_.places = text.list;
    return restrict_to_process("OMP_PLACES");
  }

  [[gnu::noinline]] bool read_cpu_affinity() noexcept {
    if (!is_set(options_.gomp_cpu_affinity)) return false;
    if (!parse_cpu_affinity(options_.gomp_cpu_affinity.value, &result_.places)) {
      refuse("GOMP_CPU_AFFINITY", options_.gomp_cpu_affinity, "a list of CPUs such as 0 3 4-8:2");
      result_.places.free_memory();
      return false;
    }
    return restrict_to_process("GOMP_CPU_AFFINITY");
  }

  // False when no place is left.
  [[gnu::noinline]] bool restrict_to_process(const char* variable) noexcept {
    const CpuSet left_out = restrict_places(result_.process, &result_.places);
    const bool usable = result_.places.size() > 0;
    if (!left_out.empty()) {
      std::array<char, base::kShownOfValue + 1> cpus;
      std::array<char, base::kShownOfValue + 1> allowed;
      format_cpu_list(left_out, cpus.data(), cpus.size());
      format_cpu_list(result_.process, allowed.data(), allowed.size());
      base::warn("%s: this process may not use CPU %s; %s (it may use %s: see taskset)", variable, cpus.data(),
                 usable ? "left out of the places" : "no place is left, so it is ignored", allowed.data());
    }
    return usable;
  }

  template <class Use>
  void with_topology(Use&& use) noexcept {
    auto* topology = new (std::nothrow) Topology(result_.process, root_);
    if (topology == nullptr) base::lacking("no memory for the places of threads");
    use(*topology);
    delete topology;
  }

  [[gnu::noinline]] void tell() const noexcept {
    std::array<char, 400> text;
    format_places(result_.places, text.data(), text.size());
    base::warn("KMP_AFFINITY: %s%s", result_.on ? "places " : "threads are not bound", text.data());
  }

  const Options& options_;
  const char* root_;
  Affinity result_;
};

}  // namespace

bool affinity_requested(const Options& options) noexcept {
  return options.numa != base::Numa::none || options.proc_bind.count > 0 || options.places.value != nullptr ||
         options.gomp_cpu_affinity.value != nullptr || options.kmp_affinity.value != nullptr ||
         options.kmp_hw_subset.value != nullptr;
}

Affinity decide_affinity(const Options& options, const CpuSet& process, const char* root) noexcept {
  const base::KeepErrno keep;
  // Not on the stack: that of a thread that opens its first region may be a few pages.
  const std::unique_ptr<Decision> decision(new (std::nothrow) Decision(options, process, root));
  if (decision == nullptr) base::lacking("no memory for the places of threads");
  return decision->make();
}

const Affinity& affinity() noexcept {
  static const Affinity decided = decide_affinity(base::options(), platform::thread_cpus(), "");
  return decided;
}

ProcBind policy_at(const Affinity& affinity, int level) noexcept {
  if (!affinity.on) return ProcBind::false_;
  return affinity.policies.values[std::min(level, affinity.policies.count - 1)];
}

}  // namespace weft::openmp
