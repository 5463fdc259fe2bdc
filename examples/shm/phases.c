/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of a lookup goes: in finding the line of a table, or in copying it. Needs the header alone:
 * cc -O2 phases.c && ./a.out */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/phase_counter.h>

enum { LINES = 100000, LOOKUPS = 200000 };

struct line {
  unsigned key;
  char text[252];
};

static struct line *table;
static weft_phase_counter counter;

static int before(const void *left, const void *right) {
  const unsigned a = ((const struct line *)left)->key, b = ((const struct line *)right)->key;
  return (a > b) - (a < b);
}

static int look_up(unsigned key, char *text) {
  const struct line wanted = {.key = key};
  const struct line *found;
  WEFT_PHASE(&counter, 1);
  found = bsearch(&wanted, table, LINES, sizeof(*table), before);
  WEFT_PHASE(&counter, 2);
  if (found == NULL) return 0; /* not counted: the last point is not passed */
  memcpy(text, found->text, sizeof(found->text));
  WEFT_PHASE(&counter, 3);
  weft_phase_record(&counter);
  return 1;
}

int main(void) {
  char text[sizeof(table->text)];
  unsigned hits = 0;
  unsigned random = 1;
  table = calloc(LINES, sizeof(*table));
  if (table == NULL) return 1;
  for (unsigned i = 0; i < LINES; ++i) table[i].key = 2 * i;
  weft_phase_init(&counter, 3);
  for (int i = 0; i < LOOKUPS; ++i) {
    random = random * 1664525u + 1013904223u;
    hits += (unsigned)look_up((random >> 8) % (2 * LINES), text);
  }
  printf("%u of %d keys were there\n", hits, LOOKUPS);
  weft_phase_print_head(stdout, 3, "lookups");
  weft_phase_print(stdout, "that hit", &counter);
  free(table);
  return 0;
}
