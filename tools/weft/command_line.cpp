// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <filesystem>
#include <memory>

#include "file_option.h"
#include "help_format.h"
#include "metrics_place.h"
#include "version.h"

namespace weft::tools {

namespace {

constexpr char kExitCodes[] =
    "Exit code:\n"
    "  That of the program. 2: wrong options. 126: the program cannot be executed. 127: there is none.\n";

constexpr char kColumns[] =
    "Columns:\n"
    "  SLOTS    CPUs that the process has; WANTED: that it could use; LENT: of its share, what others may use\n"
    "  PENDING  tasks, and events of tasks, that wait for messages\n"
    "  SILENT   for how long none of them has gone on; kill -USR1 PID has the process print who waits for what\n";

// What is written for programs; in every command by the same option.
CLI::Option* add_json(CLI::App* command, std::string& file) {
  constexpr char kHelp[] = "write the result for programs into this file; -: to stdout, in place of the text";
  return as_output(command->add_option("--json", file, kHelp), Stdout::taken);
}

bool is_process_number(const std::string& text) {
  constexpr size_t kDigits = 9;
  return !text.empty() && text.size() <= kDigits && text.find_first_not_of("0123456789") == std::string::npos &&
         text != "0";
}

// What all commands of `tune` have in common.
void add_tune_options(CLI::App* command, TuneOptions& tune) {
  command->add_option("--for", tune.mpi, "whose collectives: openmpi or mpich (default: those of the launcher)")
      ->check(CLI::IsMember({"openmpi", "mpich"}));
  command->add_option("--launcher", tune.launcher,
                      "how jobs are started, without -n, say 'mpirun --hostfile hosts' (default: mpirun)");
  command->add_option(
      "--only", tune.only,
      "operations, with commas between: allgather, allreduce, alltoall, barrier, bcast, gather, reduce, "
      "scatter (default: allgather, allreduce, alltoall, bcast, reduce)");
  command->add_option("--sizes", tune.sizes, "bytes, with commas between and K or M behind (default: 8 to 512K)");
}

void add_ranks(CLI::App* command, TuneOptions& tune) {
  command->add_option("-n,--ranks", tune.ranks,
                      "ranks of the jobs, or several numbers with commas between (default, under mpirun: its own)");
}

void add_tune(CLI::App& app, CLI::App*& tune, TuneOptions& options) {
  tune = app.add_subcommand("tune", "Measure the collectives of an MPI, and have it take the fastest algorithms.");
  tune->require_subcommand(1);
  CLI::App* collectives =
      tune->add_subcommand("collectives",
                           "Measure the MPI's algorithms, write its decision file, run again with it, and say what it\n"
                           "gains. The default algorithm stays where no other is certainly faster by more than 5 %.");
  add_ranks(collectives, options);
  collectives->add_option("--budget", options.budget, "how long it may take: 90s, 5m, 1h (default: 5m)");
  as_folder(
      collectives->add_option("-o,--output", options.output, "the folder for what is written (default: weft-tune)"));
  add_tune_options(collectives, options);
  collectives->add_option("--format", options.format, "of Open MPI's rules: text, or json since Open MPI 6 (default)")
      ->check(CLI::IsMember({"text", "json"}));
  collectives->add_flag("--own", options.own, "also measure weft's own exchanges, for comparison (alltoall)");
  collectives->add_flag("--all", options.all, "measure also what the model says to be much slower");
  collectives->add_flag(
      "--paper", options.paper,
      "only measure, by a simpler method: the mean of 50 calls behind MPI_Barrier, without the first");
  collectives->footer(
      "Examples:\n"
      "  mpirun -n 4 weft tune collectives\n"
      "  weft tune collectives -n 2,4,8 --only alltoall,bcast --budget 10m");
  CLI::App* check =
      tune->add_subcommand("check",
                           "Say in words what a decision file does, and what is wrong with it: Open MPI's rules,\n"
                           "MPICH's selection, or weft's rules.");
  as_file(check->add_option("FILE", options.file, "the decision file"))->required();
  CLI::Option* const measure =
      check->add_flag("--measure", options.measure, "run with the file and without it, and compare");
  check->add_option("--budget", options.budget, "how long --measure may take (default: 1m)")->needs(measure);
  add_tune_options(check, options);
  check->footer("Exit code:\n  0: no fault. 1: there are faults, or the file cannot be read. 2: wrong options.");
  CLI::App* explain =
      tune->add_subcommand("explain",
                           "Print what messages cost between the ranks of this machine, which algorithms that speaks\n"
                           "for, and how far it is from what is measured.");
  add_ranks(explain, options);
  explain->add_option("--budget", options.budget, "how long it may take (default: 30s)");
  as_file(explain->add_option("--from", options.record, "explain these measurements of weft tune collectives"));
  add_tune_options(explain, options);
}

}  // namespace

CommandLine::CommandLine() : app("weft: an OpenMP runtime under which nested parallelism composes", "weft") {
  app.formatter(std::make_shared<HelpFormat>());
  app.set_version_flag("-V,--version", std::string("weft ") + kWholeVersion);
  app.require_subcommand(1);

  run = app.add_subcommand("run",
                           "weft run [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
                           "Run a dynamically linked OpenMP program (C, C++, Fortran, Python ...) on weft.\n"
                           "Its exit code, signals and streams are its own.");
  add_run_options(run, run_options);
  run->footer(std::string(kExitCodes) +
              "Examples:\n"
              "  weft run ./program --its-own-option\n"
              "  weft run --stats -- python3 app.py\n"
              "  mpirun -n 4 weft run --mpi ./program\n"
              "  mpirun -n 4 weft run --collectives ./program\n"
              "  mpirun -n 4 weft run --node ./program");

  trace = app.add_subcommand(
      "trace",
      "weft trace [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
      "Run the program as `weft run` does and write a timeline of its teams, tasks and waits.\n"
      "https://ui.perfetto.dev and chrome://tracing show it: one track for each CPU that weft uses.");
  as_output(trace->add_option(
                "-o,--output", trace_file,
                "the file; %p in it stands for the process's number, %r for its rank; with --mpi the default is "
                "weft-trace-%r.json"))
      ->capture_default_str();
  add_run_options(trace, run_options);
  trace->footer(std::string(kExitCodes) +
                "  1: there is no trace, or it cannot be written where it is to go; then the program was not run.\n"
                "Examples:\n"
                "  weft trace ./program\n"
                "  weft trace -o process-%p.json --node ./program\n"
                "  mpirun -n 4 weft trace --mpi ./program");

  merge = app.add_subcommand("merge",
                             "weft merge [OPTIONS] TRACE...\n"
                             "Put the traces of the ranks of one run into one file, with messages as arrows.");
  as_output(merge->add_option("-o,--output", merged_file, "the file"))->capture_default_str();
  as_file(merge->add_option("TRACE", merged_traces, "a file that weft trace --mpi has written"))->required();
  merge->footer(
      "Example:\n"
      "  weft merge weft-trace-*.json");

  report = app.add_subcommand("report",
                              "weft report [OPTIONS] [--] PROGRAM [ARGUMENTS...] | FILE.json | PROCESS\n"
                              "Run the program as `weft run` does, and say where the time went: which lines keep CPUs\n"
                              "from the program's work, why, and what to change. Nothing has to be rebuilt; -g adds\n"
                              "lines of sources. A file by weft trace, or by --json of an earlier report, is read. A\n"
                              "process that is recorded so is reported on while it runs.");
  as_output(report->add_option(
                "-o,--output", report_options.page,
                "the page, a file that any browser opens, one for all ranks of an MPI program; %p in it stands for the "
                "process's number, %r for its rank: then each has a page of its own"),
            Stdout::taken)
      ->capture_default_str();
  as_output(report->add_option(
                "--json", report_options.json,
                "write the report for programs into this file, named likewise; -: to stdout, behind what the program "
                "says"),
            Stdout::taken);
  report
      ->add_option("--against", against,
                   "stock: run the program under its own OpenMP runtime too, before, and show both times")
      ->check(CLI::IsMember({"stock"}));
  as_output(report->add_option("--trace", run_options.trace,
                               "write a trace of the same run into this file too, as weft trace does, named likewise"));
  report
      ->add_option_function<std::string>(
          "--time-limit", [this](const std::string& text) { report_options.seconds = seconds_of(text); },
          "end the program after so long: seconds, or with a unit, 90s, 5m, 2h. By SIGTERM, five seconds later by "
          "SIGKILL")
      ->type_name("TIME")
      ->check([](const std::string& text) { return fault_of_time(text); });
  report->add_flag("--quiet", report_options.quiet, "no summary on stderr");
  report->add_flag("--no-source", report_options.no_source,
                   "no lines of the program's sources in the page and the JSON, for those who are not to see them");
  // Not for people: docs/explanation/report.md.
  as_folder(report->add_option("--profile", report_options.profile, "a folder with a profile, in place of a program"))
      ->group("");
  add_run_options(report, run_options);
  report->footer(
      "Exit code:\n"
      "  That of the program, or 128 and the number of the signal that has ended it. 1: there is no report, or no\n"
      "  trace by --trace, or one could not be written. 2: wrong options. 126: the program cannot be executed. 127:\n"
      "  there is none. Of a file that is read: 0, 1 or 2.\n"
      "Examples:\n"
      "  weft report ./program\n"
      "  weft report --json report.json -- python3 app.py\n"
      "  weft report --trace run.json ./program\n"
      "  weft report --time-limit 30s ./server\n"
      "  weft report -o page.html weft-trace.json\n"
      "  mpirun -n 4 weft report --mpi ./program");

  compare =
      app.add_subcommand("compare",
                         "weft compare BEFORE.json[,...] AFTER.json[,...] | -- A [ARGUMENTS...] -- B [ARGUMENTS...]\n"
                         "Say what changed between two runs, or between several runs of each side, with commas\n"
                         "between: then only what is more than the runs of one side differ by. Or run two programs\n"
                         "in turn, their standard output thrown away, until it is clear which one is faster.");
  as_file(compare->add_option("FILE", compare_options.sides, "reports that weft report --json has written"))
      ->expected(2, 1000);
  compare
      ->add_option_function<std::string>(
          "--time-limit", [this](const std::string& text) { duel_seconds = seconds_of(text); },
          "of programs: begin no new round after so long, though it is not clear (default: 60s)")
      ->type_name("TIME")
      ->check([](const std::string& text) { return fault_of_time(text); });
  add_json(compare, compare_options.json);
  compare->footer(
      "Exit code:\n  0. 1: a file cannot be read, or is no report. 2: wrong options. Of programs, that of one that "
      "fails.\n"
      "Examples:\n"
      "  weft compare a1.json,a2.json,a3.json b1.json,b2.json,b3.json\n"
      "  weft compare -- ./program -- weft run ./program");

  numa = app.add_subcommand("numa",
                            "weft numa [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
                            "Say where the memory of a program lies, which NUMA nodes use it, and what to change.\n"
                            "In place of the program: the number of a process that runs already. With an option of\n"
                            "weft run the program runs on weft, else as it is.");
  as_output(
      numa->add_option("-o,--output", numa_options.output,
                       "write the report for people into this file; -: to stdout; %p in the names of files stands "
                       "for the process's number, %r for its rank"),
      Stdout::taken);
  add_json(numa, numa_options.json);
  as_output(numa->add_option("--svg", numa_options.picture,
                             "draw each array, its pages coloured by node, into this file; -: to stdout"),
            Stdout::taken);
  numa->add_option("--touch", numa_options.touch,
                   "whose accesses are noted: off, first (since the allocation), sample (default: again and again)")
      ->check(CLI::IsMember({"off", "first", "sample"}));
  numa->add_flag("--protect", numa_options.protect,
                 "see who uses memory later too: protect a few pages now and then. Not for programs whose system calls "
                 "do not go through the C library, such as those in Go");
  numa->add_option("--min-size", numa_options.least_size,
                   "smallest block that is an array, with K, M or G behind (default: 1M)")
      ->type_name("SIZE");
  add_run_options(numa, run_options);
  numa->footer(
      "Report:\n"
      "  Without -o it goes to stderr, behind what the program has said; of a process that runs, to stdout.\n"
      "Exit code:\n"
      "  That of the program, or 128 and the number of the signal that has ended it. 1: the report could not be\n"
      "  written. 2: wrong options. 126: the program cannot be executed. 127: there is none.\n"
      "Examples:\n"
      "  weft numa ./program\n"
      "  weft numa --protect ./program\n"
      "  weft numa --json report.json --svg report.svg -- python3 app.py\n"
      "  weft numa --node ./program\n"
      "  weft numa 4711");

  node = app.add_subcommand("node", "The processes that share the CPUs of this node (weft run --node, WEFT_NODE=1).");
  node->require_subcommand(1);
  node_status = node->add_subcommand("status", "Print the processes that share the node, and what each of them has.");
  add_json(node_status, node_json);
  node_status->footer(kColumns);
  node_reset = node->add_subcommand("reset", "Remove the file that the processes of the node share.");
  node_reset->add_flag("--force", node_force, "even if there are processes: they go on alone");

  doctor = app.add_subcommand(
      "doctor",
      "weft doctor [OPTIONS] [--] [PROGRAM | PROCESS]\n"
      "Say what usually goes wrong, the likely things first, each with the line that mends it: of a\n"
      "program, which is not run, of a process, or of what any program would find in this shell.");
  add_json(doctor, doctor_options.json);
  doctor->footer("Examples:\n  weft doctor -- ./program\n  weft doctor 4711");

  threads =
      app.add_subcommand("threads",
                         "weft threads [OPTIONS] PROCESS | CORE\n"
                         "Say what each thread of a program on weft does, what it waits for, and whether some of them\n"
                         "can never go on: of one that runs, or that has left a core file. A process answers itself:\n"
                         "no debugger, no rights of root.");
  add_json(threads, threads_options.json);
  threads
      ->add_option_function<std::string>(
          "process",
          [this](const std::string& text) {
            if (!is_process_number(text)) {
              threads_options.core = text;
            } else {
              threads_options.process = std::stoi(text);
            }
          },
          "the number of the process, or the name of a core file")
      ->required()
      ->type_name("PROCESS | CORE")
      ->check([](const std::string& text) {
        return is_process_number(text) || std::filesystem::is_regular_file(text)
                   ? ""
                   : text + ": the number of a process is wanted, or a core file";
      });
  threads->add_flag("--stacks", threads_options.stacks, "with the whole stack of each thread that waits");
  threads->footer("Examples:\n  weft threads 4711\n  weft threads core");

  top = app.add_subcommand(
      "top",
      "Show the processes that run on weft, and those that share the node, again and again; q ends.\nOnce with --json, "
      "or if stdout is no terminal.");
  top->add_flag("--once", top_options.once, "print once");
  CLI::Option* const tree =
      top->add_flag("--tree", top_options.tree, "show them below the processes that have begun them (key: t)");
  CLI::Option* const filter = top->add_option("--filter", top_options.filter,
                                              "only processes on weft whose command or number has this text (key: /)")
                                  ->type_name("TEXT");
  CLI::Option* const top_json = add_json(top, top_options.json);
  as_output(top->add_option(
                "--openmetrics", top_options.openmetrics,
                "for Prometheus, until SIGTERM or Ctrl-C: into this file, whose name ends in .prom, for node_exporter "
                "or a web server; or -: to stdout, once"),
            Stdout::taken)
      ->excludes(top_json)
      ->excludes(tree)
      ->excludes(filter)
      ->check([](const std::string& text) {
        MetricsPlace place;
        return parse_metrics_place(text, place);
      });
  top->add_option("--interval", top_options.seconds,
                  "seconds between two looks (default: 1; 10 for a file of --openmetrics)")
      ->check([](const std::string& text) { return fault_of_number(text, 0.1, 3600); });
  top->footer(std::string(kColumns) +
              "Examples:\n"
              "  weft top --tree\n"
              "  weft top --filter simulate\n"
              "  weft top --once --json node.json\n"
              "  weft top --openmetrics /var/lib/prometheus/node-exporter/weft.prom");

  add_tune(app, tune, tune_options);

  info =
      app.add_subcommand("info",
                         "weft info [OPTIONS] [--] [PROGRAM]\n"
                         "Print what weft sees on this machine and would do, and whether a program's OpenMP would run\n"
                         "on weft. None of the program's code runs.");
  add_json(info, info_json);
}

}  // namespace weft::tools
