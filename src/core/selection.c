/* SPDX-License-Identifier: BSD-2-Clause */
/* The grammar of RED_BACKEND: names in order of preference, -name to exclude, auto to end the list. */
#include "registry.h"

#include <string.h>

#include "backends.def"

/* The names a user may know: this build's backends and those that it lacks. */
static bool is_backend_name(const char *name, size_t length) {
  static const char *const names[] = {
#define X(name) #name,
      RED_BACKENDS(X)
#undef X
#define X(name, reason) #name,
          RED_BACKENDS_ABSENT(X)
#undef X
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) return true;
  return false;
}

static const char *known_names(void) {
  return ""
#define X(name) #name ", "
      RED_BACKENDS(X)
#undef X
#define X(name, reason) #name ", "
          RED_BACKENDS_ABSENT(X)
#undef X
              "auto";
}

static red_status add_item(red_selection *selection, const char *item, size_t length) {
  bool exclude = *item == '-';
  if (exclude) item++, length--;
  if (!exclude && length == 4 && memcmp(item, "auto", 4) == 0) {
    selection->automatic = true;
    return RED_OK;
  }
  const char *colon = memchr(item, ':', length);
  size_t name_length = colon != NULL ? (size_t)(colon - item) : length;
  if (!is_backend_name(item, name_length))
    return red_fail(RED_ERR_INVALID, "backend list: unknown backend '%.*s'; expected one of %s", (int)name_length, item,
                    known_names());
  unsigned *count = exclude ? &selection->excluded_count : &selection->count;
  char(*into)[64] = exclude ? selection->excluded : selection->items;
  if (length >= 64 || *count == RED_SELECTION_ITEMS)
    return red_fail(RED_ERR_INVALID, "backend list: more than %d entries, or one longer than 63 characters",
                    RED_SELECTION_ITEMS);
  if (!exclude && selection->automatic)
    return red_fail(RED_ERR_INVALID, "backend list: '%.*s' after auto can never be taken", (int)length, item);
  memcpy(into[*count], item, length);
  into[*count][length] = '\0';
  *count += 1;
  return RED_OK;
}

red_status red_selection_parse(const char *list, red_selection *selection) {
  memset(selection, 0, sizeof *selection);
  for (const char *at = list; at != NULL && *at != '\0';) {
    size_t length = strcspn(at, ",");
    if (length == 0) return red_fail(RED_ERR_INVALID, "backend list '%s': an entry is empty", list);
    red_status status = add_item(selection, at, length);
    if (status != RED_OK) return status;
    at += length;
    if (*at == ',' && *++at == '\0') return red_fail(RED_ERR_INVALID, "backend list '%s' ends with a comma", list);
  }
  if (selection->count == 0) selection->automatic = true;
  return RED_OK;
}
