/* SPDX-License-Identifier: BSD-2-Clause */
/* Known-answer tests: a device that rounds, flushes or compiles otherwise is found before it gives other bits. */
#ifndef RED_CORE_VERIFY_H
#define RED_CORE_VERIFY_H

#include "registry.h"

/* RED_ERR_MISMATCH with the problem and both answers, or the failure of the execution. */
red_status red_verify_device(red_device *device);
/* The same of exact reductions, unless they have passed. */
red_status red_verify_exact(red_device *device);

#endif
