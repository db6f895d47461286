/* SPDX-License-Identifier: BSD-2-Clause */
/* Executing a plan: where the data lies and where the result goes decide the way. */
#include "room.h"

#include <string.h>

#include "fpenv.h"

/* A scalar into device memory, as memsets: their values travel with the launch, also in a graph. */
static red_status store_scalar(CUstream stream, CUdeviceptr to, const red_scalar *value, unsigned bytes) {
  CUresult error = CUDA_SUCCESS;
  switch (bytes) {
  case 1:
    error = red_cu.MemsetD8Async(to, value->u8, 1, stream);
    break;
  case 2:
    error = red_cu.MemsetD16Async(to, value->u16, 1, stream);
    break;
  default:
    for (unsigned i = 0; i < bytes / 4 && error == CUDA_SUCCESS; i++)
      error = red_cu.MemsetD32Async(to + 4 * i, (unsigned)(value->u64 >> 32 * i), 1, stream);
    break;
  }
  return red_cuda_check(error, "writing a result");
}

/* The state of `n` elements becomes the result, on the host's side of things; -1 for an index that does not exist. */
static red_status finish(const red_lowered *lowered, red_state state, uint64_t n, red_scalar *value) {
  red_fpenv saved = red_fpenv_enter();
  red_status status = red_state_finish(lowered, state, n, value);
  red_fpenv_leave(saved);
  return status;
}

static red_status write_result(const red_cuda_job *job, const red_lowered *lowered, red_state state,
                               const red_exec *exec) {
  red_scalar value = {.u64 = 0};
  red_status status = finish(lowered, state, lowered->n, &value);
  if (lowered->out_memory == RED_DEVICE) {
    if (status == RED_ERR_EMPTY && lowered->n > 0)
      value.u64 = UINT64_MAX; /* an arg operator that found nothing */
    else if (status != RED_OK)
      return status;
    return store_scalar(job->queue->stream, job->out, &value, lowered->out_bytes);
  }
  if (status == RED_OK) memcpy((char *)exec->out + exec->out_offset, &value, lowered->out_bytes);
  return status;
}

/* Into device memory; for the host's the core does it. */
static red_status write_exact(const red_cuda_job *job, const red_lowered *lowered, const red_exact *sum) {
  red_scalar value = {.u64 = 0};
  red_fpenv saved = red_fpenv_enter();
  red_status status = red_exact_finish(lowered, sum, lowered->n, &value);
  red_fpenv_leave(saved);
  return status == RED_OK ? store_scalar(job->queue->stream, job->out, &value, lowered->out_bytes) : status;
}

/* ---- Device memory
 * -------------------------------------------------------------------------------------------------------- */

static red_status write_stats(const red_lowered *lowered, const red_cuda_answer *answer, void *out) {
  red_stats_state state;
  red_stats_result result;
  red_cuda_answer_stats(answer, lowered, lowered->n, &state);
  red_fpenv saved = red_fpenv_enter();
  red_stats_finish(lowered, &state, lowered->n, &result);
  red_fpenv_leave(saved);
  memcpy(out, &result, sizeof result);
  return RED_OK;
}

/* There is nothing to reduce, and the result lies on the device. */
static red_status write_empty(const red_cuda_job *job, const red_lowered *lowered, const red_exec *exec) {
  red_exact nothing;
  if (!lowered->exact) return write_result(job, lowered, red_state_identity(lowered), exec);
  red_exact_clear(&nothing);
  return write_exact(job, lowered, &nothing);
}

static red_status reduce_device(red_cuda_job *job, const red_lowered *lowered, const red_exec *exec) {
  if (lowered->n == 0) return write_empty(job, lowered, exec);
  if (lowered->out_memory == RED_DEVICE) return red_cuda_reduce_launch(job);
  red_cuda_question question;
  red_status status = job->queue->wrapped ? red_cuda_refuse_capture(job->queue, "a result in host memory") : RED_OK;
  if (status == RED_OK) status = red_cuda_ask(job->queue, &question);
  if (status != RED_OK) return status;
  job->question = &question;
  status = red_cuda_reduce_launch(job);
  if (status == RED_OK) status = red_cuda_await(job->queue, &question);
  if (status != RED_OK) return status;
  if (lowered->kind == RED_STATS && exec->stats != NULL)
    red_cuda_answer_stats(question.answer, lowered, lowered->n, exec->stats);
  else if (lowered->kind == RED_STATS)
    return write_stats(lowered, question.answer, (char *)exec->out + exec->out_offset);
  else if (lowered->exact)
    red_cuda_answer_exact(question.answer, exec->exact);
  else if (lowered->bounded)
    *exec->pair = red_cuda_answer_pair(question.answer, lowered);
  else
    return write_result(job, lowered, red_cuda_answer_state(question.answer), exec);
  return RED_OK;
}

/* exclusive[0] without init is the identity as an output, which is not always the identity of merging. */
static void set_first(red_cuda_job *job, const red_lowered *lowered) {
  job->inclusive = lowered->kind == RED_INCLUSIVE_SCAN;
  job->first_known = !job->inclusive && !lowered->has_init;
  if (!job->first_known) return;
  red_scalar value = {.u64 = 0};
  red_fpenv saved = red_fpenv_enter();
  red_state_store(lowered, red_state_from_acc(lowered, &lowered->identity), 0, &value);
  red_fpenv_leave(saved);
  job->first = value.u64;
}

/* ---- Either
 * ------------------------------------------------------------------------------------------------------------------ */

static red_status run(red_cuda_job *job, const red_lowered *lowered, const red_exec *exec) {
  if (red_is_scan(lowered->kind)) set_first(job, lowered);
  if (lowered->in_memory == RED_DEVICE) {
    if (!red_is_scan(lowered->kind)) return reduce_device(job, lowered, exec);
    return lowered->n > 0 ? red_cuda_scan_launch(job) : RED_OK;
  }
  red_status status = red_cuda_refuse_capture(job->queue, "host memory");
  if (status != RED_OK) return status;
  const void *in = (const char *)exec->in + exec->in_offset;
  const void *in2 = exec->in2 != NULL ? (const char *)exec->in2 + exec->in2_offset : NULL;
  void *out = (char *)exec->out + exec->out_offset;
  if (red_is_scan(lowered->kind)) return red_cuda_stage_scan(job, lowered, in, out, exec->total);
  red_state state;
  red_exact sum, *exact = exec->exact != NULL ? exec->exact : &sum;
  status = red_cuda_stage_reduce(job, lowered, in, in2, &state, exec->stats, lowered->exact ? exact : NULL, exec->pair);
  if (status != RED_OK || lowered->kind == RED_STATS || exec->exact != NULL || exec->pair != NULL) return status;
  if (lowered->exact) return write_exact(job, lowered, &sum);
  return write_result(job, lowered, state, exec);
}

red_status red_cuda_execute(void *state, const void *plan, const red_lowered *lowered, void *queue,
                            const red_exec *exec) {
  red_cuda_device *device = state;
  red_cuda_job job = {.device = device, .plan = plan, .queue = queue, .n = lowered->n};
  if (lowered->in_memory == RED_DEVICE) {
    job.in = (CUdeviceptr)(uintptr_t)exec->in + exec->in_offset;
    if (exec->in2 != NULL) job.in2 = (CUdeviceptr)(uintptr_t)exec->in2 + exec->in2_offset;
  }
  if (lowered->out_memory == RED_DEVICE) job.out = (CUdeviceptr)(uintptr_t)exec->out + exec->out_offset;
  if (exec->workspace != NULL) job.workspace = (CUdeviceptr)(uintptr_t)exec->workspace + exec->workspace_offset;
  red_cuda_scope scope;
  red_status status = red_cuda_enter(device, &scope);
  if (status != RED_OK) return status;
  red_cuda_queue *own = NULL;
  if (queue == NULL) status = red_cuda_take_queue(device, &own);
  if (own != NULL) job.queue = own;
  if (status == RED_OK) status = run(&job, lowered, exec);
  /* Half of an execution may have published words that the next one would take for its own. */
  if (status != RED_OK && job.queue != NULL) red_cuda_spoil_workspace(job.queue);
  if (own != NULL) {
    /* Without a queue the call waits. A result in host memory has been waited for already, unless something failed. */
    if (status != RED_OK || lowered->out_memory == RED_DEVICE) {
      CUresult error = red_cu.StreamSynchronize(own->stream);
      if (status == RED_OK) status = red_cuda_check(error, "waiting for the result");
    }
    red_cuda_give_queue(device, own);
  }
  red_cuda_leave(&scope);
  return status;
}
