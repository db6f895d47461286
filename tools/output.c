/* SPDX-License-Identifier: BSD-2-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "signals.h"

static int failed(const struct output *out) {
  return io_error("%s: %s", out->name, strerror(errno));
}

static int no_memory(const struct output *out) {
  complain("%s: out of memory for its name", out->name);
  return EXIT_LIBRARY;
}

/* ---- opening ---- */

/* "DIRECTORY/.NAME.XXXXXX", for mkstemp. */
static char *temporary_template(const char *target) {
  const char *slash = strrchr(target, '/');
  const size_t directory = slash ? (size_t)(slash - target) + 1 : 0;
  const size_t bytes = strlen(target) + sizeof "..XXXXXX";
  char *text = malloc(bytes);
  if (text) snprintf(text, bytes, "%.*s.%.200s.XXXXXX", (int)directory, target, target + directory);
  return text;
}

/* mkstemp makes private files; ours gets the mode of the file that it replaces, or the usual one. */
static mode_t final_mode(const char *target) {
  struct stat status;
  if (stat(target, &status) == 0) return status.st_mode & 0777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static int open_temporary(struct output *out) {
  out->temporary = temporary_template(out->target);
  if (!out->temporary) return no_memory(out);
  signals_hold();
  out->fd = mkstemp(out->temporary);
  if (out->fd >= 0) signals_set_temporary(out->temporary);
  signals_release();
  if (out->fd < 0) {
    free(out->temporary);
    out->temporary = NULL;
    return failed(out);
  }
  if (fchmod(out->fd, final_mode(out->target)) != 0) return failed(out);
  return EXIT_OK;
}

static int open_directly(struct output *out) {
  out->fd = open(out->name, O_WRONLY | O_CLOEXEC);
  return out->fd < 0 ? failed(out) : EXIT_OK;
}

static int open_standard_output(struct output *out) {
  out->name = "standard output";
  out->fd = STDOUT_FILENO;
  out->standard = true;
  if (isatty(STDOUT_FILENO) && !out->force)
    return usage_error("standard output is a terminal; --force writes binary data to it all the same");
  return EXIT_OK;
}

int output_open(struct output *out, const char *path, bool force) {
  struct stat status;
  *out = (struct output){.name = path, .fd = -1, .force = force};
  if (strcmp(path, "-") == 0) return open_standard_output(out);
  const bool exists = stat(path, &status) == 0;
  if (!exists && errno != ENOENT) return failed(out);
  if (!exists && lstat(path, &status) == 0) return io_error("%s: is a dangling link", path);
  if (exists && S_ISDIR(status.st_mode)) return io_error("%s: is a directory", path);
  if (exists && !S_ISREG(status.st_mode)) return open_directly(out);
  if (exists && !force) return io_error("%s: exists; --force replaces it", path);
  /* A link stays, and the file that it leads to is replaced. */
  out->target = exists ? realpath(path, NULL) : strdup(path);
  if (!out->target) return errno == ENOMEM ? no_memory(out) : failed(out);
  return open_temporary(out);
}

bool output_rewindable(const struct output *out) {
  return out->temporary != NULL;
}

/* ---- writing ---- */

int output_write(struct output *out, const void *data, size_t bytes) {
  const char *from = data;
  while (bytes > 0) {
    const ssize_t w = write(out->fd, from, bytes);
    if (w < 0 && errno == EINTR) continue;
    if (w < 0) return failed(out);
    from += w;
    bytes -= (size_t)w;
  }
  return EXIT_OK;
}

int output_rewrite(struct output *out, const void *data, size_t bytes) {
  const ssize_t w = pwrite(out->fd, data, bytes, 0);
  if (w == (ssize_t)bytes) return EXIT_OK;
  if (w >= 0) errno = ENOSPC;
  return failed(out);
}

/* ---- giving the name ---- */

static int close_file(struct output *out) {
  const int result = close(out->fd);
  out->fd = -1;
  return result == 0 ? EXIT_OK : failed(out);
}

static int already_there(const struct output *out) {
  return io_error("%s: was created meanwhile; --force replaces it", out->name);
}

/* Unlike rename, link never replaces; some file systems have no links. */
static int name_new_file(struct output *out) {
  struct stat status;
  if (link(out->temporary, out->target) == 0) {
    unlink(out->temporary);
    return EXIT_OK;
  }
  if (errno == EEXIST || lstat(out->target, &status) == 0) return already_there(out);
  return rename(out->temporary, out->target) == 0 ? EXIT_OK : failed(out);
}

/*
 * The name itself must survive a crash too; file systems that cannot promise it say so by an error, which is no loss.
 */
static void sync_directory(const char *target) {
  const char *slash = strrchr(target, '/');
  char *directory = slash ? strndup(target, slash == target ? 1 : (size_t)(slash - target)) : strdup(".");
  if (!directory) return;
  const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  free(directory);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

static void forget_temporary(struct output *out) {
  signals_set_temporary(NULL);
  free(out->temporary);
  out->temporary = NULL;
}

int output_commit(struct output *out) {
  if (out->standard) return EXIT_OK; /* closed, and checked, at the end of main */
  if (!out->temporary) return close_file(out);
  if (fsync(out->fd) != 0) return failed(out);
  int code = close_file(out);
  if (code) return code;
  if (!out->force)
    code = name_new_file(out);
  else if (rename(out->temporary, out->target) != 0)
    code = failed(out);
  if (code) return code;
  forget_temporary(out);
  sync_directory(out->target);
  return EXIT_OK;
}

void output_close(struct output *out) {
  if (out->fd >= 0 && !out->standard) close(out->fd);
  if (out->temporary) {
    unlink(out->temporary);
    forget_temporary(out);
  }
  free(out->target);
  out->target = NULL;
  out->fd = -1;
}
