/* SPDX-License-Identifier: BSD-2-Clause */
#include "trial.h"

#include <stdlib.h>

#include "../compare.h"
#include "driver.h"
#include "shim.h"

static unsigned char *data, *expected, *actual;
static CUstream stream;

static red_problem problem_of(const trial *t) {
  red_problem problem = RED_PROBLEM_INIT(t->kind, t->op, t->in, t->n);
  problem.out = t->out;
  problem.exact = t->exact;
  problem.in_memory = t->in_memory;
  problem.out_memory = t->out_memory;
  return problem;
}

/* The second input of dot is the first one from its second element on. */
static const void *second(const red_problem *problem, const void *in) {
  return takes_two(problem) ? (const char *)in + red_dtype_bytes(problem->in) : NULL;
}

static void give_back(red_context *context, void *memory) {
  shim_begin_giving();
  red_free(context, memory);
  shim_end_giving();
}

typedef struct things {
  red_plan *plan;
  red_queue *queue;
  void *in, *out, *workspace;
} things;

static red_status make(red_context *context, const trial *t, const red_problem *problem, things *all) {
  size_t bytes = (problem->n + 1) * red_dtype_bytes(problem->in);
  red_status status = red_plan_create(context, problem, &all->plan);
  if (status == RED_OK && t->how == CAPTURED) status = red_queue_wrap(context, stream, &all->queue);
  if (status == RED_OK && (t->how == OWN_QUEUE || t->how == OWN_WORKSPACE))
    status = red_queue_create(context, &all->queue);
  if (status == RED_OK && problem->in_memory == RED_DEVICE) {
    status = red_alloc(context, bytes, &all->in);
    if (status == RED_OK) status = red_upload(context, all->queue, all->in, 0, data, bytes);
  }
  if (status == RED_OK && problem->out_memory == RED_DEVICE)
    status = red_alloc(context, output_bytes(problem), &all->out);
  if (status == RED_OK && t->how == OWN_WORKSPACE)
    status = red_alloc(context, red_plan_workspace(all->plan), &all->workspace);
  return status;
}

static void unmake(red_context *context, things *all) {
  give_back(context, all->in);
  give_back(context, all->out);
  give_back(context, all->workspace);
  shim_begin_giving();
  red_queue_destroy(all->queue);
  shim_end_giving();
  shim_begin_giving();
  red_plan_destroy(all->plan);
  shim_end_giving();
}

/* The graph is launched whether the execution became a whole part of it or not, and then forgotten. */
static red_status captured(const things *all, const red_args *args) {
  CUgraph graph = NULL;
  CUgraphExec exec;
  ck_cuda(cuda.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  red_status status = red_plan_execute_args(all->plan, all->queue, args);
  ck_cuda(cuda.StreamEndCapture(stream, &graph));
  ck_cuda(cuda.GraphInstantiate(&exec, graph, 0));
  if (status == RED_OK) ck_cuda(cuda.GraphLaunch(exec, stream));
  ck_cuda(cuda.StreamSynchronize(stream));
  ck_cuda(cuda.GraphExecDestroy(exec));
  ck_cuda(cuda.GraphDestroy(graph));
  return status;
}

static red_status execute(red_context *context, const trial *t, const red_problem *problem, const things *all) {
  red_args args = {.size = sizeof args,
                   .in = problem->in_memory == RED_DEVICE ? all->in : data,
                   .out = problem->out_memory == RED_DEVICE ? all->out : actual,
                   .workspace = all->workspace};
  args.in2 = second(problem, args.in);
  if (all->workspace != NULL) args.workspace_bytes = red_plan_workspace(all->plan);
  prepare_output(problem, actual);
  red_status status = t->how == CAPTURED ? captured(all, &args) : red_plan_execute_args(all->plan, all->queue, &args);
  if (status == RED_OK && problem->out_memory == RED_DEVICE)
    status = red_download(context, all->queue, actual, all->out, 0, output_bytes(problem));
  return status;
}

red_status trial_run(red_context *context, const trial *t) {
  red_problem problem = problem_of(t);
  things all = {.plan = NULL};
  red_status status = make(context, t, &problem, &all);
  if (status == RED_OK) status = execute(context, t, &problem, &all);
  if (status == RED_OK)
    compare_outputs(&problem, shim_failed() != NULL ? shim_failed() : "afterwards", expected, actual);
  unmake(context, &all);
  return status;
}

void trial_begin(const trial *t) {
  red_problem problem = problem_of(t);
  problem.in_memory = problem.out_memory = RED_HOST;
  random_state random = random_start(301 + (uint64_t)t->in);
  random_numbers(&random, t->in, data, t->n + 1);
  prepare_output(&problem, expected);
  ck_red(red_reference2(&problem, data, second(&problem, data), expected));
  setenv("RED_CUDA_COMBINE", t->combine, 1);
}

void trial_end(void) {
  unsetenv("RED_CUDA_COMBINE");
}

void trial_open(uint64_t most) {
  ck_cuda(cuda.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  data = malloc((most + 1) * sizeof(double));
  expected = malloc(most * sizeof(double));
  actual = malloc(most * sizeof(double));
}

void trial_close(void) {
  ck_cuda(cuda.StreamDestroy(stream));
  free(data);
  free(expected);
  free(actual);
}
