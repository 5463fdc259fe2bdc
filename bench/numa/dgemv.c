// SPDX-License-Identifier: Apache-2.0
// A matrix times a vector, c = A b, row by row, and where A lies.
//
//   dgemv ROWS COLUMNS REPETITIONS serial|parallel
//
// The matrix is initialised by one thread, or by those that will use it. Each thread has consecutive rows, the last one
// those that are left over. Prints one line of JSON: seconds of one product without threads and with them, the share of
// A's bytes that threads read from other nodes than their own, pages of A by node, pages that automatic balancing moved.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMostNodes = 64, kPagesAtOnce = 1024 };

static size_t rows, columns;

typedef struct {
  size_t first, end;
} range;

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

// Pages of [from, to) by node; those whose node is not known are left out.
static void count_pages(const char* from, const char* to, long nodes[kMostNodes]) {
  const long page = sysconf(_SC_PAGESIZE);
  const char* at = from - (size_t)from % (size_t)page;
  while (at < to) {
    void* pages[kPagesAtOnce];
    int status[kPagesAtOnce];
    unsigned long count = 0;
    for (; count < kPagesAtOnce && at < to; at += page) pages[count++] = (void*)at;
    if (syscall(SYS_move_pages, 0, count, pages, NULL, status, 0) != 0) return;
    for (unsigned long i = 0; i < count; i++) {
      if (status[i] >= 0 && status[i] < kMostNodes) nodes[status[i]]++;
    }
  }
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
  syscall(SYS_getcpu, &cpu, &node, NULL);
  return (int)node;
}

// The share of the bytes that all threads read from other nodes.
static double remote_share(const double* a) {
  long own = 0, other = 0;
#pragma omp parallel reduction(+ : own, other)
  {
    long nodes[kMostNodes] = {0};
    const range mine = rows_of(omp_get_thread_num(), omp_get_num_threads());
    count_pages((const char*)(a + mine.first * columns), (const char*)(a + mine.end * columns), nodes);
    const int here = node_of_this_thread();
    for (int node = 0; node < kMostNodes; node++) *(node == here ? &own : &other) += nodes[node];
  }
  return own + other > 0 ? (double)other / (double)(own + other) : 0;
}

int main(int count, char** arguments) {
  if (count != 5 || (strcmp(arguments[4], "serial") != 0 && strcmp(arguments[4], "parallel") != 0)) {
    fprintf(stderr, "usage: dgemv ROWS COLUMNS REPETITIONS serial|parallel\n");
    return 2;
  }
  rows = strtoul(arguments[1], NULL, 10);
  columns = strtoul(arguments[2], NULL, 10);
  const int repetitions = atoi(arguments[3]);
  const int parallel = arguments[4][0] == 'p';
  if (rows == 0 || columns == 0 || repetitions < 1) {
    fprintf(stderr, "dgemv: rows, columns and repetitions are numbers from 1 on\n");
    return 2;
  }
  double *a = allocate(rows * columns), *b = allocate(columns), *c = allocate(rows);
  if (parallel) {
#pragma omp parallel
    fill(a, c, rows_of(omp_get_thread_num(), omp_get_num_threads()));
  } else {
    fill(a, c, (range){0, rows});
  }
  for (size_t j = 0; j < columns; j++) b[j] = (double)j;

  double alone = omp_get_wtime();
  multiply(a, b, c, (range){0, rows});
  alone = omp_get_wtime() - alone;
  const double expected = c[rows - 1];
  const double remote_before = remote_share(a);
  const long migrated_before = pages_migrated();
  double together = omp_get_wtime();
  int threads = 0;
  for (int i = 0; i < repetitions; i++) {
#pragma omp parallel
    {
#pragma omp single nowait
      threads = omp_get_num_threads();
      multiply(a, b, c, rows_of(omp_get_thread_num(), omp_get_num_threads()));
    }
  }
  together = (omp_get_wtime() - together) / repetitions;
  if (c[rows - 1] != expected) {
    fprintf(stderr, "dgemv: the products differ\n");
    return 1;
  }
  printf("{\"rows\": %zu, \"columns\": %zu, \"threads\": %d, \"first_touch\": \"%s\", \"alone_s\": %.6f, "
         "\"together_s\": %.6f, \"remote_before\": %.4f, \"remote\": %.4f, \"migrated\": %ld, \"pages\": {",
         rows, columns, threads, arguments[4], alone, together, remote_before, remote_share(a),
         pages_migrated() - migrated_before);
  long nodes[kMostNodes] = {0};
  count_pages((const char*)a, (const char*)(a + rows * columns), nodes);
  const char* separator = "";
  for (int node = 0; node < kMostNodes; node++) {
    if (nodes[node] == 0) continue;
    printf("%s\"%d\": %ld", separator, node, nodes[node]);
    separator = ", ";
  }
  printf("}}\n");
  return 0;
}
