/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The environment of the helper program (vet.c). Loaders cut the lists of drivers in it into words where they lie, so
 * that a child would see the first driver alone: copies are kept from before the loader is asked anything.
 */
#define _GNU_SOURCE /* environ */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"

#define MOST_KEPT 16
static char *kept[MOST_KEPT];
static size_t kept_count;

static const char *const loader_prefixes[] = {"OCL_ICD_", "OPENCL_LAYER"};

static bool is_loaders(const char *variable) {
  for (size_t i = 0; i < sizeof loader_prefixes / sizeof loader_prefixes[0]; i++)
    if (strncmp(variable, loader_prefixes[i], strlen(loader_prefixes[i])) == 0) return true;
  return false;
}

void red_cl_keep_environment(void) {
  for (size_t i = 0; environ != NULL && environ[i] != NULL && kept_count < MOST_KEPT; i++) {
    if (!is_loaders(environ[i])) continue;
    kept[kept_count] = strdup(environ[i]);
    if (kept[kept_count] != NULL) kept_count++;
  }
}

/* The copy of a variable, unless the application has removed or changed it since: cut words are a beginning of it. */
static char *as_it_was(char *variable) {
  for (size_t k = 0; k < kept_count; k++)
    if (strncmp(kept[k], variable, strlen(variable)) == 0) return kept[k];
  return variable;
}

char **red_cl_helper_environment(void) {
  static char alone[] = "RED_OPENCL_PROBE=0"; /* the helper does the test itself */
  size_t count = 0, used = 0;
  while (environ != NULL && environ[count] != NULL) count++;
  char **list = calloc(count + 2, sizeof *list);
  if (list == NULL) return NULL;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], "RED_OPENCL_PROBE=", 17) != 0)
      list[used++] = is_loaders(environ[i]) ? as_it_was(environ[i]) : environ[i];
  list[used] = alone;
  return list;
}
