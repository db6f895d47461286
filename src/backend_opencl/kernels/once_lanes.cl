/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reductions in one launch (RED_ONCE): work-groups post their nodes on the board, the last of each RED_MEMBERS of them waits
 * for the others' and merges them, and the last of all merges what those post. The host sees to it that fewer wait than can
 * run at a time, so that what they wait for comes.
 */
#if RED_ONCE
#define RED_ONCE_PARAMETERS                                                                                            \
  , global ulong *board, ulong board_at, uint epoch, uint stays, red_last last, global uchar *out,     \
      ulong out_offset

#define RED_FLIGHT (RED_MEMBERS / RED_GROUP) /* nodes that a lane asks for at a time */

static global ulong *red_place_of(global ulong *board, uint index) {
  return board + (ulong)index * (RED_WORDS * RED_SLOT);
}

static void red_post_node(global ulong *board, uint index, red_node node, uint epoch) {
  global ulong *at = red_place_of(board, index);
#if RED_SLOT == 2
  red_post(at, 0, (ulong)(long)node.key, epoch);
  red_post(at, 1, node.index, epoch);
#else
  red_post(at, 0, red_pack(node), epoch);
#endif
}

static red_node red_node_of_slots(const red_slot *slot) {
#if RED_SLOT == 2
  red_node node = {(RED_KEY)red_slot_bits(slot[0]), red_slot_bits(slot[1])};
  return node;
#else
  return red_unpack(red_slot_bits(slot[0]));
#endif
}

/* The node of `count` neighbours from `first` on, as soon as all are there; what is missing of a flight changes nothing. */
static red_node red_await_run(global ulong *board, uint first, uint count, uint epoch) {
  red_slot slot[RED_FLIGHT * RED_SLOT];
  red_node node[RED_FLIGHT];
  bool missing;
  if (count == 0) return red_identity();
  do {
    missing = false;
#pragma unroll
    for (uint i = 0; i < RED_FLIGHT * RED_SLOT; i++)
      slot[i] = red_read_slot(red_place_of(board, first + (i / RED_SLOT < count ? i / RED_SLOT : 0)), i % RED_SLOT);
#pragma unroll
    for (uint i = 0; i < RED_FLIGHT * RED_SLOT; i++) missing = missing || !red_is_valid(slot[i], epoch);
  } while (missing);
#pragma unroll
  for (uint i = 0; i < RED_FLIGHT; i++) node[i] = i < count ? red_node_of_slots(slot + i * RED_SLOT) : red_identity();
#pragma unroll
  for (uint width = 1; width < RED_FLIGHT; width *= 2)
#pragma unroll
    for (uint i = 0; i < RED_FLIGHT; i += 2 * width) node[i] = red_merge(node[i], node[i + width]);
  return node[0];
}

/* The root of `count` nodes, at most RED_MEMBERS, in lane 0: each lane an aligned run of them, then neighbouring lanes. */
static red_node red_await_members(global ulong *board, uint first, uint count, uint epoch, uint lane,
                                  local red_node *scratch) {
  uint run = 1;
  while (run * RED_GROUP < count) run *= 2;
  uint at = min(lane * run, count);
  red_node node = red_await_run(board, first + at, min(run, count - at), epoch);
  barrier(CLK_LOCAL_MEM_FENCE); /* the chunks' fold is done with it */
  scratch[lane] = node;
  for (uint width = RED_GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < width) node = red_merge(scratch[2 * lane], scratch[2 * lane + 1]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < width) scratch[lane] = node;
  }
  return node;
}

/* From the node of this work-group to the root of all: true in the one that has it. */
static bool red_await_all(global ulong *board, uint epoch, uint lane, local red_node *scratch, red_node *node) {
  uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0), team = group / RED_MEMBERS;
  if (groups == 1) return true;
  global ulong *members = red_place_of(board, RED_MEMBERS); /* behind what teams post */
  if (lane == 0) red_post_node(members, group, *node, epoch);
  bool is_last = group + 1 == groups;
  if (!is_last && (group + 1) % RED_MEMBERS != 0) return false;
  uint first = team * RED_MEMBERS;
  *node = red_await_members(members, first, group + 1 - first, epoch, lane, scratch);
  if (groups <= RED_MEMBERS) return true;
  if (lane == 0) red_post_node(board, team, *node, epoch);
  if (!is_last) return false;
  *node = red_await_members(board, 0, team + 1, epoch, lane, scratch);
  return true;
}

#else
#define RED_ONCE_PARAMETERS
#endif
