// SPDX-License-Identifier: Apache-2.0
// What those who look for faults share: the constructs of the program, the lost seconds that no advice has claimed yet,
// and the bar that advice has to pass.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "report/model/model.h"

namespace weft::tools::report {

// A piece of work of this length hides what it costs to deal it out: some 0.1 us among few threads, 1 us among many.
inline constexpr double kGoodPiece = 15e-6;
// A shorter one does not.
inline constexpr double kSmallPiece = 2e-6;
// Overhead that is less than this part of a construct's time is no fault of the program.
inline constexpr double kLargePart = 0.10;
// In a shorter region threads that are still being woken up look like threads that have less work.
inline constexpr double kShortRegion = 30e-6;

// A construct of the program: the sites of one place and kind, which may be met within several others.
struct Construct {
  std::vector<int> sites;
  int worst = 0;  // the one with the greatest loss
  int depth = 0;  // regions around it
  Site sum;  // counts and times of all; the rest is that of the worst
};

class Evidence {
 public:
  explicit Evidence(const Report& report);
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  const Report& report() const { return report_; }
  const Run& run() const { return report_.run; }
  const Site& site(int number) const { return report_.sites[static_cast<size_t>(number)]; }
  int cpus() const;
  double cpu_seconds() const { return cpus() * run().seconds; }
  // The value of a variable of the environment; none where it is not set, or empty.
  std::optional<std::string> setting(const char* name) const;

  const std::vector<Construct>& constructs() const { return constructs_; }
  // Its sites, and all that were met within them; each once.
  std::vector<int> within(const Construct& construct) const;
  double useful(const std::vector<int>& sites) const;
  // CPU seconds of work and losses, claimed or not.
  double spent(const std::vector<int>& sites) const;

  // CPU seconds that no advice has claimed.
  double left(int site, Loss loss) const;
  double left(const std::vector<int>& sites, Loss loss) const;

  // CPU seconds of some sites for some reasons.
  struct Claim {
    std::vector<int> sites;
    std::vector<Loss> losses;
  };
  double left(const Claim& claim) const;

  // Takes the advice and its claims if it is worth a reader's time, and if `wall`, the seconds in which its cause was
  // there, has enough samples. The gain is that of the run; what more than `wall` is promised is cut off.
  void propose(Advice advice, double wall, const std::vector<Claim>& claims);

  // Takes advice whose gain these figures do not tell.
  void mention(Advice advice);

  const std::vector<std::string>& notes() const { return notes_; }
  std::vector<Advice> take_advice();

 private:
  void group();

  const Report& report_;
  std::vector<Construct> constructs_;
  std::vector<std::array<double, kLosses>> left_;
  std::vector<Advice> advice_;
  std::vector<std::string> notes_;
  bool good_ = false;  // the program uses its CPUs well
};

// The sum of losses that the runtime's work or its waits have made in `width` CPUs, as time of the run, if they all
// went away: they are spread over these CPUs.
double as_time(double lost, int width);
// The same of CPUs that waited while k of `width` members still worked. If the members had worked alike it would have
// taken k / width of that time, and the wait is charged for all `cpus`, so that the gain is
//   lost x (width - k) / (width x (cpus - k)).
// k is not known; the formula falls with it, and half of the members is taken. With a member for each CPU it does not
// depend on k.
double as_balanced_time(double lost, int width, int cpus);

// "the loop at dgemv.c:42", "the region in solve (libfoo.so)".
std::string site_text(const Site& site);
// "#pragma omp for schedule(guided)"; in Fortran "!$omp do schedule(guided)". A `for` among the words is meant as such.
std::string directive(const Site& site, const std::string& words);
// The program without a variable of its environment, under weft report.
std::string run_without(const Run& run, const std::string& variable);
// The program's command line, as a shell takes it.
std::string command_line(const Run& run);

}  // namespace weft::tools::report
