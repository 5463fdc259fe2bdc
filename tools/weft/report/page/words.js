// SPDX-License-Identifier: Apache-2.0
// What the words of a report mean, for those who read one for the first time.

export const USEFUL = {
  key: "useful",
  word: "Useful work",
  brief: "The program's own work.",
  meaning: "The CPU executed the program, outside of the OpenMP runtime and without waiting.",
};

// In the order of the report's JSON.
export const LOSSES = [
  {
    key: "serial",
    word: "Serial parts",
    brief: "One thread worked, the others had nothing to do.",
    meaning:
      "No parallel region was active, or one thread alone was in a single, masked or critical construct. " +
      "More CPUs do not make such parts faster.",
  },
  {
    key: "imbalance",
    word: "Imbalance",
    brief: "Some had finished while others still worked.",
    meaning:
      "A member of a parallel region waited at the end of a loop or a region, since its own part of the work was " +
      "smaller. Work that is dealt out in smaller parts, or while it runs, evens this out.",
  },
  {
    key: "synchronisation",
    word: "Synchronisation",
    brief: "A thread waited for another one's lock.",
    meaning: "A thread waited to enter a critical construct, to get a lock, or for its turn in an ordered loop.",
  },
  {
    key: "overhead",
    word: "Overhead",
    brief: "The OpenMP runtime was at work itself.",
    meaning:
      "Regions were begun and ended, chunks of loops dealt out, tasks made and found. " +
      "It is large where pieces of work are small.",
  },
  {
    key: "few_threads",
    word: "Few threads",
    brief: "A region had fewer members than there are CPUs.",
    meaning: "All members of the region worked, and CPUs were left over. A setting or the program asks for too few.",
  },
  {
    key: "transfer",
    word: "Transfer",
    brief: "Messages of other processes were awaited.",
    meaning:
      "A CPU waited in a call of MPI, or had nothing to do while tasks awaited messages. Where ranks have unequal work, " +
      "those with less of it wait so.",
  },
  {
    key: "blocked",
    word: "Blocked",
    brief: "A thread that should have worked had no CPU.",
    meaning: "The thread was asleep in the system, for a file say, or another program or library used its CPU.",
  },
];

export const KINDS = {
  program: "the program as a whole",
  serial: "the time outside of parallel regions, behind the region at this line, or since the start",
  region: "a parallel region: a team of threads, its members, executes it",
  loop: "a loop whose iterations are dealt out to the members",
  sections: "blocks of a sections construct, each for one member",
  single: "a block that one member executes while the others wait",
  masked: "a block that only the first member executes",
  taskloop: "a loop whose iterations become tasks",
  task: "a piece of work that any member may execute later",
  barrier: "a point that all members have to reach before any goes on",
  critical: "a block that one thread at a time may be in",
  lock: "a lock that one thread at a time may hold",
  ordered: "a block that is executed in the order of the iterations",
  call: "a call of MPI that waits for other processes",
};

// In the order of the timeline's numbers.
export const DOINGS = [
  { key: "idle", word: "idle", says: "idle" },
  { key: "work", word: "at work", says: "at work" },
  { key: "runtime", word: "in the runtime", says: "in the runtime" },
  { key: "wait", word: "waiting", says: "waiting" },
  { key: "blocked", word: "blocked", says: "without a CPU" },
];

export const ADVICE = {
  small_chunks: "chunks too small",
  short_loop: "region too short",
  uneven_static: "uneven parts",
  serial_part: "serial part",
  nested_serial: "inner region not parallel",
  small_tasks: "tasks too small",
  critical: "critical construct",
  lock: "lock",
  one_node: "memory on one node",
  few_threads: "too few threads",
  other_pool: "threads of another library",
  single_region: "one thread alone",
};

// Who a thread belongs to.
export const OWNERS = {
  other: {
    word: "other",
    meaning: "Threads of other libraries. They never called OpenMP, and compete for the same CPUs.",
  },
  program: { word: "program", meaning: "Threads of the program that called OpenMP." },
  weft: { word: "weft", meaning: "Threads that weft keeps to execute OpenMP's work." },
};
