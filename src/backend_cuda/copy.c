/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcpy by several threads: one thread moves less than the copy engine takes. The threads are started at the first
 * large copy and sleep between copies; one copy runs at a time.
 */
#include "room.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"

#define MOST_THREADS 8u
#define LEAST_BYTES  (1u << 20) /* below this waking threads costs more than it saves */

struct red_cuda_copiers {
  pthread_mutex_t turn; /* of copies */
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t begin, end;
  unsigned threads; /* besides the caller */
  pthread_t thread[MOST_THREADS];
  uint64_t round; /* of the current copy */
  unsigned busy;
  bool quit;
  char *to;
  const char *from;
  uint64_t bytes;
};

typedef struct worker {
  red_cuda_copiers *copiers;
  unsigned index;
} worker;

/* The part of one of `count` threads, cut at multiples of a page. */
static void copy_part(char *to, const char *from, uint64_t bytes, unsigned index, unsigned count) {
  uint64_t part = (bytes / count + 4096) & ~(uint64_t)4095; /* times count: more than bytes */
  uint64_t first = part * index;
  if (first >= bytes) return;
  memcpy(to + first, from + first, first + part < bytes ? part : bytes - first);
}

static void *work(void *at) {
  worker self = *(worker *)at;
  red_cuda_copiers *copiers = self.copiers;
  free(at);
  uint64_t round = 0;
  for (;;) {
    pthread_mutex_lock(&copiers->lock);
    while (copiers->round == round && !copiers->quit) pthread_cond_wait(&copiers->begin, &copiers->lock);
    bool quit = copiers->quit;
    round = copiers->round;
    pthread_mutex_unlock(&copiers->lock);
    if (quit) return NULL;
    copy_part(copiers->to, copiers->from, copiers->bytes, self.index, copiers->threads + 1);
    pthread_mutex_lock(&copiers->lock);
    if (--copiers->busy == 0) pthread_cond_signal(&copiers->end);
    pthread_mutex_unlock(&copiers->lock);
  }
}

static bool start(red_cuda_copiers *copiers) {
  worker *self = malloc(sizeof *self);
  if (self == NULL) return false;
  *self = (worker){copiers, copiers->threads};
  if (pthread_create(&copiers->thread[copiers->threads], NULL, work, self) == 0) return true;
  free(self);
  return false;
}

red_status red_cuda_copiers_create(red_cuda_copiers **made) {
  red_cuda_copiers *copiers = calloc(1, sizeof *copiers);
  if (copiers == NULL) return red_fail(RED_ERR_NO_MEMORY, "no memory for copying threads");
  pthread_mutex_init(&copiers->turn, NULL);
  pthread_mutex_init(&copiers->lock, NULL);
  pthread_cond_init(&copiers->begin, NULL);
  pthread_cond_init(&copiers->end, NULL);
  unsigned cpus = red_allowed_cpus(), wanted = cpus > 2 ? cpus / 2 - 1 : 0;
  if (wanted > MOST_THREADS - 1) wanted = MOST_THREADS - 1;
  sigset_t all, before; /* signals are for the application's threads */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_mutex_lock(&copiers->lock); /* they read `threads` */
  while (copiers->threads < wanted && start(copiers)) copiers->threads++;
  pthread_mutex_unlock(&copiers->lock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  *made = copiers;
  return RED_OK;
}

void red_cuda_copiers_destroy(red_cuda_copiers *copiers) {
  if (copiers == NULL) return;
  pthread_mutex_lock(&copiers->lock);
  copiers->quit = true;
  pthread_cond_broadcast(&copiers->begin);
  pthread_mutex_unlock(&copiers->lock);
  for (unsigned i = 0; i < copiers->threads; i++) pthread_join(copiers->thread[i], NULL);
  pthread_cond_destroy(&copiers->begin);
  pthread_cond_destroy(&copiers->end);
  pthread_mutex_destroy(&copiers->turn);
  pthread_mutex_destroy(&copiers->lock);
  free(copiers);
}

void red_cuda_copy(red_cuda_copiers *copiers, void *to, const void *from, uint64_t bytes) {
  if (copiers == NULL || copiers->threads == 0 || bytes < LEAST_BYTES) {
    memcpy(to, from, bytes);
    return;
  }
  pthread_mutex_lock(&copiers->turn);
  pthread_mutex_lock(&copiers->lock);
  copiers->to = to;
  copiers->from = from;
  copiers->bytes = bytes;
  copiers->busy = copiers->threads;
  copiers->round++;
  pthread_cond_broadcast(&copiers->begin);
  pthread_mutex_unlock(&copiers->lock);
  copy_part(to, from, bytes, copiers->threads, copiers->threads + 1);
  pthread_mutex_lock(&copiers->lock);
  while (copiers->busy > 0) pthread_cond_wait(&copiers->end, &copiers->lock);
  pthread_mutex_unlock(&copiers->lock);
  pthread_mutex_unlock(&copiers->turn);
}
