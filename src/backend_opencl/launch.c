/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel arguments and launches. The caller holds the device's launch lock from the first argument to the launch. */
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
  cl_int error = red_cl.SetKernelArg(call->kernel, call->next++, bytes, value);
  if (call->error == CL_SUCCESS) call->error = error;
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

red_status red_cl_launch(red_cl_queue *queue, red_cl_call *call, uint64_t groups, uint32_t lanes) {
  if (call->error != CL_SUCCESS) return red_cl_check(call->error, "clSetKernelArg");
  red_status status = red_cl_in_order(queue);
  if (status != RED_OK) return status;
  size_t local = lanes, global = (size_t)groups * lanes;
  cl_int error = red_cl.EnqueueNDRangeKernel(queue->queue, call->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
  return red_cl_check(error, "clEnqueueNDRangeKernel");
}
