/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The OpenCL ladder: one kernel a step, each differing from the last by one idea (after Harris, Optimizing Parallel
 * Reduction in CUDA, 2007). GROUP is the size of a work-group, a power of two from 16 to 256. A group adds up its part of
 * `in` and writes one partial sum; `in` and `out` are different arrays.
 */

/* ---- 1: interleaved addressing, with modulo: neighbours diverge ---- */

__kernel void interleaved(__global const float *in, uint n, __global float *out) {
  __local float a[GROUP];
  const uint l = get_local_id(0), i = get_global_id(0);
  a[l] = i < n ? in[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = 1; s < GROUP; s *= 2) {
    if (l % (2 * s) == 0) a[l] += a[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = a[0];
}

/* ---- 2: the same pairs, by consecutive work-items: no divergence, but strides meet in the same banks ---- */

__kernel void strided(__global const float *in, uint n, __global float *out) {
  __local float a[GROUP];
  const uint l = get_local_id(0), i = get_global_id(0);
  a[l] = i < n ? in[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = 1; s < GROUP; s *= 2) {
    const uint k = 2 * s * l;
    if (k < GROUP) a[k] += a[k + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = a[0];
}

/* ---- 3: sequential addressing: consecutive work-items, consecutive banks ---- */

static void add_halves(__local float *a, uint l) {
  for (uint s = GROUP / 2; s > 0; s /= 2) {
    if (l < s) a[l] += a[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__kernel void sequential(__global const float *in, uint n, __global float *out) {
  __local float a[GROUP];
  const uint l = get_local_id(0), i = get_global_id(0);
  a[l] = i < n ? in[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  add_halves(a, l);
  if (l == 0) out[get_group_id(0)] = a[0];
}

/* ---- 4: add while loading: no work-item idles in the first step ---- */

static float load_two(__global const float *in, uint n, uint l) {
  const uint i = (uint)get_group_id(0) * 2 * GROUP + l;
  return (i < n ? in[i] : 0.0f) + (i + GROUP < n ? in[i + GROUP] : 0.0f);
}

__kernel void add_loading(__global const float *in, uint n, __global float *out) {
  __local float a[GROUP];
  const uint l = get_local_id(0);
  a[l] = load_two(in, n, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  add_halves(a, l);
  if (l == 0) out[get_group_id(0)] = a[0];
}

/* ---- 5: unrolled. OpenCL promises nothing about work-items running in step, so each step keeps its barrier ---- */

static void add_unrolled(__local float *a, uint l) {
#if GROUP >= 256
  if (l < 128) a[l] += a[l + 128];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if GROUP >= 128
  if (l < 64) a[l] += a[l + 64];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if GROUP >= 64
  if (l < 32) a[l] += a[l + 32];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if GROUP >= 32
  if (l < 16) a[l] += a[l + 16];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  if (l < 8) a[l] += a[l + 8];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 4) a[l] += a[l + 4];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 2) a[l] += a[l + 2];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 1) a[l] += a[l + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel void unrolled(__global const float *in, uint n, __global float *out) {
  __local float a[GROUP];
  const uint l = get_local_id(0);
  a[l] = load_two(in, n, l);
  barrier(CLK_LOCAL_MEM_FENCE);
  add_unrolled(a, l);
  if (l == 0) out[get_group_id(0)] = a[0];
}

/* ---- 6: shuffles within sub-groups, local memory once between them ---- */

#if defined(SHUFFLES)
#if defined(cl_khr_subgroups)
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#if defined(cl_khr_subgroup_shuffle)
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#define FETCH(value, lane) sub_group_shuffle(value, lane)
#else
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#define FETCH(value, lane) intel_sub_group_shuffle(value, lane)
#endif

/* The size may be any; lanes beyond it are not fetched. */
static float add_lanes(float value) {
  const uint lane = get_sub_group_local_id(), size = get_sub_group_size();
  uint h = 1;
  while (2 * h < size) h *= 2;
  for (; h > 0; h /= 2) {
    const float other = FETCH(value, lane + h < size ? lane + h : lane);
    if (lane + h < size) value += other;
  }
  return value;
}

static float add_group(__local float *a, float value) {
  value = add_lanes(value);
  if (get_sub_group_local_id() == 0) a[get_sub_group_id()] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  if (get_local_id(0) == 0)
    for (uint k = 0; k < get_num_sub_groups(); k++) sum += a[k];
  return sum;
}

__kernel void shuffled(__global const float *in, uint n, __global float *out) {
  __local float a[GROUP];
  const float sum = add_group(a, load_two(in, n, get_local_id(0)));
  if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}
#else
static float add_group(__local float *a, float value) {
  const uint l = get_local_id(0);
  a[l] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  add_unrolled(a, l);
  return a[0];
}
#endif

/* ---- 7: as many groups as the device holds, each striding through the array with 16-byte loads ---- */

static float load_many(__global const float *in, uint n) {
  __global const float4 *quads = (__global const float4 *)in;
  float4 sum = (float4)(0.0f);
  for (uint i = get_global_id(0); i < n / 4; i += get_global_size(0)) sum += quads[i];
  float rest = 0.0f;
  if (get_global_id(0) < n % 4) rest = in[n / 4 * 4 + get_global_id(0)];
  return ((sum.x + sum.y) + (sum.z + sum.w)) + rest;
}

__kernel void grid_stride(__global const float *in, uint n, __global float *out) {
  __local float a[GROUP];
  const float sum = add_group(a, load_many(in, n));
  if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}

/* ---- How groups combine: step 7 takes a second launch; or atomics; or the last group ---- */

/* OpenCL 1.2 has no atomic addition of floats: exchange until nobody came between. *out begins as zero. */
static void add_atomically(volatile __global uint *out, float value) {
  uint seen = *out, before;
  do {
    before = seen;
    seen = atomic_cmpxchg(out, before, as_uint(as_float(before) + value));
  } while (seen != before);
}

__kernel void combine_atomics(__global const float *in, uint n, __global uint *out) {
  __local float a[GROUP];
  const float sum = add_group(a, load_many(in, n));
  if (get_local_id(0) == 0) add_atomically(out, sum);
}

/*
 * Partial sums pass between groups by atomics, the one thing that OpenCL 1.2 keeps coherent across the device within a
 * launch. The counter is zero before, and again afterwards.
 */
__kernel void combine_last(__global const float *in, uint n, __global float *out, volatile __global uint *parts,
                           volatile __global uint *counter) {
  __local float a[GROUP];
  __local uint last;
  const uint l = get_local_id(0), groups = get_num_groups(0);
  float sum = add_group(a, load_many(in, n));
  if (l == 0) {
    atomic_xchg(&parts[get_group_id(0)], as_uint(sum));
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    last = atomic_inc(counter) == groups - 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (!last) return;
  sum = 0.0f;
  for (uint k = l; k < groups; k += GROUP) sum += as_float(atomic_or(&parts[k], 0u));
  sum = add_group(a, sum);
  if (l == 0) {
    out[0] = sum;
    atomic_xchg(counter, 0u);
  }
}

/* ---- Coarsening: how many elements a work-item takes, everything else as in step 6 ---- */

__kernel void coarsened(__global const float *in, uint n, __global float *out, uint loads) {
  __local float a[GROUP];
  const uint first = (uint)get_group_id(0) * loads * GROUP, end = n - first < loads * GROUP ? n : first + loads * GROUP;
  float sum = 0.0f;
  for (uint i = first + get_local_id(0); i < end; i += GROUP) sum += in[i];
  sum = add_group(a, sum);
  if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}

/* ---- The roofline: a work-item a quad, and nothing else; whoever finds a certain word says so ---- */

__kernel void read_all(__global const uint4 *in, uint quads, __global uint *out) {
  const uint i = get_global_id(0);
  if (i >= quads) return;
  const uint4 x = in[i];
  if ((x.x | x.y | x.z | x.w) == 0xdeadbeefu) out[0] = 1u;
}

/* The same for a CPU, where neighbouring work-items are iterations of a loop: each reads a piece of its own. */
__kernel void read_pieces(__global const uint4 *in, uint quads, __global uint *out) {
  const uint each = quads / get_global_size(0), first = each * get_global_id(0);
  uint16 seen = (uint16)(0u);
  for (uint i = 0; i + 4 <= each; i += 4) seen |= *(__global const uint16 *)(in + first + i);
  const uint8 half_seen = seen.lo | seen.hi;
  if ((half_seen.s0 | half_seen.s1 | half_seen.s2 | half_seen.s3 | half_seen.s4 | half_seen.s5 | half_seen.s6 |
       half_seen.s7) == 0xdeadbeefu)
    out[0] = 1u;
}
