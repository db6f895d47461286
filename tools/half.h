/* SPDX-License-Identifier: BSD-2-Clause */
/* f16 and bf16 bits to and from numbers. */
#ifndef REDTOOL_HALF_H
#define REDTOOL_HALF_H

#include <stdint.h>

double f16_to_double(uint16_t bits);
double bf16_to_double(uint16_t bits);

/* Rounded to nearest, ties to even; a NaN gives the quiet one without sign and payload. */
uint16_t double_to_f16(double value);
uint16_t double_to_bf16(double value);

#endif
