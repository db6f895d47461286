/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel arguments and launches. A kernel object keeps its arguments, and all threads share it: arguments are collected
 * first, then set and enqueued in one step under the device's launch lock, so that nothing waits while it is held.
 */
#include <string.h>

#include "device.h"

red_cl_rules red_cl_rules_of(const red_lowered *lowered) {
  return (red_cl_rules){
      .key_xor = lowered->key_xor,
      .inf = lowered->inf,
      .nan_key = (uint64_t)lowered->nan_key,
      .merge_zeros = lowered->merge_zeros,
      .nonzero_mask = lowered->nonzero_mask,
  };
}

red_cl_last red_cl_last_of(const red_lowered *lowered) {
  red_cl_last last = {
      .has_init = lowered->has_init,
      .out_type = (uint64_t)lowered->out,
      .out_bytes = lowered->out_bytes,
      .acc_bits = 8u * lowered->acc_bytes,
      .acc_signed = lowered->acc >= RED_I8 && lowered->acc <= RED_I64,
      .finish = (uint64_t)lowered->finish,
      .count = lowered->n,
  };
  if (lowered->has_init) last.init = red_state_from_acc(lowered, &lowered->init).u64;
  return last;
}

void red_cl_arg(red_cl_call *call, size_t bytes, const void *value) {
  const size_t words = (bytes + 7) / 8;
  call->too_many |= call->args == RED_CL_MOST_ARGS || words > RED_CL_ARG_WORDS - call->words;
  if (call->too_many) return;
  memcpy(&call->values[call->words], value, bytes);
  call->bytes[call->args++] = bytes;
  call->words += words;
}

void red_cl_arg_u64(red_cl_call *call, uint64_t value) {
  red_cl_arg(call, sizeof value, &value);
}

void red_cl_arg_u32(red_cl_call *call, uint32_t value) {
  red_cl_arg(call, sizeof value, &value);
}

void red_cl_arg_mem(red_cl_call *call, cl_mem memory) {
  red_cl_arg(call, sizeof memory, &memory);
}

static red_status set_args(const red_cl_call *call) {
  const uint64_t *value = call->values;
  cl_int error = CL_SUCCESS;
  for (cl_uint i = 0; i < call->args && error == CL_SUCCESS; value += (call->bytes[i++] + 7) / 8)
    error = red_cl.SetKernelArg(call->kernel, i, call->bytes[i], value);
  return red_cl_check(error, "clSetKernelArg");
}

static red_status enqueue(cl_command_queue queue, cl_kernel kernel, uint64_t groups, uint32_t lanes) {
  size_t local = lanes, global = (size_t)groups * lanes;
  cl_int error = red_cl.EnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
  return red_cl_check(error, "clEnqueueNDRangeKernel");
}

red_status red_cl_launch(const red_cl_run *run, const red_cl_call *call, uint64_t groups, uint32_t lanes) {
  if (call->too_many) return red_fail(RED_ERR_DRIVER, "a kernel of %s has too many arguments", run->device->traits.id);
  red_status status = red_cl_in_order(run->queue);
  if (status != RED_OK) return status;
  pthread_mutex_lock(&run->device->launch);
  status = set_args(call);
  if (status == RED_OK) status = enqueue(run->queue->queue, call->kernel, groups, lanes);
  pthread_mutex_unlock(&run->device->launch);
  return status;
}
