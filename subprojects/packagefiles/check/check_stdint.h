/* SPDX-License-Identifier: BSD-2-Clause */
/* Check's public header wants the fixed-width types under this name; every C99 system has them. */
#include <stdint.h>
