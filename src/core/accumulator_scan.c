/* SPDX-License-Identifier: BSD-2-Clause */
/* Scans in pieces: each is cut into nodes of the scan tree, whose ordered totals give the carry of the next one. */
#include "accumulator.h"
#include "fpenv.h"
#include "overlap.h"

/* P(count), the initial value included; there is one if anything was appended or the caller gave one. */
static red_state prefix(const red_accumulator *acc) {
  const red_lowered *lowered = &acc->lowered;
  if (!lowered->has_init) return red_forest_prefix(&acc->got.forest, lowered, NULL);
  red_state init = red_state_from_acc(lowered, &lowered->init);
  return red_forest_prefix(&acc->got.forest, lowered, &init);
}

/* P(count) as the initial value of the next piece: the outputs come out as if there had been no cut ... */
static void set_carry(const red_accumulator *acc, red_lowered *piece) {
  piece->has_init = acc->count > 0 || acc->lowered.has_init;
  if (!piece->has_init) return;
  red_lowered store = acc->lowered;
  store.out = store.acc;
  store.out_bytes = store.acc_bytes;
  red_state_store(&store, prefix(acc), acc->count, &piece->init);
}

/* ... but for the last inclusive one, P of the piece's end: there the carry ripples through the nodes before it. */
static void store_end(const red_accumulator *acc, unsigned char *out) {
  if (acc->lowered.kind == RED_INCLUSIVE_SCAN) red_state_store(&acc->lowered, prefix(acc), acc->count, out);
}

static red_status scan_pieces(red_accumulator *acc, const unsigned char *in, uint64_t n, unsigned char *out) {
  while (n > 0) {
    unsigned level = red_accumulator_block_level(acc->count, n);
    uint64_t taken = (uint64_t)1 << level;
    red_lowered piece = acc->piece;
    red_state total;
    piece.n = taken;
    set_carry(acc, &piece);
    red_args args = {.size = sizeof args, .in = in, .out = out};
    red_status status = red_accumulator_run_piece(acc, &piece, &args, &(red_raw){.total = &total});
    if (status != RED_OK) return status;
    red_forest_push(&acc->got.forest, &acc->lowered, level, acc->count >> level, total);
    acc->count += taken;
    in += taken * piece.in_bytes;
    out += taken * piece.out_bytes;
    n -= taken;
    store_end(acc, out - piece.out_bytes);
  }
  return RED_OK;
}

red_status red_accumulator_scan(red_accumulator *acc, const void *in, uint64_t n, void *out) {
  red_status status = red_accumulator_check_piece(acc, in, n);
  if (status != RED_OK) return status;
  if (!red_is_scan(acc->lowered.kind))
    return red_fail(RED_ERR_INVALID, "accumulator is not a scan: use red_accumulator_add");
  if (n == 0) return RED_OK;
  if (out == NULL) return red_fail(RED_ERR_INVALID, "out is NULL, n = %llu", (unsigned long long)n);
  red_lowered whole = acc->lowered;
  whole.n = n;
  status = red_check_overlap(&whole, (uintptr_t)in, (uintptr_t)out);
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter();
  status = scan_pieces(acc, in, n, out);
  red_fpenv_leave(saved);
  acc->failed = status != RED_OK;
  return status;
}
