// SPDX-License-Identifier: Apache-2.0
// What order costs: nanoseconds of one task with dependences, of one task of a taskloop, of one iteration of an ordered
// loop or a doacross loop.

#include "common/measure.h"

// Each task waits for the one before.
static double chain(const measurement* self, long count) {
  (void)self;
  __attribute__((unused)) int link = 0;
  const double start = now();
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < count; i++) {
#pragma omp task depend(inout : link) shared(link)
    __asm__ volatile("");
  }
  return now() - start;
}

// Waves: one task writes, `a` read what it wrote, then the next writes.
static double fan(const measurement* self, long count) {
  __attribute__((unused)) int value = 0;
  const long waves = (count + self->a) / (self->a + 1);
  const double start = now();
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < waves; i++) {
#pragma omp task depend(out : value) shared(value)
    __asm__ volatile("");
    for (int k = 0; k < self->a; k++) {
#pragma omp task depend(in : value) shared(value)
      __asm__ volatile("");
    }
  }
  return (now() - start) * (double)count / (double)(waves * (self->a + 1));
}

// A wavefront: each cell of a grid waits for the one above and the one to its left. `b` units of work each.
static double wavefront(const measurement* self, long count) {
  enum { width = 32 };
  __attribute__((unused)) static char cell[width + 1][width + 1];
  const long grids = (count + width * width - 1) / (width * width);
  const int units = self->b;
  const double start = now();
#pragma omp parallel
#pragma omp single
  for (long g = 0; g < grids; g++) {
    for (int i = 1; i <= width; i++) {
      for (int k = 1; k <= width; k++) {
#pragma omp task depend(in : cell[i - 1][k], cell[i][k - 1]) depend(out : cell[i][k])
        work(units);
      }
    }
  }
  return (now() - start) * (double)count / (double)(grids * width * width);
}

// Tasks of one iteration each, `a` of them in one construct, `b` units of work in each.
static double taskloop(const measurement* self, long count) {
  const int units = self->b;
  const long loops = (count + self->a - 1) / self->a;
  const double start = now();
#pragma omp parallel
#pragma omp single
  for (long n = 0; n < loops; n++) {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < self->a; i++) work(units);
  }
  return (now() - start) * (double)count / (double)(loops * self->a);
}

// Each iteration waits for the one before; what it does first, `b` units of work, need not wait.
static double doacross(const measurement* self, long count) {
  const int units = self->b;
  const double start = now();
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (long i = 0; i < count; i++) {
    work(units);
#pragma omp ordered depend(sink : i - 1)
    __asm__ volatile("");
#pragma omp ordered depend(source)
  }
  return now() - start;
}

// A wavefront over rows: a member has a row, and waits for the row above.
static double doacross_rows(const measurement* self, long count) {
  enum { width = 64 };
  const long rows = (count + width - 1) / width;
  const int units = self->b;
  const double start = now();
#pragma omp parallel for ordered(2) schedule(static, 1)
  for (long i = 0; i < rows; i++) {
    for (long k = 0; k < width; k++) {
#pragma omp ordered depend(sink : i - 1, k)
      work(units);
#pragma omp ordered depend(source)
    }
  }
  return (now() - start) * (double)count / (double)(rows * width);
}

static double ordered(const measurement* self, long count) {
  const int units = self->b;
  const double start = now();
#pragma omp parallel for ordered schedule(static, 1)
  for (long i = 0; i < count; i++) {
    work(units);
#pragma omp ordered
    __asm__ volatile("");
  }
  return now() - start;
}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {{.name = "depend_chain", .run = chain},
                                             {.name = "depend_fan", .run = fan, .a = 64},
                                             {.name = "depend_grid", .run = wavefront},
                                             {.name = "depend_grid_work", .run = wavefront, .b = 20},
                                             {.name = "taskloop", .run = taskloop, .a = 1000},
                                             {.name = "taskloop_work", .run = taskloop, .a = 1000, .b = 10},
                                             {.name = "taskloop_small", .run = taskloop, .a = 16},
                                             {.name = "doacross", .run = doacross},
                                             {.name = "doacross_work", .run = doacross, .b = 10},
                                             {.name = "doacross_rows", .run = doacross_rows, .b = 2},
                                             {.name = "ordered", .run = ordered},
                                             {.name = "ordered_work", .run = ordered, .b = 10},
                                             {0}};
  return measure_family(argument_count, arguments, "dataflow", measurements);
}
