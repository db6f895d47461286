/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RED_CORE_CPUS_H
#define RED_CORE_CPUS_H

/* CPUs of this process: no more than its affinity mask and the quotas of its control groups allow; at least one. */
unsigned red_allowed_cpus(void);

#endif
