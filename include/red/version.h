/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RED_VERSION_H
#define RED_VERSION_H

/* The version of the headers an application was compiled with; red_version() tells that of the library it runs with. */
#define RED_VERSION_MAJOR  0
#define RED_VERSION_MINOR  1
#define RED_VERSION_PATCH  0
#define RED_VERSION_NUMBER (RED_VERSION_MAJOR * 10000 + RED_VERSION_MINOR * 100 + RED_VERSION_PATCH)
#define RED_VERSION_STRING "0.1.0"

#endif
