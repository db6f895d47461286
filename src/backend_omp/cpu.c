/* SPDX-License-Identifier: BSD-2-Clause */
/* The processor: its name, its instruction sets, its memory and caches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "room.h"

/* ---- Instruction sets, best first ---- */

typedef struct isa {
  const char *name;
  const red_kernels *kernels;
  bool (*available)(void);
} isa;

static bool always(void) {
  return true;
}

#if defined(__x86_64__)
/* These built-ins also ask whether the operating system saves the registers. */
static bool has_avx2(void) {
  unsigned eax, ebx, ecx = 0, edx;
  bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C) != 0;
  return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void) {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

static const isa isas[] = {
#if defined(__x86_64__)
    {"avx512", &red_kernels_avx512, has_avx512},
    {"avx2", &red_kernels_avx2, has_avx2},
    {"sse2", &red_kernels_sse2, always},
#elif defined(__aarch64__)
    {"neon", &red_kernels_neon, always},
#endif
    {"generic", &red_kernels_generic, always},
};

enum {
  ISAS = sizeof isas / sizeof isas[0]
};

const red_kernels *red_cpu_kernels(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
#endif
  const char *forced = getenv("RED_CPU");
  for (unsigned i = 0; i < ISAS; i++) {
    if (forced != NULL && forced[0] != '\0' && strcmp(forced, isas[i].name) != 0) continue;
    if (isas[i].available()) return isas[i].kernels;
    if (forced == NULL || forced[0] == '\0') continue;
    red_fail(RED_ERR_NO_DEVICE, "RED_CPU=%s: this processor does not have that instruction set", forced);
    return NULL;
  }
  char known[64] = "";
  for (unsigned i = 0; i < ISAS; i++) {
    strcat(known, i > 0 ? ", " : "");
    strcat(known, isas[i].name);
  }
  red_fail(RED_ERR_NO_DEVICE, "RED_CPU=%s is not an instruction set of this build; it has %s", forced, known);
  return NULL;
}

/* AMD's family 19h (Zen 3 and 4) computes 512 bits in two halves; see plan.c. A forced instruction set stays pure. */
const red_kernels *red_cpu_narrow_kernels(const red_kernels *best) {
#if defined(__x86_64__)
  const char *forced = getenv("RED_CPU");
  unsigned eax = 0, ebx, ecx, edx;
  char vendor[13] = "";
  if (best != &red_kernels_avx512 || (forced != NULL && forced[0] != '\0')) return NULL;
  __get_cpuid(0, &eax, (unsigned *)(void *)vendor, (unsigned *)(void *)(vendor + 8), (unsigned *)(void *)(vendor + 4));
  if (strcmp(vendor, "AuthenticAMD") != 0 || !__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return NULL;
  unsigned family = (eax >> 8 & 0xf) + (eax >> 20 & 0xff);
  return family == 0x19 ? &red_kernels_avx2 : NULL;
#else
  (void)best;
  return NULL;
#endif
}

/* ---- Name ---- */

#if defined(__x86_64__)
static bool brand_string(char name[49]) {
  unsigned *words = (unsigned *)(void *)name;
  if ((unsigned)__get_cpuid_max(0x80000000, NULL) < 0x80000004) return false;
  unsigned registers[12];
  for (unsigned i = 0; i < 3; i++)
    __get_cpuid(0x80000002 + i, &registers[4 * i], &registers[4 * i + 1], &registers[4 * i + 2], &registers[4 * i + 3]);
  memcpy(words, registers, sizeof registers);
  name[48] = '\0';
  return name[strspn(name, " ")] != '\0';
}
#else
static bool brand_string(char name[49]) {
  (void)name;
  return false;
}
#endif

const char *red_cpu_model(void) {
  static _Thread_local char name[49];
  if (!brand_string(name)) return "CPU";
  return name + strspn(name, " ");
}

/* ---- Memory and caches ---- */

uint64_t red_cpu_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : 0;
}

/* "32768K", as Linux lists the caches of a CPU. */
static uint64_t listed_cache(unsigned index) {
  char path[64];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/size", index);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  unsigned long kibibytes = 0;
  bool known = fscanf(file, "%luK", &kibibytes) == 1;
  fclose(file);
  return known ? (uint64_t)kibibytes << 10 : 0;
}

/*
 * Not by sysconf alone: on a virtual machine that was seen to give the whole package's 320 MiB instead of a core's 32.
 */
uint64_t red_cpu_last_level_cache(void) {
  uint64_t bytes = 0;
  for (unsigned index = 0; index < 8; index++) {
    uint64_t listed = listed_cache(index);
    if (listed > bytes) bytes = listed;
  }
  static const int names[] = {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE};
  for (size_t i = 0; bytes == 0 && i < sizeof names / sizeof names[0]; i++) {
    long known = sysconf(names[i]);
    if (known > 0) bytes = (uint64_t)known;
  }
  return bytes > 0 ? bytes : (uint64_t)8 << 20;
}
