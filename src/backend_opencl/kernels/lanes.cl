/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A work-group as RED_GROUP lanes. Shapes differ in how lanes exchange values:
 *   RED_SHAPE_LOCAL      local memory only: every device
 *   RED_SHAPE_SUBGROUP   shuffles within a sub-group of whatever size the device has
 *   RED_SHAPE_PTX        NVIDIA's warp shuffles, which its OpenCL offers only as inline assembly
 */
#if defined(RED_SHAPE_SUBGROUP)
#if defined(cl_khr_subgroups)
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#if defined(cl_khr_subgroup_shuffle_relative)
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable
#define RED_SHUFFLE(value, down) sub_group_shuffle_down(value, down)
#elif defined(cl_khr_subgroup_shuffle)
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#define RED_SHUFFLE(value, down) sub_group_shuffle(value, (get_sub_group_local_id() + down) % get_sub_group_size())
#else
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#define RED_SHUFFLE(value, down) intel_sub_group_shuffle(value, (get_sub_group_local_id() + down) % get_sub_group_size())
#endif
#endif

/*
 * May some teams shuffle while the others don't? PoCL takes a shuffle for a barrier of the work-group, not of the
 * sub-group: there the others do it for nothing.
 */
#if defined(RED_SHAPE_SUBGROUP)
#define RED_SHUFFLES_APART 0
#else
#define RED_SHUFFLES_APART 1
#endif

/* RED_SUBGROUP_SIZE: for tests; otherwise the driver chooses. */
#if defined(RED_SUBGROUP_SIZE)
#define RED_OF_SUBGROUPS __attribute__((intel_reqd_sub_group_size(RED_SUBGROUP_SIZE)))
#else
#define RED_OF_SUBGROUPS
#endif
#define RED_KERNEL kernel __attribute__((reqd_work_group_size(RED_GROUP, 1, 1))) RED_OF_SUBGROUPS void

/*
 * The number of this lane. Sub-groups need not be runs of local ids, so where values are shuffled the lanes are numbered
 * by sub-group; any numbering will do as long as everybody uses it.
 */
static uint red_lane(void) {
#if defined(RED_SHAPE_SUBGROUP)
  return get_sub_group_id() * get_max_sub_group_size() + get_sub_group_local_id();
#else
  return get_local_id(0);
#endif
}

/* How many lanes shuffle with each other: 1 if they cannot, or if the group is not a whole number of such teams. */
static uint red_team(void) {
#if defined(RED_SHAPE_SUBGROUP)
  uint size = get_max_sub_group_size();
  bool power_of_two = (size & (size - 1)) == 0;
  return power_of_two && RED_GROUP % size == 0 ? size : 1;
#elif defined(RED_SHAPE_PTX)
  return 32;
#else
  return 1;
#endif
}

/* The value of the lane `down` places further in the team; past its end, anything. */
static ulong red_shuffle(ulong value, uint down) {
#if defined(RED_SHAPE_SUBGROUP)
  uint low = RED_SHUFFLE((uint)value, down), high = RED_SHUFFLE((uint)(value >> 32), down);
  return (ulong)high << 32 | low;
#elif defined(RED_SHAPE_PTX)
  uint low = (uint)value, high = (uint)(value >> 32), low_down, high_down;
  __asm__ volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(low_down) : "r"(low), "r"(down));
  __asm__ volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(high_down) : "r"(high), "r"(down));
  return (ulong)high_down << 32 | low_down;
#else
  return value;
#endif
}
