/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RED_CORE_QUOTA_H
#define RED_CORE_QUOTA_H

/*
 * Whole CPUs that the quotas of this process's control groups leave of `most`, one at least. `root` is where /proc and
 * /sys are: "" but for tests.
 */
unsigned red_quota_cpus(const char *root, unsigned most);

#endif
