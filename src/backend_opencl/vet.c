/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The known-answer test of a driver that has not passed it here yet runs in a process of its own, so that a driver that
 * hangs or aborts does not take the application with it. What passed is remembered in the cache, for this version of
 * everything that has a part in it; what failed is tried again next time. Without the helper program the test runs in
 * the application's process, as for other backends.
 */
#define _GNU_SOURCE /* dladdr, pipe2, secure_getenv */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "texts.h"

#define DEFAULT_SECONDS 120
#define SECONDS_TO_END  5

/* ---- What has passed ---- */

/* All that chooses the kernels: others have not been tried. */
static void locate(const red_cl_device *device, red_cl_cache_entry *entry) {
  const red_cl_traits *traits = &device->traits;
  char options[192];
  const char *texts[] = {red_cl_texts_digest};
  snprintf(options, sizeof options,
           "self-test: shape %d:%u, f64 %d, one pass %d, pipe %d, one launch %d, group %u of %zu, local %llu",
           (int)traits->shape, (unsigned)traits->subgroup_size, traits->f64, traits->one_pass, traits->pipe,
           traits->one_launch, (unsigned)device->group, traits->most_group, (unsigned long long)traits->local_memory);
  red_cl_cache_locate(traits, texts, 1, options, entry);
}

/* Where the cache cannot be written this process remembers for itself. */
#define MOST_REMEMBERED 16
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char remembered[MOST_REMEMBERED][16];
static unsigned remembered_count;

static bool has_passed(const red_cl_cache_entry *entry) {
  size_t bytes;
  unsigned char *stamp = red_cl_cache_load(entry, &bytes);
  bool found = stamp != NULL;
  free(stamp);
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < remembered_count; i++) found |= memcmp(remembered[i], entry->key, sizeof entry->key) == 0;
  pthread_mutex_unlock(&lock);
  return found;
}

static void remember(const red_cl_cache_entry *entry) {
  static const unsigned char stamp[] = "passed";
  if (red_cl_cache_store(entry, stamp, sizeof stamp)) return;
  pthread_mutex_lock(&lock);
  if (remembered_count < MOST_REMEMBERED) memcpy(remembered[remembered_count++], entry->key, sizeof entry->key);
  pthread_mutex_unlock(&lock);
}

/* ---- The helper ---- */

/* RED_OPENCL_PROBE, else where it was installed, else where it lies if the installation was moved. */
static bool find_helper(char *path, size_t bytes) {
  static const char *const near_library[] = {"../libexec/libred", "../../libexec/libred"};
  const char *named = secure_getenv("RED_OPENCL_PROBE");
  if (named != NULL && *named != '\0') {
    snprintf(path, bytes, "%s", named);
    return strcmp(named, "0") != 0;
  }
  snprintf(path, bytes, "%s", RED_OPENCL_PROBE_PATH);
  if (access(path, X_OK) == 0) return true;
  Dl_info self;
  if (dladdr(near_library, &self) == 0 || self.dli_fname == NULL) return false;
  const char *slash = strrchr(self.dli_fname, '/');
  for (unsigned i = 0; slash != NULL && i < sizeof near_library / sizeof near_library[0]; i++) {
    snprintf(path, bytes, "%.*s/%s/red-opencl-probe", (int)(slash - self.dli_fname), self.dli_fname, near_library[i]);
    if (access(path, X_OK) == 0) return true;
  }
  return false;
}

/* Start it with its standard output in a pipe, no signal blocked or ignored, in a process group of its own. */
static int start(const char *helper, const char *id, int output, pid_t *child) {
  char version[] = RED_VERSION_STRING;
  char *arguments[] = {(char *)helper, version, (char *)id, NULL};
  char **environment = red_cl_helper_environment();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  if (environment == NULL) return ENOMEM;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0); /* a dying driver's words */
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  int error = posix_spawn(child, helper, &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  free(environment);
  return error;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The helper's one line; false if the time is up before it or the output ends: the pipe may have other writers. */
static bool listen_to(int input, unsigned seconds, char *answer, size_t bytes) {
  double end = now() + seconds;
  size_t used = 0;
  while (memchr(answer, '\n', used) == NULL) {
    double left = end - now();
    struct pollfd ready = {.fd = input, .events = POLLIN};
    if (left <= 0) return false;
    int got = poll(&ready, 1, (int)(left * 1000) + 1);
    if (got < 0 && errno != EINTR) break;
    if (got <= 0) continue;
    ssize_t count = read(input, answer + used, bytes - 1 - used);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || used + 1 == bytes) break;
    used += (size_t)count;
  }
  answer[used] = '\0';
  answer[strcspn(answer, "\n")] = '\0';
  return true;
}

/*
 * The exit status, or -1 if the application's own handler of SIGCHLD has taken it. False if it does not end: even one
 * that was killed does not while its driver is stuck in the kernel.
 */
static bool reap(pid_t child, int *status) {
  const struct timespec pause = {.tv_nsec = 1000000};
  double end = now() + SECONDS_TO_END;
  *status = -1;
  for (;;) {
    pid_t got = waitpid(child, status, WNOHANG);
    if (got == child || (got < 0 && errno != EINTR)) return true;
    if (now() > end) return false;
    nanosleep(&pause, NULL);
  }
}

static void end_group(pid_t child) {
  int status;
  if (kill(-child, SIGKILL) != 0) kill(child, SIGKILL);
  if (!reap(child, &status)) red_log("process %ld of the self-test cannot be ended", (long)child);
}

/* ---- What it says ---- */

static red_status judge(const red_cl_traits *traits, const char *helper, const char *answer, int status, bool *passed) {
  unsigned code;
  int words;
  *passed = strcmp(answer, "passed") == 0;
  if (*passed) return RED_OK;
  if (sscanf(answer, "failed %u %n", &code, &words) == 1)
    return red_fail((red_status)code, "in a process of its own: %.400s", answer + words);
  if (strcmp(answer, "not exact") == 0) { /* exact reductions fail when they are asked for, the rest is done */
    red_log("%s: exact sums fail: the self-test runs in this process, too", traits->id);
    return RED_OK;
  }
  bool never_began = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127; /* no loader, no library */
  if (strcmp(answer, "other version") == 0 || strcmp(answer, "no such device") == 0 || never_began) {
    red_log("%s: %s is of no use: the self-test runs in this process", traits->id, helper);
    return RED_OK;
  }
  if (status != -1 && WIFSIGNALED(status))
    return red_fail(RED_ERR_DRIVER, "the self-test, in a process of its own, was ended by signal %d (%s)",
                    WTERMSIG(status), strsignal(WTERMSIG(status)));
  return red_fail(RED_ERR_DRIVER, "the self-test, in a process of its own, ended without an answer");
}

static red_status run_helper(const red_cl_traits *traits, const char *helper, bool *passed) {
  const char *limit = getenv("RED_OPENCL_PROBE_SECONDS");
  unsigned seconds = limit != NULL && atoi(limit) > 0 ? (unsigned)atoi(limit) : DEFAULT_SECONDS;
  int ends[2], error;
  pid_t child;
  char answer[600] = "";
  if (pipe2(ends, O_CLOEXEC) != 0) return red_fail(RED_ERR_DRIVER, "no pipe for the self-test: %s", strerror(errno));
  error = start(helper, traits->id, ends[1], &child);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    red_log("%s: %s cannot be started (%s): the self-test runs in this process", traits->id, helper, strerror(error));
    return RED_OK;
  }
  int status = -1;
  bool in_time = listen_to(ends[0], seconds, answer, sizeof answer);
  close(ends[0]);
  if (!in_time || !reap(child, &status)) end_group(child);
  if (!in_time)
    return red_fail(RED_ERR_DRIVER, "the self-test, in a process of its own, did not finish within %u s", seconds);
  return judge(traits, helper, answer, status, passed);
}

red_status red_cl_vet(const red_cl_device *device, bool *passed) {
  char helper[PATH_MAX];
  red_cl_cache_entry entry;
  *passed = false;
  if (!find_helper(helper, sizeof helper)) return RED_OK;
  locate(device, &entry);
  red_status status = RED_OK;
  *passed = has_passed(&entry);
  if (!*passed) {
    status = run_helper(&device->traits, helper, passed);
    if (*passed) remember(&entry);
  }
  red_cl_cache_release(&entry);
  return status;
}
