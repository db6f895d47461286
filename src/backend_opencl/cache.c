/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled programs on disk: one file for each text, options, platform, device and driver version. Some drivers abort
 * on a damaged binary, so nothing is handed to them that does not carry the right checksum. A file is written aside and
 * renamed: a reader sees all of it or nothing, and two writers do no harm.
 */
#define _GNU_SOURCE /* mkostemp */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"

#define MOST_BINARY ((size_t)256 << 20)

typedef struct header {
  char magic[8];
  unsigned char key[16];
  uint64_t bytes;
  uint64_t checksum[2];
} header;

static const char magic[8] = "redcl\x01\r\n";

/* Two independent 64-bit FNV-1a style sums over the same bytes. Against accidents, not against attackers. */
typedef struct digest {
  uint64_t a, b;
} digest;

static void digest_begin(digest *sum) {
  sum->a = 0xcbf29ce484222325u;
  sum->b = 0x84222325cbf29ce4u;
}

static void digest_add(digest *sum, const void *data, size_t bytes) {
  const unsigned char *at = data;
  for (size_t i = 0; i < bytes; i++) {
    sum->a = (sum->a ^ at[i]) * 0x100000001b3u;
    sum->b = (sum->b ^ (at[i] + 0x9eu)) * 0x9e3779b97f4a7c15u;
    sum->b ^= sum->b >> 29;
  }
}

/* With its terminator, so that no two lists of texts run together. */
static void digest_text(digest *sum, const char *text) {
  digest_add(sum, text, strlen(text) + 1);
}

/* Make a folder and those above it, for this user only. */
static bool make_folder(char *path) {
  for (char *at = path + 1; *at != '\0'; at++) {
    if (*at != '/') continue;
    *at = '\0';
    mkdir(path, 0700);
    *at = '/';
  }
  struct stat found;
  mkdir(path, 0700);
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* RED_CACHE_DIR, or libred in the user's cache folder; RED_CACHE_DIR set to nothing: no cache. */
static bool folder(char *path, size_t bytes) {
  const char *own = getenv("RED_CACHE_DIR"), *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = 0;
  if (own != NULL)
    length = snprintf(path, bytes, "%s", own);
  else if (base != NULL && *base == '/')
    length = snprintf(path, bytes, "%s/libred", base);
  else if (home != NULL && *home == '/')
    length = snprintf(path, bytes, "%s/.cache/libred", home);
  return length > 0 && (size_t)length < bytes && make_folder(path);
}

void red_cl_cache_locate(const red_cl_traits *traits, const char *const *texts, size_t count, const char *options,
                         red_cl_cache_entry *entry) {
  digest sum;
  digest_begin(&sum);
  digest_text(&sum, RED_VERSION_STRING);
  digest_text(&sum, traits->platform_version);
  digest_text(&sum, traits->name);
  digest_text(&sum, traits->device_version);
  digest_text(&sum, traits->driver_version);
  digest_text(&sum, options);
  for (size_t i = 0; i < count; i++) digest_text(&sum, texts[i]);
  memcpy(entry->key, &sum.a, 8);
  memcpy(entry->key + 8, &sum.b, 8);
  entry->path = NULL;
  char path[3072];
  if (!folder(path, sizeof path)) return;
  size_t most = strlen(path) + 48;
  entry->path = malloc(most);
  if (entry->path != NULL)
    snprintf(entry->path, most, "%s/%016llx%016llx.cl", path, (unsigned long long)sum.a, (unsigned long long)sum.b);
}

void red_cl_cache_release(red_cl_cache_entry *entry) {
  free(entry->path);
  entry->path = NULL;
}

static bool read_all(int file, void *to, size_t bytes) {
  char *at = to;
  while (bytes > 0) {
    ssize_t got = read(file, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= (size_t)got;
  }
  return true;
}

static bool write_all(int file, const void *from, size_t bytes) {
  const char *at = from;
  while (bytes > 0) {
    ssize_t put = write(file, at, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    bytes -= (size_t)put;
  }
  return true;
}

static bool is_ours(const header *head, const red_cl_cache_entry *entry, off_t file_bytes) {
  return memcmp(head->magic, magic, sizeof magic) == 0 && memcmp(head->key, entry->key, sizeof head->key) == 0 &&
         head->bytes > 0 && head->bytes <= MOST_BINARY && (uint64_t)file_bytes == sizeof *head + head->bytes;
}

unsigned char *red_cl_cache_load(const red_cl_cache_entry *entry, size_t *bytes) {
  if (entry->path == NULL) return NULL;
  int file = open(entry->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return NULL;
  struct stat found;
  header head;
  unsigned char *binary = NULL;
  bool good = fstat(file, &found) == 0 && S_ISREG(found.st_mode) && read_all(file, &head, sizeof head) &&
              is_ours(&head, entry, found.st_size);
  if (good) binary = malloc((size_t)head.bytes);
  good = binary != NULL && read_all(file, binary, (size_t)head.bytes);
  close(file);
  if (good) {
    digest sum;
    digest_begin(&sum);
    digest_add(&sum, binary, (size_t)head.bytes);
    good = sum.a == head.checksum[0] && sum.b == head.checksum[1];
  }
  if (good) {
    *bytes = (size_t)head.bytes;
    return binary;
  }
  red_log("%s: damaged, ignored", entry->path);
  free(binary);
  return NULL;
}

/* The name aside is nobody else's, not even that of a process of another container whose number is the same. */
bool red_cl_cache_store(const red_cl_cache_entry *entry, const unsigned char *binary, size_t bytes) {
  if (entry->path == NULL || bytes > MOST_BINARY) return false;
  size_t most = strlen(entry->path) + 8;
  char *aside = malloc(most);
  if (aside == NULL) return false;
  snprintf(aside, most, "%s.XXXXXX", entry->path);
  header head = {.bytes = bytes};
  digest sum;
  digest_begin(&sum);
  digest_add(&sum, binary, bytes);
  memcpy(head.magic, magic, sizeof magic);
  memcpy(head.key, entry->key, sizeof head.key);
  head.checksum[0] = sum.a;
  head.checksum[1] = sum.b;
  int file = mkostemp(aside, O_CLOEXEC);
  bool good = file >= 0 && write_all(file, &head, sizeof head) && write_all(file, binary, bytes);
  if (file >= 0 && close(file) != 0) good = false; /* a full disk may show only now */
  if (good) good = rename(aside, entry->path) == 0;
  if (!good) {
    red_log("%s: cannot be written (%s): programs are built again next time", entry->path, strerror(errno));
    if (file >= 0) unlink(aside);
  }
  free(aside);
  return good;
}
