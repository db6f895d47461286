/* SPDX-License-Identifier: BSD-2-Clause */
#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "report.h"

enum {
  SENTENCE_BYTES = 512,
  MAPPINGS = 2
};

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT /* drivers and run-times call abort */};
enum {
  ENDING = sizeof ending / sizeof *ending
};

static const char *volatile temporary;
static volatile bool leaving;
static struct {
  volatile uintptr_t begin, end;
  volatile size_t message_bytes;
  char message[ESCAPED_BYTES * SENTENCE_BYTES];
} mappings[MAPPINGS];
static atomic_flag reported = ATOMIC_FLAG_INIT;

/* Only async-signal-safe functions below; the handler may run on a worker thread of the library. */

static void unlink_temporary(void) {
  const char *path = temporary;
  if (path) unlink(path);
}

static void on_ending(int signal_number) {
  unlink_temporary();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/* Not main has ended the process, but a run-time: GCC's OpenMP, when it cannot start a thread, with status 1. */
static void on_exit_elsewhere(void) {
  if (leaving) return;
  unlink_temporary();
  _exit(EXIT_LIBRARY);
}

static void on_bus_error(int signal_number, siginfo_t *information, void *unused) {
  (void)unused;
  const uintptr_t address = (uintptr_t)information->si_addr;
  unlink_temporary();
  for (int i = 0; i < MAPPINGS; i++) {
    if (address < mappings[i].begin || address >= mappings[i].end) continue;
    while (atomic_flag_test_and_set(&reported)) pause(); /* another thread is telling it */
    if (write(STDERR_FILENO, mappings[i].message, mappings[i].message_bytes) < 0) _exit(EXIT_IO);
    _exit(EXIT_IO);
  }
  signal(signal_number, SIG_DFL); /* returning repeats the access, which then ends the process */
}

static void install_unless_ignored(int signal_number, const struct sigaction *action) {
  struct sigaction old;
  if (sigaction(signal_number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) return; /* nohup */
  sigaction(signal_number, action, NULL);
}

void signals_install(void) {
  struct sigaction end = {.sa_handler = on_ending};
  sigemptyset(&end.sa_mask);
  end.sa_flags = SA_NODEFER;
  for (int i = 0; i < ENDING; i++) install_unless_ignored(ending[i], &end);
  struct sigaction bus = {.sa_sigaction = on_bus_error};
  sigemptyset(&bus.sa_mask);
  bus.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &bus, NULL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  atexit(on_exit_elsewhere);
}

void signals_leave(void) {
  leaving = true;
}

static void mask(int how) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < ENDING; i++) sigaddset(&set, ending[i]);
  sigprocmask(how, &set, NULL);
}

void signals_hold(void) {
  mask(SIG_BLOCK);
}
void signals_release(void) {
  mask(SIG_UNBLOCK);
}

void signals_set_temporary(const char *path) {
  temporary = path;
}

void signals_add_mapping(const char *name, const void *address, size_t bytes) {
  int i = 0;
  while (i < MAPPINGS && mappings[i].end != 0) i++;
  if (i == MAPPINGS) return;
  char sentence[SENTENCE_BYTES];
  snprintf(sentence, sizeof sentence, "redtool: %.400s: the file shrank while it was read, or could not be read", name);
  escape(mappings[i].message, sentence);
  strcat(mappings[i].message, "\n");
  mappings[i].message_bytes = strlen(mappings[i].message);
  mappings[i].begin = (uintptr_t)address;
  mappings[i].end = mappings[i].begin + bytes;
}

void signals_remove_mapping(const void *address) {
  for (int i = 0; i < MAPPINGS; i++)
    if (mappings[i].end != 0 && mappings[i].begin == (uintptr_t)address) mappings[i].end = 0;
}
