/* SPDX-License-Identifier: BSD-2-Clause */
/* How kernels/exact.cl keeps a sum: what a problem adds, in bins of which size, by how many lanes. */
#ifndef RED_BACKEND_OPENCL_EXACT_H
#define RED_BACKEND_OPENCL_EXACT_H

#include "device.h"

typedef struct red_cl_exact_form {
  unsigned bits;    /* of a term's significand */
  unsigned spacing; /* bits from one bin to the next */
  unsigned bins;    /* the last one for carries */
  unsigned first;   /* the bit of the long integer that bin 0's lowest bit is */
  uint32_t group;   /* lanes of a work-group; 1 for the wide shape */
  uint32_t batch;   /* terms that a lane loads at once */
  bool doubles;     /* there is f64, and it is of use: as bins, or for blocks of the wide shape */
  bool in_private;  /* bins lie in private memory, for local memory is too small */
  bool finishes;    /* the result is rounded on the device */
} red_cl_exact_form;

red_cl_exact_form red_cl_exact_form_of(const red_cl_device *device, const red_lowered *lowered);

#endif
