/* SPDX-License-Identifier: BSD-2-Clause */
/* Reduce on CPU devices: one work-item computes the node of a whole run of chunks. */
#define RED_KERNEL kernel __attribute__((reqd_work_group_size(1, 1, 1))) void

#if defined(RED_ARGMIN)

/* The first element of a chunk that has the key. */
static uint red_find(global const RED_ELEMENT *x, uint count, RED_KEY key, red_rules rules) {
  uint i = 0;
  for (; i + 16 <= count; i += 16)
    if (any(red_lift16(vload16(0, x + i), rules) == key)) break;
  while (i + 1 < count && red_lift(x[i], rules) != key) i++;
  return i;
}

/* Least key of each chunk first; only the first chunk that has the least is searched for the place. */
static red_node red_run(global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong first, ulong end,
                        red_rules rules) {
  RED_KEY best = RED_MOST;
  ulong place = first;
  for (ulong at = first; at < end; at += RED_CHUNK) {
    RED_KEY key = red_fold16(red_chunk16(x + at, x + at, (uint)min(end - at, (ulong)RED_CHUNK), rules));
    if (key < best) {
      best = key;
      place = at;
    }
  }
  red_node node = {best, place + red_find(x + place, (uint)min(end - place, (ulong)RED_CHUNK), best, rules)};
  return node;
}

#else

static red_node red_chunk_node(global const RED_ELEMENT *x, global const RED_ELEMENT *y, uint count, red_rules rules) {
#if defined(RED_PAIRED) /* the second sweep finds the chunk in the first-level cache */
  red_node node = {red_fold16(red_chunk16(x, y, count, red_signed(rules))), red_fold16(red_chunk16(x, y, count, rules))};
  return node;
#else
  return red_node_of(red_fold16(red_chunk16(x, y, count, rules)));
#endif
}

/* The node of the chunks of [first, end): a binary counter of complete nodes, then the right edge of the tree. */
static red_node red_run(global const RED_ELEMENT *x, global const RED_ELEMENT *y, ulong first, ulong end,
                        red_rules rules) {
  red_node waiting[32];
  uint count = 0, chunk = 0;
  for (ulong at = first; at < end; at += RED_CHUNK, chunk++) {
    red_node node = red_chunk_node(x + at, y + at, (uint)min(end - at, (ulong)RED_CHUNK), rules);
    for (uint k = chunk; k & 1; k >>= 1) node = red_merge(waiting[--count], node);
    waiting[count++] = node;
  }
  red_node node = waiting[--count];
  while (count > 0) node = red_merge(waiting[--count], node);
  return node;
}

#endif

/* Work-item i: node (level, i) of the chunks' tree. */
RED_KERNEL red_reduce_chunks(global const uchar *in, ulong in_offset, ulong n, uint level, red_rules rules,
                              global ulong *nodes, ulong nodes_at RED_SECOND_PARAMETERS) {
  global const RED_ELEMENT *x = (global const RED_ELEMENT *)(in + in_offset), *y = RED_SECOND_INPUT(x);
  ulong run = (ulong)RED_CHUNK << level;
  ulong first = get_global_id(0) * run;
  if (first >= n) return;
  red_put(nodes + nodes_at, get_global_id(0), red_run(x, y, first, min(n, first + run), rules));
}
