/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of bounded reductions: a red_bounded from raw states. For a caller in the floating-point environment. */
#ifndef RED_CORE_BOUND_H
#define RED_CORE_BOUND_H

#include "exact.h"
#include "state.h"

/* As red_state_finish, but writes the bound, too. */
red_status red_bound_finish(const red_lowered *lowered, const red_pair *pair, uint64_t count, void *out);

/* As red_exact_finish, and with its bound if that is wanted. */
red_status red_bound_finish_exact(const red_lowered *lowered, const red_exact *sum, uint64_t count, void *out);

#endif
