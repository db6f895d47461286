/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that the library calls (src/backend_opencl/api.def), with their parameters: what stands in front of a
 * driver has to repeat them.
 */
#ifndef RED_TESTS_OPENCL_FUNCTIONS_H
#define RED_TESTS_OPENCL_FUNCTIONS_H

#define INFO_PARAMETERS(what) what asked, size_t room, void *to, size_t *needed
#define INFO_ARGUMENTS        asked, room, to, needed
#define WAIT_PARAMETERS       cl_uint waits, const cl_event *events, cl_event *event
#define WAIT_ARGUMENTS        waits, events, event

/*
 * CODE(name, (parameters), (arguments)) returns an error code; MADE(name, type, ...) an object, and the code in *error.
 */
/* clang-format off */
#define OPENCL_FUNCTIONS(CODE, MADE)                                                                                   \
  CODE(GetPlatformIDs, (cl_uint most, cl_platform_id *list, cl_uint *count), (most, list, count))                      \
  CODE(GetPlatformInfo, (cl_platform_id of, INFO_PARAMETERS(cl_platform_info)), (of, INFO_ARGUMENTS))                  \
  CODE(GetDeviceIDs, (cl_platform_id of, cl_device_type type, cl_uint most, cl_device_id *list, cl_uint *count),       \
       (of, type, most, list, count))                                                                                  \
  CODE(GetDeviceInfo, (cl_device_id of, INFO_PARAMETERS(cl_device_info)), (of, INFO_ARGUMENTS))                        \
  MADE(CreateContext, cl_context, (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,\
       void(CL_CALLBACK *tell)(const char *, const void *, size_t, void *), void *data, cl_int *error),                \
       (properties, count, devices, tell, data, error))                                                                \
  CODE(RetainContext, (cl_context of), (of))                                                                           \
  CODE(ReleaseContext, (cl_context of), (of))                                                                          \
  MADE(CreateCommandQueue, cl_command_queue, (cl_context in, cl_device_id device,                                      \
       cl_command_queue_properties properties, cl_int *error), (in, device, properties, error))                        \
  CODE(RetainCommandQueue, (cl_command_queue of), (of))                                                                \
  CODE(ReleaseCommandQueue, (cl_command_queue of), (of))                                                               \
  CODE(GetCommandQueueInfo, (cl_command_queue of, INFO_PARAMETERS(cl_command_queue_info)), (of, INFO_ARGUMENTS))       \
  MADE(CreateBuffer, cl_mem, (cl_context in, cl_mem_flags flags, size_t bytes, void *host, cl_int *error),             \
       (in, flags, bytes, host, error))                                                                                \
  CODE(ReleaseMemObject, (cl_mem of), (of))                                                                            \
  CODE(GetMemObjectInfo, (cl_mem of, INFO_PARAMETERS(cl_mem_info)), (of, INFO_ARGUMENTS))                              \
  MADE(CreateProgramWithSource, cl_program, (cl_context in, cl_uint count, const char **texts, const size_t *lengths,  \
       cl_int *error), (in, count, texts, lengths, error))                                                             \
  MADE(CreateProgramWithBinary, cl_program, (cl_context in, cl_uint count, const cl_device_id *devices,                \
       const size_t *lengths, const unsigned char **binaries, cl_int *verdicts, cl_int *error),                        \
       (in, count, devices, lengths, binaries, verdicts, error))                                                       \
  CODE(BuildProgram, (cl_program of, cl_uint count, const cl_device_id *devices, const char *options,                  \
       void(CL_CALLBACK *tell)(cl_program, void *), void *data), (of, count, devices, options, tell, data))            \
  CODE(GetProgramInfo, (cl_program of, INFO_PARAMETERS(cl_program_info)), (of, INFO_ARGUMENTS))                        \
  CODE(GetProgramBuildInfo, (cl_program of, cl_device_id device, INFO_PARAMETERS(cl_program_build_info)),              \
       (of, device, INFO_ARGUMENTS))                                                                                   \
  CODE(ReleaseProgram, (cl_program of), (of))                                                                          \
  MADE(CreateKernel, cl_kernel, (cl_program of, const char *name, cl_int *error), (of, name, error))                   \
  CODE(GetKernelWorkGroupInfo, (cl_kernel of, cl_device_id device, INFO_PARAMETERS(cl_kernel_work_group_info)),        \
       (of, device, INFO_ARGUMENTS))                                                                                   \
  CODE(SetKernelArg, (cl_kernel of, cl_uint i, size_t bytes, const void *value), (of, i, bytes, value))                \
  CODE(ReleaseKernel, (cl_kernel of), (of))                                                                            \
  CODE(EnqueueNDRangeKernel, (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,      \
       const size_t *global, const size_t *local, WAIT_PARAMETERS),                                                    \
       (queue, kernel, dimensions, offset, global, local, WAIT_ARGUMENTS))                                             \
  CODE(EnqueueReadBuffer, (cl_command_queue queue, cl_mem from, cl_bool wait, size_t offset, size_t bytes, void *to,   \
       WAIT_PARAMETERS), (queue, from, wait, offset, bytes, to, WAIT_ARGUMENTS))                                       \
  CODE(EnqueueWriteBuffer, (cl_command_queue queue, cl_mem to, cl_bool wait, size_t offset, size_t bytes,              \
       const void *from, WAIT_PARAMETERS), (queue, to, wait, offset, bytes, from, WAIT_ARGUMENTS))                     \
  CODE(EnqueueFillBuffer, (cl_command_queue queue, cl_mem to, const void *pattern, size_t pattern_bytes,               \
       size_t offset, size_t bytes, WAIT_PARAMETERS),                                                                  \
       (queue, to, pattern, pattern_bytes, offset, bytes, WAIT_ARGUMENTS))                                             \
  MADE(EnqueueMapBuffer, void *, (cl_command_queue queue, cl_mem of, cl_bool wait, cl_map_flags flags, size_t offset,  \
       size_t bytes, WAIT_PARAMETERS, cl_int *error), (queue, of, wait, flags, offset, bytes, WAIT_ARGUMENTS, error))  \
  CODE(EnqueueUnmapMemObject, (cl_command_queue queue, cl_mem of, void *mapped, WAIT_PARAMETERS),                      \
       (queue, of, mapped, WAIT_ARGUMENTS))                                                                            \
  CODE(EnqueueBarrierWithWaitList, (cl_command_queue queue, WAIT_PARAMETERS), (queue, WAIT_ARGUMENTS))                 \
  CODE(Flush, (cl_command_queue of), (of))                                                                             \
  CODE(Finish, (cl_command_queue of), (of))
/* clang-format on */

#endif
