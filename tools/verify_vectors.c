/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify.h"

#include <stdlib.h>
#include <string.h>

#include "vector.h"

static void check_vector(struct tally *tally, red_context *context, route_fn route, const red_vector *vector) {
  red_vector_why why = {""};
  void *in = red_vector_input(vector, &why), *out = red_vector_output(vector);
  if (in && out) {
    const red_status status = route(context, &vector->problem, in, red_vector_second(vector, in), out);
    if (status == RED_ERR_UNSUPPORTED)
      tally_skip(tally, red_last_error());
    else if (red_vector_matches(vector, status, out, &why))
      tally_pass(tally);
    else
      tally_fail(tally, "known answer", why.text);
  } else
    tally_fail(tally, vector->id, in ? "out of memory" : why.text);
  free(in);
  free(out);
}

void verify_vectors(struct tally *tally, red_context *context, route_fn route, const struct vector_file *file) {
  for (size_t i = 0; i < file->count; i++) {
    red_vector vector;
    red_vector_why why = {""};
    if (red_vector_parse(file->lines[i], &vector, &why) == 1)
      check_vector(tally, context, route, &vector);
    else
      tally_fail(tally, "a malformed line", why.text);
  }
}
