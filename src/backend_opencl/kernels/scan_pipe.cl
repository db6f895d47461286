/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scan in one pass on NVIDIA's devices, as the CUDA backend's pipeline: work-groups stay, each has a ring in local memory,
 * some stages of which hold a tile, and a role for each warp.
 *
 *   apply      the outputs; some warps
 *   sum        the totals of parts of 2 KB; some warps
 *   producer   takes a ticket once a stage of the ring is free, and has the copy engine fill it
 *   publisher  the tile's total, at once: nothing that waits for other tiles may delay it
 *   closer     the nodes above, for the tiles that end one
 *   look-back  P at the tile's beginning and end
 *
 * Tickets are in order and held by work-groups that run, so every wait is for something that is under way.
 */
#define RED_PART       2048 /* bytes: four rows of 32 lanes of 16 bytes */
#define RED_STAGE_PARTS (RED_PIPE_STAGE / RED_PART)
#define RED_PARTS      (RED_STAGE_PARTS * RED_PIPE_SPLIT)
#define RED_TILE_BYTES (RED_PIPE_STAGE * RED_PIPE_SPLIT)
#define RED_PLACES     (RED_PIPE_STAGES / RED_PIPE_SPLIT + 2) /* more tiles than the ring holds */
#define RED_OTHERS     (RED_PIPE_APPLIES + RED_PIPE_SUMS)     /* the first of the other warps */
#define RED_THREADS    (32 * (RED_OTHERS + 4))
#define RED_AHEAD      2      /* stages that are being loaded at a time */
#define RED_END        (~0ul) /* instead of a tile: there are no more */
#if RED_IN_BITS == 64
#define RED_VECTOR 2
#else
#define RED_VECTOR 4
#endif

/* A part of the ring; its barriers: the input is there, it has been read. */
typedef struct red_stage {
  ulong full, free;
} red_stage;

/* What is known of a tile; its barriers: its total, P, all have seen it. */
typedef struct red_place {
  ulong summed, placed, free;
  ulong tile;
  RED_VALUE part[RED_PARTS], before, after;
} red_place;

typedef struct red_ring {
  local uchar *bytes;
  local red_stage *stages;
  local red_place *places;
} red_ring;

/* Where a role stands: at which stage or place, and which phase of its barriers comes next. */
typedef struct red_cursor {
  uint index, parity;
} red_cursor;

static red_cursor red_advanced(red_cursor at, uint count) {
  bool wraps = at.index + 1 == count;
  red_cursor next = {wraps ? 0 : at.index + 1, wraps ? at.parity ^ 1 : at.parity};
  return next;
}

#define RED_EACH_PLACE red_cursor at = {0, 0};; at = red_advanced(at, RED_PLACES)

/* Sixteen bytes as values. */
static void red_lift_vector(uint4 raw, RED_VALUE *x, red_rules rules) {
#if RED_IN_BITS == 64
  x[0] = red_lift((ulong)raw.s1 << 32 | raw.s0, rules);
  x[1] = red_lift((ulong)raw.s3 << 32 | raw.s2, rules);
#else
  x[0] = red_lift(raw.s0, rules);
  x[1] = red_lift(raw.s1, rules);
  x[2] = red_lift(raw.s2, rules);
  x[3] = red_lift(raw.s3, rules);
#endif
}

static RED_VALUE red_vector_total(uint4 raw, red_rules rules) {
  RED_VALUE x[RED_VECTOR];
  red_lift_vector(raw, x, rules);
  RED_VALUE left = RED_OP(x[0], x[1]);
#if RED_VECTOR == 4
  RED_VALUE right = RED_OP(x[2], x[3]);
  left = RED_OP(left, right);
#endif
  return left;
}

/* ---- Producer: one lane ---- */

static uint red_take_ticket(const red_pipe *p, volatile global uint *counter) {
  return atomic_inc(counter) - p->counted;
}

/* The slots of tiles that come two rounds later. */
static void red_prefetch_slots(const red_pipe *p, global ulong *board, uint tile) {
  if (tile >= p->tiles || tile % 4 != 0) return;
  red_prefetch_slot(board + p->level_at[0], tile);
  if (p->levels > 1 && tile % (4u << RED_LOW_BITS) == 0) red_prefetch_slot(board + p->level_at[1], tile >> RED_LOW_BITS);
}

static void red_fill_stage(const red_pipe *p, red_ring ring, uint index, global const uchar *in, ulong at) {
  local ulong *full = &ring.stages[index].full;
  local uchar *to = ring.bytes + index * RED_PIPE_STAGE;
  ulong end = p->n * (RED_IN_BITS / 8), left = at < end ? end - at : 0;
  uint bytes = left < RED_PIPE_STAGE ? (uint)left : RED_PIPE_STAGE, whole = bytes & ~15u;
  for (uint i = whole; i < bytes; i += RED_IN_BITS / 8) /* what is less than a vector comes by hand */
    *(local RED_ELEMENT *)(to + i) = *(global const RED_ELEMENT *)(in + at + i);
  red_bar_expect(full, whole);
  if (whole > 0) red_bulk_copy(to, in + at, whole, full);
}

static void red_produce(const red_pipe *p, global ulong *board, red_ring ring, global const uchar *in) {
  volatile global uint *counter = (volatile global uint *)board;
  uint groups = (uint)get_num_groups(0), count = 0;
  for (uint tile = (uint)get_group_id(0) * 4; tile < 4 * groups; tile += 4 * groups) red_prefetch_slots(p, board, tile);
  red_cursor stage = {0, 0}, loaded = {0, 0};
  for (RED_EACH_PLACE) {
    local red_place *place = ring.places + at.index;
    red_bar_wait(&place->free, at.parity ^ 1);
    red_bar_wait(&ring.stages[stage.index].free, stage.parity ^ 1);
    uint ticket = red_take_ticket(p, counter);
    place->tile = ticket < p->tiles ? ticket : RED_END;
    if (ticket >= p->tiles) {
      red_bar_arrive(&ring.stages[stage.index].full);
      return;
    }
    for (uint s = 0; s < RED_PIPE_SPLIT; s++, stage = red_advanced(stage, RED_PIPE_STAGES)) {
      if (s > 0) red_bar_wait(&ring.stages[stage.index].free, stage.parity ^ 1);
      if (count++ >= RED_AHEAD) {
        red_bar_wait(&ring.stages[loaded.index].full, loaded.parity);
        loaded = red_advanced(loaded, RED_PIPE_STAGES);
      }
      red_fill_stage(p, ring, stage.index, in, (ulong)ticket * RED_TILE_BYTES + s * RED_PIPE_STAGE);
    }
    red_prefetch_slots(p, board, ticket + 4 * groups);
  }
}

/* ---- Sums of the parts ---- */

/* Four rows of 32 lanes: lanes exchange halves of their rows first. The total in all lanes. */
static RED_VALUE red_fold_rows(const RED_VALUE *row, uint lane) {
  bool odd = lane & 1, second = lane & 2;
  RED_VALUE low = RED_OP(odd ? row[2] : row[0], red_across(odd ? row[0] : row[2], 1));
  RED_VALUE high = RED_OP(odd ? row[3] : row[1], red_across(odd ? row[1] : row[3], 1));
  RED_VALUE one = RED_OP(second ? high : low, red_across(second ? low : high, 2));
#pragma unroll
  for (uint h = 4; h < 32; h *= 2) one = RED_OP(one, red_across(one, h));
  /* lane bits 0 and 1 now name the row: 0, 2, 1, 3; rows 0 and 1 first, then both pairs */
  one = RED_OP(one, red_across(one, 2));
  return RED_OP(one, red_across(one, 1));
}

static local const uint4 *red_part_of(red_ring ring, uint stage, uint part) {
  return (local const uint4 *)(ring.bytes + stage * RED_PIPE_STAGE + part * RED_PART);
}

static void red_sum_parts(red_ring ring, uint worker, uint lane, red_rules rules) {
  red_cursor stage = {0, 0};
  for (RED_EACH_PLACE) {
    local red_place *place = ring.places + at.index;
    for (uint s = 0; s < RED_PIPE_SPLIT; s++, stage = red_advanced(stage, RED_PIPE_STAGES)) {
      red_bar_wait(&ring.stages[stage.index].full, stage.parity);
      if (place->tile == RED_END) break;
      for (uint i = 0; i < RED_STAGE_PARTS; i++) {
        uint part = s * RED_STAGE_PARTS + i;
        if (part % RED_PIPE_SUMS != worker) continue;
        local const uint4 *from = red_part_of(ring, stage.index, i) + lane;
        RED_VALUE row[4];
#pragma unroll
        for (uint r = 0; r < 4; r++) row[r] = red_vector_total(from[32 * r], rules);
        RED_VALUE total = red_fold_rows(row, lane);
        if (lane == 0) place->part[part] = total;
      }
    }
    ulong tile = place->tile;
    red_warp_barrier();
    if (lane == 0) red_bar_arrive(&place->summed);
    if (tile == RED_END) return;
  }
}

#if RED_PARTS == 2
#define RED_PART_LEVELS 1
#elif RED_PARTS == 4
#define RED_PART_LEVELS 2
#elif RED_PARTS == 8
#define RED_PART_LEVELS 3
#else
#define RED_PART_LEVELS 4
#endif

/* The tile's total from its parts, in all lanes. */
static RED_VALUE red_climb_parts(local const red_place *place, uint lane, RED_VALUE *sibling) {
  return red_climb(place->part[lane % RED_PARTS], sibling, RED_PART_LEVELS);
}

/* ---- Roles that deal with other tiles ---- */

static void red_publish_tiles(const red_pipe *p, global ulong *board, local red_place *places, uint lane) {
  for (RED_EACH_PLACE) {
    local red_place *place = places + at.index;
    red_bar_wait(&place->summed, at.parity);
    ulong tile = place->tile;
    if (tile == RED_END) return;
    RED_VALUE sibling[RED_PART_LEVELS], total = red_climb_parts(place, lane, sibling);
    if (lane != 0) continue;
    red_post(board + p->level_at[0], tile, red_pack(total), p->epoch);
    red_bar_arrive(&place->free);
  }
}

static void red_close_tiles(const red_pipe *p, global ulong *board, local red_place *places, uint lane) {
  for (RED_EACH_PLACE) {
    local red_place *place = places + at.index;
    red_bar_wait(&place->summed, at.parity);
    ulong tile = place->tile;
    if (tile == RED_END) return;
    RED_VALUE sibling[RED_PART_LEVELS], own = red_climb_parts(place, lane, sibling);
    red_warp_barrier();
    if (lane == 0) red_bar_arrive(&place->free);
    if (red_ends_group((uint)tile, 0)) red_close_levels(p, board, (uint)tile, own, lane);
  }
}

static void red_look_back_tiles(const red_pipe *p, global ulong *board, local red_place *places, uint lane) {
  red_upper upper = {RED_NOTHING, 0, 0};
  for (RED_EACH_PLACE) {
    local red_place *place = places + at.index;
    red_bar_wait(&place->summed, at.parity);
    ulong tile = place->tile;
    if (tile != RED_END) {
      RED_VALUE sibling[RED_PART_LEVELS], own = red_climb_parts(place, lane, sibling), before, after;
      red_look_back(p, board, (uint)tile, own, lane, &upper, &before, &after);
      if (lane == 0) {
        place->before = before;
        place->after = after;
      }
    }
    if (lane == 0) red_bar_arrive(&place->placed);
    if (tile == RED_END) return;
  }
}

/* ---- Outputs ---- */

typedef struct red_output {
  global uchar *out;
  red_rules rules;
} red_output;

/* A vector of inputs and P before it, as outputs; `next` is P after it. */
static void red_write_vector(const red_pipe *p, const red_output *to, ulong i, uint4 raw, RED_VALUE mine, RED_VALUE next) {
  typedef RED_JOIN(RED_OUT_ELEMENT, RED_VECTOR) vector;
  RED_VALUE x[RED_VECTOR], y[RED_VECTOR + 1];
  red_lift_vector(raw, x, to->rules);
  y[0] = mine;
  y[1] = RED_OP(mine, x[0]);
#if RED_VECTOR == 4
  y[2] = RED_OP(mine, RED_OP(x[0], x[1]));
  y[3] = RED_OP(y[2], x[2]);
#endif
  y[RED_VECTOR] = next;
  RED_OUT_ELEMENT z[RED_VECTOR];
  ulong count = i + p->inclusive; /* elements that the first output covers */
#pragma unroll
  for (uint v = 0; v < RED_VECTOR; v++) {
    RED_VALUE here = y[v], later = y[v + 1];
    z[v] = red_out(p->inclusive ? later : here, count + v, to->rules);
  }
  global RED_OUT_ELEMENT *out = (global RED_OUT_ELEMENT *)to->out + i;
  if (i + RED_VECTOR <= p->n) {
#if RED_VECTOR == 4
    *(global vector *)out = (vector)(z[0], z[1], z[2], z[3]);
#else
    *(global vector *)out = (vector)(z[0], z[1]);
#endif
  } else {
#pragma unroll
    for (uint v = 0; v < RED_VECTOR; v++)
      if (i + v < p->n) out[v] = z[v];
  }
  if (i == 0 && p->begins) red_store_bits(to->out, RED_OUT_BITS / 8, p->beginning);
}

/* One part: P at its beginning and end are known. */
static void red_apply_part(const red_pipe *p, const red_output *to, local const uint4 *from, ulong first, RED_VALUE begin,
                           RED_VALUE end, uint lane) {
  uint4 raw[4];
  RED_VALUE sibling[4][5], row[4], before[5];
#pragma unroll
  for (uint r = 0; r < 4; r++) {
    raw[r] = from[32 * r + lane];
    row[r] = red_climb(red_vector_total(raw[r], to->rules), sibling[r], 5);
  }
  before[0] = begin;
  before[1] = RED_OP(begin, row[0]);
  before[2] = RED_OP(begin, RED_OP(row[0], row[1]));
  before[3] = RED_OP(before[2], row[2]);
  before[4] = end;
#pragma unroll
  for (uint r = 0; r < 4; r++) {
    RED_VALUE mine = red_sink(before[r], sibling[r], lane, 5), next = red_down(mine, 1);
    if (lane == 31) next = before[r + 1];
    red_write_vector(p, to, first + (32 * r + lane) * RED_VECTOR, raw[r], mine, next);
  }
}

static void red_apply_tiles(const red_pipe *p, const red_output *to, red_ring ring, uint worker, uint lane) {
  const uint part_elements = RED_PART / (RED_IN_BITS / 8);
  red_cursor stage = {0, 0};
  for (RED_EACH_PLACE) {
    local red_place *place = ring.places + at.index;
    red_bar_wait(&place->placed, at.parity);
    ulong tile = place->tile;
    if (tile == RED_END) return;
    RED_VALUE sibling[RED_PART_LEVELS];
    red_climb_parts(place, lane, sibling);
    RED_VALUE begin = red_sink(place->before, sibling, lane % RED_PARTS, RED_PART_LEVELS), end = red_down(begin, 1);
    if (lane % RED_PARTS == RED_PARTS - 1) end = place->after;
    red_warp_barrier();
    if (lane == 0) red_bar_arrive(&place->free);
    for (uint s = 0; s < RED_PIPE_SPLIT; s++, stage = red_advanced(stage, RED_PIPE_STAGES)) {
      for (uint i = 0; i < RED_STAGE_PARTS; i++) {
        uint part = s * RED_STAGE_PARTS + i;
        if (part % RED_PIPE_APPLIES != worker) continue;
        red_apply_part(p, to, red_part_of(ring, stage.index, i), (tile * RED_PARTS + part) * part_elements,
                       red_of_lane(begin, part), red_of_lane(end, part), lane);
      }
      red_warp_barrier();
      if (lane == 0) red_bar_arrive(&ring.stages[stage.index].free);
    }
  }
}

/* Input and output are aligned to vectors. */
kernel __attribute__((reqd_work_group_size(RED_THREADS, 1, 1))) void
red_scan_pipe(global const uchar *in, ulong in_offset, red_pipe job, global ulong *board, red_rules rules, global uchar *out,
              ulong out_offset) {
  local __attribute__((aligned(128))) uchar bytes[RED_PIPE_STAGE * RED_PIPE_STAGES];
  local red_stage stages[RED_PIPE_STAGES];
  local red_place places[RED_PLACES];
  red_ring ring = {bytes, stages, places};
  red_output to = {out + out_offset, rules};
  uint thread = get_local_id(0), warp = thread / 32, lane = thread % 32;
  if (thread < RED_PIPE_STAGES) {
    red_bar_init(&stages[thread].full, 1);
    red_bar_init(&stages[thread].free, RED_PIPE_APPLIES);
  }
  if (thread < RED_PLACES) {
    red_bar_init(&places[thread].summed, RED_PIPE_SUMS);
    red_bar_init(&places[thread].placed, 1);
    red_bar_init(&places[thread].free, RED_PIPE_APPLIES + 2); /* and publisher, closer */
  }
  if (thread < 32) red_bar_fence();
  barrier(CLK_LOCAL_MEM_FENCE);
  if (warp < RED_PIPE_APPLIES) {
    red_apply_tiles(&job, &to, ring, warp, lane);
  } else if (warp < RED_OTHERS) {
    red_sum_parts(ring, warp - RED_PIPE_APPLIES, lane, rules);
  } else if (warp == RED_OTHERS) {
    if (lane == 0) red_produce(&job, board, ring, in + in_offset);
  } else if (warp == RED_OTHERS + 1) {
    red_publish_tiles(&job, board, places, lane);
  } else if (warp == RED_OTHERS + 2) {
    red_close_tiles(&job, board, places, lane);
  } else {
    red_look_back_tiles(&job, board, places, lane);
  }
}
