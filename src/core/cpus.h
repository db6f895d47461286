/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RED_CORE_CPUS_H
#define RED_CORE_CPUS_H

/* CPUs of the calling thread: no more than its affinity mask and the quotas of control groups allow; at least one. */
unsigned red_allowed_cpus(void);

/*
 * CPUs of this process, whichever thread asks: as many as the calling thread's mask or the main thread's has, or as are
 * known otherwise, within the quotas.
 */
unsigned red_process_cpus(unsigned known);

#endif
