// SPDX-License-Identifier: Apache-2.0
// A matrix times a vector, c = A b, row by row, and on which NUMA nodes they lie.
//
//   dgemv ROWS COLUMNS REPETITIONS serial|parallel|interleaved [THREADS]
//
// REPETITIONS is a number, or as 5s: as many as take that long. The matrix is initialised by one thread, by those that
// will use it, or by one with pages dealt out to the nodes. Each thread has consecutive rows, the last one also those
// that are left over. Prints JSON: seconds of one product without threads and with them, bytes of each array by node,
// the node of each thread in the first and in the last product, pages that automatic balancing moved meanwhile. What
// threads access locally and remotely is by the model that each byte of A, b and c that a thread needs comes from
// memory once for each product.
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/report.h"

enum { kMostNodes = 64, kPagesAtOnce = 1024 };

static size_t rows, columns;

typedef struct {
  size_t first, end;
} range;

typedef struct {
  long bytes[kMostNodes];
} by_node;

typedef struct {
  double local, remote;  // bytes
} accesses;

static range rows_of(int thread, int threads) {
  const size_t each = rows / (size_t)threads;
  const size_t first = (size_t)thread * each;
  return (range){first, thread == threads - 1 ? rows : first + each};
}

static void multiply(const double* a, const double* b, double* c, range mine) {
  for (size_t i = mine.first; i < mine.end; i++) {
    double sum = 0;
    for (size_t j = 0; j < columns; j++) sum += a[i * columns + j] * b[j];
    c[i] = sum;
  }
}

static void fill(double* a, double* c, range mine) {
  for (size_t i = mine.first; i < mine.end; i++) {
    for (size_t j = 0; j < columns; j++) a[i * columns + j] = (double)(i + j);
    c[i] = 0;
  }
}

static double* allocate(size_t count) {
  const size_t bytes = count * sizeof(double);
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "dgemv: no memory for %zu MB\n", bytes >> 20);
    exit(1);
  }
  // A page is a page: a large one would be on one node for several threads.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

static void interleave(double* memory, size_t count) {
  enum { kInterleave = 3, kNodesAllowed = 1 << 2, kWords = 16 };  // of the kernel's interface
  unsigned long nodes[kWords] = {0};
  const unsigned long most = kWords * 8 * sizeof *nodes;
  if (syscall(SYS_get_mempolicy, NULL, nodes, most, NULL, kNodesAllowed) == 0 &&
      syscall(SYS_mbind, memory, count * sizeof *memory, kInterleave, nodes, most, 0) == 0) {
    return;
  }
  perror("dgemv: the kernel does not interleave");
  exit(1);
}

// Bytes of `count` doubles by node; those whose node is not known are left out.
static by_node find(const double* array, size_t count) {
  by_node found = {{0}};
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const char* const begin = (const char*)array;
  const char* const end = (const char*)(array + count);
  const char* at = begin - (size_t)begin % page;
  while (at < end) {
    void* pages[kPagesAtOnce];
    int status[kPagesAtOnce];
    unsigned long asked = 0;
    for (const char* next = at; asked < kPagesAtOnce && next < end; next += page) pages[asked++] = (void*)next;
    if (syscall(SYS_move_pages, 0, asked, pages, NULL, status, 0) != 0) return found;
    for (unsigned long i = 0; i < asked; i++, at += page) {
      const char* from = at < begin ? begin : at;
      const char* to = at + page < end ? at + page : end;
      if (status[i] >= 0 && status[i] < kMostNodes) found.bytes[status[i]] += to - from;
    }
  }
  return found;
}

static long pages_migrated(void) {
  long value = 0;
  char line[256];
  FILE* file = fopen("/proc/vmstat", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "numa_pages_migrated ", 20) == 0) value = atol(line + 20);
  }
  fclose(file);
  return value;
}

static int node_of_this_thread(void) {
  unsigned cpu = 0, node = 0;
  return getcpu(&cpu, &node) == 0 && node < kMostNodes ? (int)node : 0;
}

static void add(accesses* to, const by_node* found, int node) {
  for (int other = 0; other < kMostNodes; other++) *(other == node ? &to->local : &to->remote) += found->bytes[other];
}

// What all threads access in one product, with the arrays where they lie now.
static accesses in_one_product(const double* a, const double* b, const double* c, const int* nodes, int threads) {
  accesses all = {0, 0};
  const by_node of_b = find(b, columns);
  for (int thread = 0; thread < threads; thread++) {
    const range mine = rows_of(thread, threads);
    const by_node of_a = find(a + mine.first * columns, (mine.end - mine.first) * columns);
    const by_node of_c = find(c + mine.first, mine.end - mine.first);
    add(&all, &of_a, nodes[thread]);
    add(&all, &of_b, nodes[thread]);
    add(&all, &of_c, nodes[thread]);
  }
  return all;
}

static double remote_share(accesses all) {
  return all.local + all.remote > 0 ? all.remote / (all.local + all.remote) : 0;
}

static void report_nodes(const char* name, by_node found, long unit) {
  printf(",\"%s\":{", name);
  const char* separator = "";
  for (int node = 0; node < kMostNodes; node++) {
    if (found.bytes[node] == 0) continue;
    printf("%s\"%d\":%ld", separator, node, (found.bytes[node] + unit - 1) / unit);
    separator = ",";
  }
  putchar('}');
}

static void report_threads(const char* name, const int* nodes, int threads) {
  printf(",\"%s\":[", name);
  for (int thread = 0; thread < threads; thread++) printf(thread > 0 ? ",%d" : "%d", nodes[thread]);
  putchar(']');
}

static int fail(const char* text) {
  fprintf(stderr, "dgemv: %s\nusage: dgemv ROWS COLUMNS REPETITIONS serial|parallel|interleaved [THREADS]\n", text);
  return 2;
}

int main(int count, char** arguments) {
  if (count != 5 && count != 6) return fail("four or five arguments are wanted");
  rows = strtoul(arguments[1], NULL, 10);
  columns = strtoul(arguments[2], NULL, 10);
  char* suffix = NULL;
  const long wanted = strtol(arguments[3], &suffix, 10);
  const char* first_touch = arguments[4];
  const int is_parallel = strcmp(first_touch, "parallel") == 0;
  const int is_interleaved = strcmp(first_touch, "interleaved") == 0;
  if (!is_parallel && !is_interleaved && strcmp(first_touch, "serial") != 0) return fail(first_touch);
  if (rows == 0 || columns == 0 || rows > (1UL << 40) / columns) return fail("rows and columns are numbers from 1 on");
  if (wanted < 1 || (*suffix != 0 && strcmp(suffix, "s") != 0))
    return fail("repetitions are a number from 1 on, or seconds: 5s");
  if (count == 6) {
    if (atoi(arguments[5]) < 1) return fail("threads are a number from 1 on");
    omp_set_num_threads(atoi(arguments[5]));
  }
  const long least = *suffix == 0 ? wanted : 1;
  const double seconds = *suffix == 0 ? 0 : (double)wanted;

  double *a = allocate(rows * columns), *b = allocate(columns), *c = allocate(rows);
  if (is_interleaved) {
    interleave(a, rows * columns);
    interleave(b, columns);
    interleave(c, rows);
  }
  if (is_parallel) {
#pragma omp parallel
    fill(a, c, rows_of(omp_get_thread_num(), omp_get_num_threads()));
  } else {
    fill(a, c, (range){0, rows});
  }
  for (size_t j = 0; j < columns; j++) b[j] = (double)j;

  double alone = now();
  multiply(a, b, c, (range){0, rows});
  alone = now() - alone;
  double* expected = allocate(rows);
  memcpy(expected, c, rows * sizeof *c);
  const size_t most_threads = (size_t)omp_get_max_threads();
  int* first_nodes = calloc(most_threads, sizeof *first_nodes);
  int* last_nodes = calloc(most_threads, sizeof *last_nodes);
  if (first_nodes == NULL || last_nodes == NULL) return 1;

  int threads = 1;
  long done = 0;
  accesses before = {0, 0};
  const long migrated_before = pages_migrated();
  double together = 0;
  // The first product tells where threads are, before balancing moves anything. It is not timed: it starts the threads.
  do {
    const double began = now();
#pragma omp parallel
    {
      const int thread = omp_get_thread_num();
      last_nodes[thread] = node_of_this_thread();
#pragma omp single nowait
      threads = omp_get_num_threads();
      multiply(a, b, c, rows_of(thread, omp_get_num_threads()));
    }
    if (done == 0) {
      memcpy(first_nodes, last_nodes, most_threads * sizeof *first_nodes);
      before = in_one_product(a, b, c, first_nodes, threads);
    } else {
      together += now() - began;
    }
  } while (++done <= least || together < seconds);
  together /= (double)(done - 1);
  if (memcmp(c, expected, rows * sizeof *c) != 0) {
    fprintf(stderr, "dgemv: the products differ\n");
    return 1;
  }
  const accesses after = in_one_product(a, b, c, last_nodes, threads);
  const by_node of_a = find(a, rows * columns);
  begin_report();
  report_number("rows", (double)rows);
  report_number("columns", (double)columns);
  report_number("repetitions", (double)(done - 1));
  report_number("team", threads);
  report_text("first_touch", first_touch);
  report_number("alone_s", alone);
  report_number("together_s", together);
  report_number("gflops", 2e-9 * (double)rows * (double)columns / together);
  report_number("remote_before", remote_share(before));
  report_number("remote", remote_share(after));
  report_number("local_bytes", after.local);
  report_number("remote_bytes", after.remote);
  report_number("migrated", (double)(pages_migrated() - migrated_before));
  report_nodes("pages", of_a, sysconf(_SC_PAGESIZE));
  report_nodes("bytes_a", of_a, 1);
  report_nodes("bytes_b", find(b, columns), 1);
  report_nodes("bytes_c", find(c, rows), 1);
  report_threads("nodes_first", first_nodes, threads);
  report_threads("nodes_last", last_nodes, threads);
  end_report();
  return 0;
}
