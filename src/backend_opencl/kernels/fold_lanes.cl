/* SPDX-License-Identifier: BSD-2-Clause */
/* What the lanes of a work-group have, brought together. */

static red_node red_shuffle_node(red_node node, uint down) {
#if defined(RED_ARGMIN)
  node.key = (RED_KEY)red_shuffle((ulong)(long)node.key, down);
  node.index = red_shuffle(node.index, down);
  return node;
#elif defined(RED_PAIRED)
  node.sum = RED_STATE_OF(red_shuffle(RED_BITS(node.sum), down));
  node.size = RED_STATE_OF(red_shuffle(RED_BITS(node.size), down));
  return node;
#else
  return red_unpack(red_shuffle(red_pack(node), down));
#endif
}

/* The lanes' nodes folded by halving: lane 0 gets the result. */
static red_node red_group_fold(red_node node, uint lane, local red_node *scratch) {
  uint team = red_team();
  scratch[lane] = node;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (team == 1) {
    for (uint half_count = RED_GROUP / 2; half_count > 0; half_count /= 2) {
      if (lane < half_count) scratch[lane] = red_merge(scratch[lane], scratch[lane + half_count]);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    return scratch[0];
  }
  if (lane < team) {
    for (uint half_count = RED_GROUP / team / 2; half_count > 0; half_count /= 2)
      for (uint k = 0; k < half_count; k++)
        scratch[lane + k * team] = red_merge(scratch[lane + k * team], scratch[lane + (k + half_count) * team]);
    node = scratch[lane];
  }
  if (RED_SHUFFLES_APART && lane >= team) return node;
  for (uint down = team / 2; down > 0; down /= 2) node = red_merge(node, red_shuffle_node(node, down));
  return node;
}
