/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Problems in host memory: aligned pieces of a power of two elements, each a node of the canonical tree, one after the
 * other through the device. So data may be larger than its memory.
 */
#include "room.h"

#include <string.h>

#include "fpenv.h"

typedef struct pieces {
  uint64_t elements; /* of a piece: a power of two; n if there is only one */
  uint64_t count;
  unsigned stages;
} pieces;

static pieces cut(const red_cuda_job *job, uint64_t n, unsigned element_bytes) {
  pieces p = {.elements = job->device->tuning.host_piece_bytes / element_bytes};
  p.count = n == 0 ? 0 : (n - 1) / p.elements + 1;
  if (p.count == 1) p.elements = n;
  p.stages = p.count < RED_CUDA_STAGES ? (unsigned)p.count : RED_CUDA_STAGES;
  return p;
}

static uint64_t length_of(const pieces *p, uint64_t n, uint64_t i) {
  uint64_t rest = n - i * p->elements;
  return rest < p->elements ? rest : p->elements;
}

static unsigned log2_of(uint64_t power) {
  return 63 - (unsigned)__builtin_clzll(power);
}

/* Everything that was begun has ended, whatever it was: buffers may be used again. */
static red_status drain(const red_cuda_job *job, const red_cuda_staging *staging, red_status status) {
  CUresult up = red_cu.StreamSynchronize(staging->up);
  CUresult main = red_cu.StreamSynchronize(job->queue->stream);
  CUresult down = red_cu.StreamSynchronize(staging->down);
  if (status == RED_OK) status = red_cuda_check(up, "uploading host memory");
  if (status == RED_OK) status = red_cuda_check(main, "a kernel failed");
  if (status == RED_OK) status = red_cuda_check(down, "downloading to host memory");
  return status;
}

/* ---- Reductions and statistics
 * -------------------------------------------------------------------------------------------- */

typedef struct gathered {
  const red_lowered *lowered;
  pieces pieces;
  red_forest forest; /* canonical: nodes; otherwise one running state in `state` */
  red_forest sizes;  /* bounded: of magnitudes */
  red_state state;
  red_stats_state *stats;
  red_exact *exact;
  red_moments_forest moments; /* of the variance */
} gathered;

/* Everything but sums and moments, whose order matters. */
static void gather_stats(gathered *all, const red_stats_state *piece, uint64_t first) {
  red_stats_state next = *piece;
  next.argmin.index += first;
  next.argmax.index += first;
  if (first == 0) {
    *all->stats = next;
    return;
  }
  red_stats_merge(all->lowered, all->stats, &next);
}

static void gather_exact(gathered *all, const red_cuda_answer *answer) {
  red_exact piece;
  red_cuda_answer_exact(answer, &piece);
  red_exact_merge(all->exact, &piece);
}

static void gather(gathered *all, const red_cuda_answer *answer, uint64_t i) {
  const red_lowered *lowered = all->lowered;
  if (lowered->exact) {
    gather_exact(all, answer);
    return;
  }
  red_state state = red_cuda_answer_state(answer);
  unsigned level = all->pieces.count > 1 ? log2_of(all->pieces.elements / red_chunk_elements(lowered)) : 0;
  if (lowered->kind == RED_STATS) {
    red_stats_state piece;
    red_cuda_answer_stats(answer, lowered, length_of(&all->pieces, lowered->n, i), &piece);
    gather_stats(all, &piece, i * all->pieces.elements);
    if (red_stats_need_moments(lowered)) red_moments_push(&all->moments, level, i, piece.moments);
    state = piece.sum;
  }
  if (lowered->canonical) {
    red_forest_push(&all->forest, lowered, level, i, state);
    if (lowered->bounded) red_forest_push(&all->sizes, lowered, level, i, red_cuda_answer_pair(answer, lowered).size);
  } else if (lowered->kind == RED_REDUCE) {
    state.index += i * all->pieces.elements;
    all->state = i == 0 ? state : red_state_merge(lowered, all->state, state);
  }
}

/* The arrays of a reduction on the host; the second one's pieces lie behind the first one's, `second` bytes on. */
typedef struct inputs {
  const char *array[2];
  bool pinned[2];
  unsigned count;
  uint64_t second;
} inputs;

static inputs inputs_of(const void *in, const void *in2, uint64_t n, const pieces *p, unsigned element_bytes) {
  uint64_t bytes = n * element_bytes;
  inputs arrays = {.array = {in, in2},
                   .pinned = {red_cuda_is_pinned(in, bytes), in2 != NULL && red_cuda_is_pinned(in2, bytes)},
                   .count = in2 != NULL ? 2 : 1};
  if (in2 != NULL) arrays.second = (p->elements * element_bytes + 255) & ~(uint64_t)255;
  return arrays;
}

static red_status reduce_piece(const red_cuda_job *job, red_cuda_staging *staging, const inputs *arrays, uint64_t first,
                               uint64_t n, unsigned stage, red_cuda_question *question) {
  unsigned bytes = job->plan->element.in_bytes;
  red_cuda_source sources[2];
  for (unsigned k = 0; k < arrays->count; k++)
    sources[k] = (red_cuda_source){.from = arrays->array[k] + first * bytes,
                                   .at = k * arrays->second,
                                   .bytes = n * bytes,
                                   .pinned = arrays->pinned[k]};
  red_status status = red_cuda_stage_upload(staging, job->queue, stage, sources, arrays->count);
  if (status == RED_OK) status = red_cuda_ask(job->queue, question);
  if (status != RED_OK) return status;
  red_cuda_job piece = *job;
  piece.in = staging->stage[stage].in;
  piece.in2 = arrays->count == 2 ? piece.in + arrays->second : 0;
  piece.n = n;
  piece.question = question;
  status = red_cuda_reduce_launch(&piece);
  return status == RED_OK ? red_cuda_stage_download(staging, job->queue, stage, NULL, 0, false) : status;
}

static red_status reduce_pieces(const red_cuda_job *job, red_cuda_staging *staging, const inputs *arrays,
                                gathered *all) {
  const pieces *p = &all->pieces;
  red_cuda_question asked[RED_CUDA_STAGES];
  red_status status = RED_OK;
  uint64_t i = 0, taken = 0;
  for (; i < p->count && status == RED_OK; i++) {
    unsigned stage = (unsigned)(i % RED_CUDA_STAGES);
    if (i >= RED_CUDA_STAGES) {
      status = red_cuda_await(job->queue, &asked[taken % RED_CUDA_STAGES]);
      if (status != RED_OK) break;
      gather(all, asked[taken % RED_CUDA_STAGES].answer, taken);
      taken++;
    }
    status = reduce_piece(job, staging, arrays, i * p->elements, length_of(p, job->n, i), stage, &asked[stage]);
  }
  for (; taken < p->count && status == RED_OK; taken++) {
    status = red_cuda_await(job->queue, &asked[taken % RED_CUDA_STAGES]);
    if (status == RED_OK) gather(all, asked[taken % RED_CUDA_STAGES].answer, taken);
  }
  return status;
}

red_status red_cuda_stage_reduce(const red_cuda_job *job, const red_lowered *lowered, const void *in, const void *in2,
                                 red_state *state, red_stats_state *stats, red_exact *exact, red_pair *pair) {
  unsigned bytes = lowered->in_bytes;
  gathered all = {.lowered = lowered,
                  .pieces = cut(job, lowered->n, in2 != NULL ? 2 * bytes : bytes),
                  .stats = stats,
                  .exact = exact};
  red_forest_clear(&all.forest);
  red_forest_clear(&all.sizes);
  if (exact != NULL) red_exact_clear(exact);
  red_moments_clear(&all.moments);
  *state = red_state_identity(lowered);
  if (stats != NULL) *stats = red_stats_identity(lowered);
  if (lowered->n == 0 || lowered->stats == RED_STAT_COUNT) return RED_OK; /* nothing to look at */
  inputs arrays = inputs_of(in, in2, lowered->n, &all.pieces, bytes);
  red_cuda_staging *staging;
  red_status status = red_cuda_staging_get(job->device, job->queue, arrays.second + all.pieces.elements * bytes, 0,
                                           all.pieces.stages, &staging);
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter();
  status = reduce_pieces(job, staging, &arrays, &all);
  if (status != RED_OK) status = drain(job, staging, status);
  if (status == RED_OK) {
    *state = lowered->canonical ? red_forest_root(&all.forest, lowered) : all.state;
    if (stats != NULL && lowered->canonical) stats->sum = *state;
    if (pair != NULL) *pair = (red_pair){*state, red_forest_root(&all.sizes, lowered)};
    if (stats != NULL) stats->moments = red_moments_root(&all.moments);
  }
  red_fpenv_leave(saved);
  return status;
}

/* ---- Scans
 * -------------------------------------------------------------------------------------------------------------------
 */

typedef struct scanning {
  const red_cuda_job *job;
  const red_lowered *lowered;
  red_cuda_staging *staging;
  pieces pieces;
  const char *in;
  char *out;
  bool in_pinned, out_pinned;
  bool ripples;      /* the last output of a whole piece is for the host */
  red_forest forest; /* nodes of the pieces so far */
} scanning;

/* P at the end of the pieces so far. */
static red_state prefix_of(const scanning *s) {
  red_state init = {.u64 = s->job->plan->element.init};
  return red_forest_prefix(&s->forest, s->lowered, s->lowered->has_init ? &init : NULL);
}

/* P at the beginning of piece i, as the initial value of its scan: the kernels count elements from there. */
static uint64_t carry_into(const scanning *s, uint64_t i) {
  red_state carry = prefix_of(s);
  if (s->lowered->finish == RED_FINISH_ALL) return carry.u64 == i * s->pieces.elements ? 0 : UINT64_MAX;
  return carry.u64;
}

/* P at the end of a whole piece is rippled through the nodes of those before it, which kernels do not see. */
static void ripple(const scanning *s, uint64_t i) {
  uint64_t end = (i + 1) * s->pieces.elements;
  if (!s->ripples || end > s->lowered->n) return;
  red_state_store(s->lowered, prefix_of(s), end, s->out + (end - 1) * s->lowered->out_bytes);
}

static red_status scan_piece(scanning *s, uint64_t i, const red_cuda_question *question) {
  const red_lowered *lowered = s->lowered;
  unsigned at = (unsigned)(i % RED_CUDA_STAGES);
  red_cuda_stage *stage = &s->staging->stage[at];
  uint64_t n = length_of(&s->pieces, lowered->n, i);
  red_cuda_element element = s->job->plan->element;
  red_cuda_job piece = *s->job;
  piece.in = stage->in;
  piece.out = stage->out;
  piece.n = n;
  piece.question = question;
  piece.element = &element;
  if (i > 0) {
    element.has_init = true;
    element.init = carry_into(s, i);
    piece.first_known = false;
  }
  red_status status =
      red_cuda_check(red_cu.StreamWaitEvent(s->job->queue->stream, stage->downloaded, 0), "cuStreamWaitEvent");
  if (status == RED_OK) status = red_cuda_scan_launch(&piece);
  if (status != RED_OK) return status;
  char *to = s->out + i * s->pieces.elements * lowered->out_bytes;
  return red_cuda_stage_download(s->staging, s->job->queue, at, to, n * lowered->out_bytes, s->out_pinned);
}

static red_status upload_piece(scanning *s, uint64_t i) {
  unsigned bytes = s->lowered->in_bytes;
  red_cuda_source source = {.from = s->in + i * s->pieces.elements * bytes,
                            .bytes = length_of(&s->pieces, s->lowered->n, i) * bytes,
                            .pinned = s->in_pinned};
  return red_cuda_stage_upload(s->staging, s->job->queue, (unsigned)(i % RED_CUDA_STAGES), &source, 1);
}

/* Its total has been taken, if it is a whole one. */
static red_status piece_arrives(scanning *s, uint64_t i) {
  unsigned bytes = s->lowered->out_bytes;
  red_status status =
      red_cuda_stage_arrive(s->staging, (unsigned)(i % RED_CUDA_STAGES), s->out + i * s->pieces.elements * bytes,
                            length_of(&s->pieces, s->lowered->n, i) * bytes, s->out_pinned);
  if (status == RED_OK) ripple(s, i);
  return status;
}

/* The total of piece i, which the next one waits for. */
static red_status take_total(scanning *s, uint64_t i, const red_cuda_question *question) {
  red_status status = red_cuda_await(s->job->queue, question);
  if (status != RED_OK) return status;
  red_forest_push(&s->forest, s->lowered, log2_of(s->pieces.elements), i, red_cuda_answer_state(question->answer));
  return RED_OK;
}

static red_status scan_pieces(scanning *s, bool total) {
  red_cuda_question question;
  red_status status = upload_piece(s, 0);
  for (uint64_t i = 0; i < s->pieces.count && status == RED_OK; i++) {
    bool asks = i + 1 < s->pieces.count || total;
    if (i + 1 < s->pieces.count) status = upload_piece(s, i + 1);
    if (status == RED_OK && i > 0) status = take_total(s, i - 1, &question);
    if (status == RED_OK && asks) status = red_cuda_ask(s->job->queue, &question);
    if (status == RED_OK) status = scan_piece(s, i, asks ? &question : NULL);
    if (status == RED_OK && i > 0) status = piece_arrives(s, i - 1);
  }
  if (status == RED_OK && total) status = take_total(s, s->pieces.count - 1, &question);
  return status == RED_OK ? piece_arrives(s, s->pieces.count - 1) : status;
}

red_status red_cuda_stage_scan(const red_cuda_job *job, const red_lowered *lowered, const void *in, void *out,
                               red_state *total) {
  if (lowered->n == 0) return RED_OK;
  unsigned widest = lowered->in_bytes > lowered->out_bytes ? lowered->in_bytes : lowered->out_bytes;
  scanning s = {.job = job,
                .lowered = lowered,
                .pieces = cut(job, lowered->n, widest),
                .in = in,
                .out = out,
                .in_pinned = red_cuda_is_pinned(in, lowered->n * lowered->in_bytes),
                .out_pinned = red_cuda_is_pinned(out, lowered->n * lowered->out_bytes)};
  s.ripples = s.pieces.count > 1 && lowered->canonical && lowered->kind == RED_INCLUSIVE_SCAN;
  red_forest_clear(&s.forest);
  red_status status = red_cuda_staging_get(job->device, job->queue, s.pieces.elements * lowered->in_bytes,
                                           s.pieces.elements * lowered->out_bytes, s.pieces.stages, &s.staging);
  if (status != RED_OK) return status;
  red_fpenv saved = red_fpenv_enter();
  status = scan_pieces(&s, total != NULL || (s.ripples && lowered->n % s.pieces.elements == 0));
  if (status != RED_OK) status = drain(job, s.staging, status);
  if (status == RED_OK && total != NULL) *total = s.forest.nodes[0].state; /* n is a power of two: one node */
  red_fpenv_leave(saved);
  return status;
}
