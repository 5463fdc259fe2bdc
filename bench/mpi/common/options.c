// SPDX-License-Identifier: Apache-2.0
#include "mpi/common/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_usage(FILE* out, const struct program_option* known) {
  fprintf(out, "options of %s:\n", program_invocation_short_name);
  for (; known->name; known++) {
    const char* value = known->flag ? "" : known->count ? " N" : " TEXT";
    fprintf(out, "  --%s%s: %s", known->name, value, known->help);
    if (known->count) fprintf(out, " (%d)", *known->count);
    fputc('\n', out);
  }
}

void refuse_option(const struct program_option* known, const char* name, const char* value) {
  fprintf(stderr, "%s: --%s %s: no such value\n", program_invocation_short_name, name, value);
  write_usage(stderr, known);
  exit(2);
}

static const struct program_option* option_named(const struct program_option* known, const char* word) {
  if (strncmp(word, "--", 2) != 0) return NULL;
  while (known->name && strcmp(known->name, word + 2) != 0) known++;
  return known->name ? known : NULL;
}

static void take(const struct program_option* known, const struct program_option* option, const char* value) {
  if (option->text) {
    *option->text = value;
    return;
  }
  char* end;
  const long number = strtol(value, &end, 10);
  if (end == value || *end || number < 1 || number > INT_MAX) refuse_option(known, option->name, value);
  *option->count = (int)number;
}

void parse_options(int argument_count, char** arguments, const struct program_option* known) {
  for (int i = 1; i < argument_count; i++) {
    if (strcmp(arguments[i], "--help") == 0) {
      write_usage(stdout, known);
      exit(0);
    }
    const struct program_option* option = option_named(known, arguments[i]);
    if (option && option->flag) {
      *option->flag = true;
    } else if (option && i + 1 < argument_count) {
      i++;
      take(known, option, arguments[i]);
    } else {
      fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, arguments[i],
              option ? "its value is missing" : "no such option");
      write_usage(stderr, known);
      exit(2);
    }
  }
}
