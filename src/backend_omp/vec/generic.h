/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the compiler makes of 16-byte vectors on the base instruction set. */
#include "portable.h"
