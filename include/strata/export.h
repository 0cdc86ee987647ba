/* Marks what the shared library exports. */
#ifndef STRATA_EXPORT_H
#define STRATA_EXPORT_H
#define STRATA_API __attribute__((visibility("default")))
#endif
