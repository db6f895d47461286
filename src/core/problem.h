/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about dtypes that the public header does not offer; the argument is a valid dtype. */
#ifndef RED_CORE_PROBLEM_H
#define RED_CORE_PROBLEM_H

#include <stdbool.h>

#include <red/red.h>

bool red_dtype_is_float(red_dtype dtype);
bool red_dtype_is_signed(red_dtype dtype);

#endif
