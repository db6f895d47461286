/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

enum {
  LINE_BYTES = 512,
  MOST_PATIENCE = 86400,
  DEFAULT_PATIENCE = 120, /* seconds: a first call may compile, and a large problem wants its arrays filled */
  LEAVING_SECONDS = 5
};

extern char **environ;

/* ---- lines ---- */

static int ended(const struct peer *peer) {
  complain("peer '%s' ended early", peer->command);
  return EXIT_LIBRARY;
}

static int say(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int say(struct peer *peer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = vfprintf(peer->to, format, arguments);
  va_end(arguments);
  return written < 0 || fflush(peer->to) != 0 ? ended(peer) : EXIT_OK;
}

static int patience(void) {
  const char *text = getenv("RED_PEER_SECONDS");
  const long seconds = text ? strtol(text, NULL, 10) : 0;
  return seconds >= 1 && seconds <= MOST_PATIENCE ? (int)seconds : DEFAULT_PATIENCE;
}

static int wait_for_it(const struct peer *peer) {
  struct pollfd from = {.fd = peer->from, .events = POLLIN};
  const int seconds = patience();
  int ready;
  do ready = poll(&from, 1, 1000 * seconds);
  while (ready < 0 && errno == EINTR);
  if (ready > 0) return EXIT_OK;
  if (ready == 0)
    complain("peer '%s' said nothing for %d seconds (RED_PEER_SECONDS)", peer->command, seconds);
  else
    complain("peer '%s' cannot be heard: %s", peer->command, strerror(errno));
  return EXIT_LIBRARY;
}

/* The next line without its end. Lines are short, and the peer's clock does not run meanwhile: a byte at a time. */
static int hear(struct peer *peer, char line[LINE_BYTES]) {
  size_t length = 0;
  while (length + 1 < LINE_BYTES) {
    const int code = wait_for_it(peer);
    if (code) return code;
    if (read(peer->from, &line[length], 1) != 1) {
      if (length == 0) return ended(peer);
      break;
    }
    if (line[length] == '\n') break;
    length++;
  }
  line[length] = 0;
  line[strcspn(line, "\r")] = 0;
  return EXIT_OK;
}

static int misunderstood(const struct peer *peer, const char *line, const char *expected) {
  complain("peer '%s' said '%s' instead of '%s'", peer->command, line, expected);
  return EXIT_LIBRARY;
}

/* ---- processes ---- */

/* Its end of each pipe becomes a standard stream; ours are closed by exec. */
static int spawn(struct peer *peer, const int in[2], const int out[2]) {
  const char *const words[] = {"sh", "-c", peer->command, NULL};
  posix_spawn_file_actions_t actions;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed) return failed;
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  if (!failed) failed = posix_spawn(&peer->process, "/bin/sh", &actions, NULL, (char **)(uintptr_t)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

static int make_pipe(int ends[2]) {
  if (pipe(ends)) return errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return 0;
}

static int start(struct peer *peer) {
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  int failed = make_pipe(in);
  if (!failed) failed = make_pipe(out);
  if (!failed) failed = spawn(peer, in, out);
  if (in[0] >= 0) close(in[0]);
  if (out[1] >= 0) close(out[1]);
  peer->to = in[1] >= 0 ? fdopen(in[1], "w") : NULL;
  peer->from = out[0];
  if (!failed && peer->to) return EXIT_OK;
  if (failed) peer->process = 0;
  complain("peer '%s' cannot be started: %s", peer->command, strerror(failed ? failed : ENOMEM));
  return EXIT_LIBRARY;
}

/* Once its input has ended it should, too; one that hangs is ended. */
static void close_peer(struct peer *peer) {
  const struct timespec pause = {.tv_nsec = 2000000};
  if (peer->to) fclose(peer->to);
  if (peer->from >= 0) close(peer->from);
  if (!peer->process) return;
  const double begun = sampling_now();
  while (waitpid(peer->process, NULL, WNOHANG) == 0) {
    if (sampling_now() - begun > LEAVING_SECONDS) kill(peer->process, SIGKILL);
    nanosleep(&pause, NULL);
  }
}

/* ---- who it is ---- */

static const char greeting[] = "peer 1 NAME DEVICE";

/* Names stand in tables, pictures and CSV. */
static bool is_plain(const char *name) {
  for (; *name; name++)
    if (*name <= ' ' || *name > '~' || strchr(",\"", *name)) return false;
  return true;
}

static int greet(struct peer *peer, const struct bench_devices *devices) {
  char line[LINE_BYTES];
  int end = 0, code = hear(peer, line);
  if (code) return code;
  if (strncmp(line, "no ", 3) == 0) {
    complain("peer '%s' is left out: %s", peer->command, line + 3);
    peer->absent = true;
    return EXIT_OK;
  }
  if (sscanf(line, "peer 1 %31s %63s%n", peer->info.id, peer->device, &end) != 2 || line[end] ||
      !is_plain(peer->info.id) || !is_plain(peer->device))
    return misunderstood(peer, line, greeting);
  peer->on_host = strcmp(peer->device, "omp") == 0;
  peer->home = bench_devices_find(devices, peer->device);
  if (peer->home) peer->info.bandwidth = peer->home->info.bandwidth;
  return EXIT_OK;
}

int peers_open(struct peers *peers, const char *const *commands, size_t count, const struct bench_devices *devices,
               const struct arrays *arrays) {
  int code = EXIT_OK;
  peers->list = calloc(count + 1, sizeof *peers->list);
  if (!peers->list) {
    complain("out of memory for %zu peers", count);
    return EXIT_LIBRARY;
  }
  for (size_t i = 0; i < count && !code; i++) {
    struct peer *peer = &peers->list[peers->count++];
    *peer = (struct peer){.command = commands[i], .arrays = arrays, .from = -1, .info = {.size = sizeof peer->info}};
    code = start(peer);
    if (!code) code = greet(peer, devices);
    if (peer->absent) close_peer(&peers->list[--peers->count]);
  }
  return code;
}

void peers_close(struct peers *peers) {
  for (size_t i = 0; i < peers->count; i++) close_peer(&peers->list[i]);
  free(peers->list);
  *peers = (struct peers){NULL, 0};
}

/* ---- what it does ---- */

int peer_take(struct peer *peer, const red_problem *p, bool *taken, char *reason, size_t reason_bytes) {
  static const char *const kinds[] = {
      [RED_REDUCE] = "reduce", [RED_INCLUSIVE_SCAN] = "scan", [RED_EXCLUSIVE_SCAN] = "exscan"};
  char line[LINE_BYTES];
  *taken = false;
  if (p->kind == RED_STATS || p->has_init || p->exact) {
    snprintf(reason, reason_bytes, "peers have no statistics, initial values or exact sums");
    return EXIT_OK;
  }
  int code = say(peer, "case %s %s %s %s %" PRIu64 "\n", kinds[p->kind], red_op_name(p->op), red_dtype_name(p->in),
                 red_dtype_name(p->out), p->n);
  if (!code) code = hear(peer, line);
  if (code) return code;
  *taken = strcmp(line, "ready") == 0;
  if (*taken) return EXIT_OK;
  if (strncmp(line, "no ", 3) != 0) return misunderstood(peer, line, "ready' or 'no REASON");
  snprintf(reason, reason_bytes, "%s", line + 3);
  return EXIT_OK;
}

/* Threads of a runtime may spin for some milliseconds for more work, which would slow down who is next. */
static int settle(void *argument) {
  const struct timespec pause = {.tv_nsec = 12000000};
  (void)argument;
  nanosleep(&pause, NULL);
  return EXIT_OK;
}

/* Not NaN, not infinite, and no less than any clock shows. */
static bool is_duration(double seconds) {
  return seconds >= 1e-12 && seconds < 1e12;
}

static int run(void *argument, unsigned calls) {
  struct peer *peer = argument;
  char line[LINE_BYTES];
  int end = 0, code = say(peer, "%s %u\n", peer->cold ? "cold" : "warm", calls);
  if (!code) code = hear(peer, line);
  if (code) return code;
  if (sscanf(line, "done %lf%n", &peer->seconds, &end) != 1 || line[end] || !is_duration(peer->seconds))
    return misunderstood(peer, line, "done SECONDS");
  return settle(peer);
}

static int chill(void *argument) {
  struct peer *peer = argument;
  if (!peer->on_host) return EXIT_OK; /* it does that itself: another process on a GPU comes with a change of context */
  arrays_chill(peer->arrays);
  return settle(peer);
}

struct contestant peer_contestant(struct peer *peer, bool cold) {
  peer->cold = cold;
  return (struct contestant){
      .run = run, .before = cold ? chill : settle, .single = cold, .argument = peer, .told = &peer->seconds};
}
