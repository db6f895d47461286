/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scan's tiles tell each other their totals, in the order of `scan-1`. Level 0 of the board holds the tiles' totals, level
 * 1 the nodes of 128 tiles, each level above those of 32 of the level below; the tile that ends such a node writes it. A
 * tile reads at most 127 values of level 0 and 31 of each other level, and no value depends on when others arrive.
 *
 * A warp calls each of these functions.
 */
#define RED_MOST_LEVELS 4

typedef struct red_pipe {
  ulong n, start, beginning;
  ulong level_at[RED_MOST_LEVELS]; /* words of the board */
  uint tiles, levels;
  uint epoch, counted; /* what makes a word of this launch's valid; where the counter stood before it */
  uint inclusive, begins;
} red_pipe;

#define RED_NOTHING ((RED_VALUE)RED_IDENTITY)

/* Adds neighbours, then pairs of them, ..: the total in all lanes. sibling[h] is the other half of a block of 2^(h+1). */
static RED_VALUE red_climb(RED_VALUE total, RED_VALUE *sibling, uint levels) {
#pragma unroll
  for (uint h = 0; h < levels; h++) {
    sibling[h] = red_across(total, 1u << h);
    total = RED_OP(total, sibling[h]);
  }
  return total;
}

/* From what comes before all lanes to what comes before each. */
static RED_VALUE red_sink(RED_VALUE before, const RED_VALUE *sibling, uint lane, uint levels) {
#pragma unroll
  for (uint h = levels; h-- > 0;)
    if (lane >> h & 1) before = RED_OP(before, sibling[h]);
  return before;
}

/* ---- Words of the board ---- */

static RED_VALUE red_slot_value(red_slot slot) {
  return red_unpack(red_slot_bits(slot));
}

/* Ask for a slot's line long before it is written: else its first reader waits behind all loads of input. */
static void red_prefetch_slot(global const ulong *words, ulong index) {
  __asm__ volatile("prefetch.global.L2 [%0];" ::"l"(words + index * RED_WORDS));
}

/* ---- Groups of tiles ---- */

#define RED_LOW_BITS 7 /* of a tile's number: its place in a group, four places in each lane of a warp */

static uint red_shift(uint level) {
  return level == 0 ? 0 : RED_LOW_BITS + 5 * (level - 1);
}

static uint red_last_digit(uint level) {
  return level == 0 ? (1u << RED_LOW_BITS) - 1 : 31;
}

static uint red_digit(uint tile, uint level) {
  return tile >> red_shift(level) & red_last_digit(level);
}

/* The slots of the group at `level` that `tile` belongs to. */
static global ulong *red_group_words(const red_pipe *p, global ulong *board, uint tile, uint level) {
  return board + p->level_at[level] + (ulong)(tile >> red_shift(level) & ~red_last_digit(level)) * RED_WORDS;
}

/* One of the first `count` slots for each lane; what was read already may be the value, or is asked for again. */
static red_slot red_read_lane(global const ulong *words, uint count, uint lane) {
  return red_read_slot(words, lane < count ? lane : 0);
}

static RED_VALUE red_wait_lane(global const ulong *words, uint count, uint epoch, uint lane, red_slot slot) {
  bool missing = lane < count && !red_is_valid(slot, epoch);
  while (red_any(missing)) { /* only what is missing is asked for again: all read these lines */
    if (missing) slot = red_read_slot(words, lane);
    missing = missing && !red_is_valid(slot, epoch);
  }
  return lane < count ? red_slot_value(slot) : RED_NOTHING;
}

static RED_VALUE red_wait_lanes(global const ulong *words, uint count, uint epoch, uint lane) {
  return red_wait_lane(words, count, epoch, lane, red_read_lane(words, count, lane));
}

/* A group of level 0, four slots in each lane. */
typedef struct red_quad {
  red_slot slot[4];
} red_quad;

static red_quad red_read_quad(global const ulong *words, uint digit, uint lane) {
  red_quad quad;
  uint from = 4 * lane < digit ? 4 * lane : 0;
#if RED_VALUE_BITS == 64
#pragma unroll
  for (uint i = 0; i < 4; i++) quad.slot[i] = red_read_slot(words, from + i);
#else
  red_slot first = red_read_pair(words + from), second = red_read_pair(words + from + 2); /* two words each */
  quad.slot[0] = red_single(first.low);
  quad.slot[1] = red_single(first.high);
  quad.slot[2] = red_single(second.low);
  quad.slot[3] = red_single(second.high);
#endif
  return quad;
}

static bool red_quad_misses(const red_quad *quad, uint digit, uint lane, uint epoch) {
  bool all = true;
#pragma unroll
  for (uint i = 0; i < 4; i++) all = all && (4 * lane + i >= digit || red_is_valid(quad->slot[i], epoch));
  return !all;
}

/* The lane's totals; `own` is that of the tile with `digit`, nothing stands for later ones. */
static void red_wait_quad(global const ulong *words, uint digit, RED_VALUE own, uint epoch, uint lane, red_quad *quad,
                          RED_VALUE *total) {
  bool missing = red_quad_misses(quad, digit, lane, epoch);
  while (red_any(missing)) {
    if (missing) *quad = red_read_quad(words, digit, lane);
    missing = missing && red_quad_misses(quad, digit, lane, epoch);
  }
#pragma unroll
  for (uint i = 0; i < 4; i++) {
    uint place = 4 * lane + i;
    total[i] = place < digit ? red_slot_value(quad->slot[i]) : place == digit ? own : RED_NOTHING;
  }
}

static RED_VALUE red_quad_total(const RED_VALUE *total) {
  RED_VALUE left = RED_OP(total[0], total[1]), right = RED_OP(total[2], total[3]);
  return RED_OP(left, right);
}

/* ---- Nodes ---- */

/* The node above `level` that ends at `tile`, from that at `level`. */
static RED_VALUE red_close_level(const red_pipe *p, global ulong *board, uint tile, uint level, RED_VALUE node, uint lane) {
  RED_VALUE sibling[5];
  global ulong *words = red_group_words(p, board, tile, level);
  uint digit = red_digit(tile, level);
  if (level == 0) {
    RED_VALUE total[4];
    red_quad quad = red_read_quad(words, digit, lane);
    red_wait_quad(words, digit, node, p->epoch, lane, &quad, total);
    return red_climb(red_quad_total(total), sibling, 5);
  }
  RED_VALUE value = red_wait_lanes(words, digit, p->epoch, lane);
  return red_climb(lane == digit ? node : value, sibling, 5);
}

static bool red_ends_group(uint tile, uint level) {
  return red_digit(tile, level) == red_last_digit(level);
}

/* Post the nodes above the tiles that end at `tile`. */
static void red_close_levels(const red_pipe *p, global ulong *board, uint tile, RED_VALUE own, uint lane) {
  RED_VALUE node = own;
  for (uint level = 0; level + 1 < p->levels && red_ends_group(tile, level); level++) {
    node = red_close_level(p, board, tile, level, node, lane);
    if (lane == 0) red_post(board + p->level_at[level + 1], tile >> red_shift(level + 1), red_pack(node), p->epoch);
  }
}

/* From P at the beginning of a group of nodes to P at the node `digit`; each lane has the node of its number. */
static RED_VALUE red_prefix_in_group(RED_VALUE before, RED_VALUE node, uint digit, uint lane) {
  RED_VALUE sibling[5];
  red_climb(node, sibling, 5);
  return red_of_lane(red_sink(before, sibling, lane, 5), digit);
}

static RED_VALUE red_prefix_in_level(const red_pipe *p, global ulong *board, uint tile, uint level, RED_VALUE before,
                                     uint lane) {
  uint digit = red_digit(tile, level);
  RED_VALUE value = red_wait_lanes(red_group_words(p, board, tile, level), digit, p->epoch, lane);
  return red_prefix_in_group(before, value, digit, lane);
}

/* P up to the node of `level` that `tile` belongs to, level > 0. */
static RED_VALUE red_prefix_above(const red_pipe *p, global ulong *board, uint tile, uint level, RED_VALUE before,
                                  uint lane) {
  for (uint k = p->levels; k-- > level;) before = red_prefix_in_level(p, board, tile, k, before, lane);
  return before;
}

/* P at the end of a tile that ends a group of level 0: the carry ripples above. */
static RED_VALUE red_prefix_after_group(const red_pipe *p, global ulong *board, uint tile, RED_VALUE own, RED_VALUE start,
                                        uint lane) {
  RED_VALUE node = own, sibling[5];
  uint level = 0;
  for (; level < p->levels && red_ends_group(tile, level); level++)
    node = red_close_level(p, board, tile, level, node, lane);
  if (level == p->levels) return RED_OP(start, node);
  uint digit = red_digit(tile, level);
  RED_VALUE before = red_prefix_above(p, board, tile, level + 1, start, lane);
  RED_VALUE value = red_wait_lanes(red_group_words(p, board, tile, level), digit, p->epoch, lane);
  red_climb(lane == digit ? node : value, sibling, 5);
  return red_of_lane(red_sink(before, sibling, lane, 5), digit + 1);
}

/* What lies `index` places into a group of level 0. */
static RED_VALUE red_pick(const RED_VALUE *at, uint index) {
  RED_VALUE low = index & 1 ? at[1] : at[0], high = index & 1 ? at[3] : at[2];
  return red_of_lane(index & 2 ? high : low, index / 4);
}

/* What comes before tiles whose numbers differ in the two lowest digits only, kept from tile to tile. */
typedef struct red_upper {
  RED_VALUE before;
  uint key, known;
} red_upper;

/* P at the beginning of the tile's group of level 0. */
#if RED_VALUE_BITS == 64
static RED_VALUE red_prefix_of_group(const red_pipe *p, global ulong *board, uint tile, uint lane, red_upper *upper) {
  RED_VALUE all = red_unpack(p->start);
  if (p->levels > 2) {
    if (!upper->known || upper->key != tile >> red_shift(2)) {
      upper->before = red_prefix_above(p, board, tile, 2, all, lane);
      upper->key = tile >> red_shift(2);
      upper->known = 1;
    }
    all = upper->before;
  }
  return p->levels > 1 ? red_prefix_in_level(p, board, tile, 1, all, lane) : all;
}
#else
/* All levels asked for at once; where values take two words the registers would leave room for fewer work-groups. */
static RED_VALUE red_prefix_of_group(const red_pipe *p, global ulong *board, uint tile, uint lane, red_upper *upper) {
  RED_VALUE all = red_unpack(p->start);
  red_slot slot[RED_MOST_LEVELS];
#pragma unroll
  for (uint k = 1; k < RED_MOST_LEVELS; k++)
    if (k < p->levels) slot[k] = red_read_lane(red_group_words(p, board, tile, k), red_digit(tile, k), lane);
#pragma unroll
  for (uint k = RED_MOST_LEVELS; k-- > 1;)
    if (k < p->levels) {
      uint digit = red_digit(tile, k);
      RED_VALUE value = red_wait_lane(red_group_words(p, board, tile, k), digit, p->epoch, lane, slot[k]);
      all = red_prefix_in_group(all, value, digit, lane);
    }
  return all;
}
#endif

/* P at the tile's beginning and at its end, which is not the sum of the two. */
static void red_look_back(const red_pipe *p, global ulong *board, uint tile, RED_VALUE own, uint lane, red_upper *upper,
                          RED_VALUE *before, RED_VALUE *after) {
  RED_VALUE total[4], at[4], sibling[5];
  global ulong *low_words = red_group_words(p, board, tile, 0);
  uint low = red_digit(tile, 0);
  red_quad quad = red_read_quad(low_words, low, lane); /* on its way while the levels above are looked at */
  RED_VALUE all = red_prefix_of_group(p, board, tile, lane, upper);
  red_wait_quad(low_words, low, own, p->epoch, lane, &quad, total);
  red_climb(red_quad_total(total), sibling, 5);
  at[0] = red_sink(all, sibling, lane, 5);
  at[1] = RED_OP(at[0], total[0]);
  at[2] = RED_OP(at[0], RED_OP(total[0], total[1]));
  at[3] = RED_OP(at[2], total[2]);
  *before = red_pick(at, low);
  *after = red_pick(at, (low + 1) & red_last_digit(0));
  if (red_ends_group(tile, 0) && p->inclusive)
    *after = red_prefix_after_group(p, board, tile, own, red_unpack(p->start), lane);
}
