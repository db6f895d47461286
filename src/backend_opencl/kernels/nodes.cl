/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes: what a range of elements comes to, how neighbours merge, how they lie in memory. */

#if defined(RED_ARGMIN)

typedef struct red_node {
  RED_KEY key;
  ulong index;
} red_node;

static red_node red_identity(void) {
  red_node node = {RED_MOST, (ulong)-1};
  return node;
}

static red_node red_merge(red_node a, red_node b) {
  bool later = b.key < a.key || (b.key == a.key && b.index < a.index);
  red_node node = {later ? b.key : a.key, later ? b.index : a.index};
  return node;
}

static red_node red_get(global const ulong *nodes, ulong at) {
  red_node node = {(RED_KEY)nodes[2 * at], nodes[2 * at + 1]};
  return node;
}

static void red_put(global ulong *nodes, ulong at, red_node node) {
  nodes[2 * at] = (ulong)(long)node.key;
  nodes[2 * at + 1] = node.index;
}

#elif defined(RED_PAIRED)

/* A sum and that of its magnitudes. */
typedef struct red_node {
  RED_STATE sum, size;
} red_node;

#if RED_CANONICAL == 32
#define RED_BITS(state) ((ulong)as_uint(state))
#define RED_STATE_OF(bits) as_float((uint)(bits))
#else
#define RED_BITS(state) as_ulong(state)
#define RED_STATE_OF(bits) as_double(bits)
#endif

static red_node red_identity(void) {
  red_node node = {(RED_STATE)RED_IDENTITY, (RED_STATE)RED_IDENTITY};
  return node;
}

static red_node red_merge(red_node a, red_node b) {
  red_node node = {RED_OP(a.sum, b.sum), RED_OP(a.size, b.size)};
  return node;
}

static red_node red_get(global const ulong *nodes, ulong at) {
  red_node node = {RED_STATE_OF(nodes[2 * at]), RED_STATE_OF(nodes[2 * at + 1])};
  return node;
}

static void red_put(global ulong *nodes, ulong at, red_node node) {
  nodes[2 * at] = RED_BITS(node.sum);
  nodes[2 * at + 1] = RED_BITS(node.size);
}

/* Elements keep their signs for the one and lose them, by `nonzero_mask`, for the other. */
static red_rules red_signed(red_rules rules) {
  rules.nonzero_mask = ~(ulong)0;
  return rules;
}

#else

typedef RED_STATE red_node;

static red_node red_identity(void) {
  return (red_node)RED_IDENTITY;
}

static red_node red_merge(red_node a, red_node b) {
  return RED_OP(a, b);
}

static ulong red_pack(red_node node) {
#if RED_CANONICAL == 32
  return as_uint(node);
#elif RED_CANONICAL == 64
  return as_ulong(node);
#elif defined(RED_MIN)
  return (ulong)(long)node;
#else
  return node;
#endif
}

static red_node red_unpack(ulong word) {
#if RED_CANONICAL == 32
  return as_float((uint)word);
#elif RED_CANONICAL == 64
  return as_double(word);
#else
  return (red_node)word;
#endif
}

static red_node red_get(global const ulong *nodes, ulong at) {
  return red_unpack(nodes[at]);
}

static void red_put(global ulong *nodes, ulong at, red_node node) {
  nodes[at] = red_pack(node);
}

/* What a lane accumulated over a chunk, as a node. */
static red_node red_node_of(RED_VALUE value) {
#if defined(RED_NARROW_VALUES) && RED_IN_SIGNED && defined(RED_ADD) && RED_IN_BITS <= 16 && !RED_MAP
  return (ulong)(long)(int)value;
#else
  return value;
#endif
}

#endif
