/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues are independent: while a thread awaits a result in one, others work in theirs. Two queues are held back by
 * events of the application's, a thread executes in each, and the second is let go while the first is still held.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "native.h"

enum {
  N = 100000,
  PATIENCE = 30000 /* ms */
};

typedef cl_event (*create_user_event)(cl_context, cl_int *);
typedef cl_int (*set_event_status)(cl_event, cl_int);
typedef cl_int (*release_event)(cl_event);

/* A queue behind a gate, and a thread that works in it until there is a result. */
typedef struct lane {
  cl_command_queue queue;
  red_queue *wrapper;
  cl_event gate;
  const red_problem *problem;
  const red_plan *plan; /* NULL: the driver alone */
  const void *in;
  void *out;
  pthread_t thread;
  red_status status;
  atomic_bool done;
} lane;

static lane lanes[2];

static void *work(void *state) {
  lane *own = state;
  if (own->plan != NULL) {
    own->status = red_plan_execute(own->plan, own->wrapper, own->in, own->out);
  } else {
    cl_int error = red_cl.EnqueueReadBuffer(own->queue, (cl_mem)own->in, CL_TRUE, 0, 8, own->out, 0, NULL, NULL);
    own->status = error == CL_SUCCESS ? RED_OK : RED_ERR_DRIVER;
  }
  atomic_store(&own->done, true);
  return NULL;
}

static void wait_ms(long ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void shut(lane *own) {
  create_user_event create;
  cl_int error;
  *(void **)&create = function("clCreateUserEvent");
  own->gate = create(native, &error);
  ck_assert_int_eq(error, CL_SUCCESS);
  ck_assert_int_eq(red_cl.EnqueueBarrierWithWaitList(own->queue, 1, &own->gate, NULL), CL_SUCCESS);
  ck_assert_int_eq(red_cl.Flush(own->queue), CL_SUCCESS);
  atomic_store(&own->done, false);
}

static void open_gate(lane *own) {
  set_event_status set;
  release_event release;
  *(void **)&set = function("clSetUserEventStatus");
  *(void **)&release = function("clReleaseEvent");
  ck_assert_int_eq(set(own->gate, CL_COMPLETE), CL_SUCCESS);
  ck_assert_int_eq(release(own->gate), CL_SUCCESS);
}

/* Did the second lane's result come while the first was held back? Both have theirs in the end. */
static bool overlap(void) {
  for (int i = 0; i < 2; i++) {
    shut(&lanes[i]);
    ck_assert_int_eq(pthread_create(&lanes[i].thread, NULL, work, &lanes[i]), 0);
    wait_ms(100); /* until it waits */
  }
  ck_assert(!atomic_load(&lanes[0].done));
  open_gate(&lanes[1]);
  for (int i = 0; i < PATIENCE && !atomic_load(&lanes[1].done); i++) wait_ms(1);
  bool second_done = atomic_load(&lanes[1].done);
  open_gate(&lanes[0]);
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(pthread_join(lanes[i].thread, NULL), 0);
    ck_assert_int_eq(lanes[i].status, RED_OK);
  }
  return second_done;
}

/* What the driver itself does with two reads. */
static bool driver_overlaps(void) {
  uint64_t words[2];
  cl_mem memory = filled(NULL, 64, 0);
  for (int i = 0; i < 2; i++) {
    lanes[i].plan = NULL;
    lanes[i].in = memory;
    lanes[i].out = &words[i];
  }
  bool overlaps = overlap();
  red_free(context, memory);
  return overlaps;
}

static void compare_overlapping(red_problem problem, red_memory in_memory) {
  random_state random = random_start(problem.op);
  size_t bytes = output_bytes(&problem);
  unsigned char *in = malloc(8 * N), *expected = malloc(bytes);
  random_elements(&random, problem.in, in, problem.n);
  prepare_output(&problem, expected);
  ck_red(red_reference(&problem, in, expected));
  cl_mem memory = filled(in, problem.n * red_dtype_bytes(problem.in), 0);
  problem.in_memory = in_memory;
  red_plan *plan = NULL;
  if (!may_refuse(&problem, red_plan_create(context, &problem, &plan))) {
    ck_assert_msg(plan != NULL, "%s", red_last_error());
    for (int i = 0; i < 2; i++) {
      lanes[i].plan = plan;
      lanes[i].in = in_memory == RED_DEVICE ? (const void *)memory : in;
      lanes[i].out = malloc(bytes);
      prepare_output(&problem, lanes[i].out);
    }
    ck_assert_msg(overlap(), "the second queue waited for the first: %s of kind %d", red_op_name(problem.op),
                  (int)problem.kind);
    for (int i = 0; i < 2; i++) {
      compare_outputs(&problem, "in a queue of its own", expected, lanes[i].out);
      free(lanes[i].out);
    }
  }
  red_plan_destroy(plan);
  red_free(context, memory);
  free(in);
  free(expected);
}

START_TEST(waits_overlap) {
  for (int i = 0; i < 2; i++) {
    cl_int error;
    lanes[i].queue = red_cl.CreateCommandQueue(native, native_device, 0, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    ck_red(red_queue_wrap(context, lanes[i].queue, &lanes[i].wrapper));
  }
  if (driver_overlaps()) {
    red_problem sum = RED_PROBLEM_INIT(RED_REDUCE, RED_SUM, RED_F32, N), exact = sum;
    red_problem index = RED_PROBLEM_INIT(RED_REDUCE, RED_ARGMAX, RED_I32, N);
    red_problem stats = RED_PROBLEM_INIT(RED_STATS, RED_SUM, RED_F32, N);
    red_problem scan = RED_PROBLEM_INIT(RED_INCLUSIVE_SCAN, RED_SUM, RED_F32, N);
    exact.exact = 1;
    compare_overlapping(sum, RED_DEVICE);
    compare_overlapping(exact, RED_DEVICE);
    compare_overlapping(index, RED_HOST);
    compare_overlapping(stats, RED_DEVICE);
    compare_overlapping(scan, RED_HOST);
  } else {
    printf("the driver's own queues wait for each other\n");
  }
  for (int i = 0; i < 2; i++) {
    red_queue_destroy(lanes[i].wrapper);
    ck_assert_int_eq(red_cl.ReleaseCommandQueue(lanes[i].queue), CL_SUCCESS);
  }
}
END_TEST

static void fill(TCase *tests) {
  tcase_add_checked_fixture(tests, open_native, close_native);
  tcase_add_test(tests, waits_overlap);
}

int main(void) {
  return suite_run("opencl queues", fill);
}
