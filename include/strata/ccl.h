/* Strata's C interface. Everything the C++ one does (strata/communicator.hpp), in the shape users of NCCL
 * know.
 *
 * Functions return STRATA_OK or an error code; strata_last_error() then says, for the calling thread, what
 * was wrong, where, with which value, and the cure. A communicator may be used from several threads;
 * collectives on it match by the order of calls. Buffers belong to the library from the call until the
 * operation has ended. Counts are in elements. `send` and `recv` name the input and the output buffer; see
 * communicator.hpp for their lengths and for what is in place.
 */
#ifndef STRATA_CCL_H
#define STRATA_CCL_H

#include <stddef.h>
#include <stdint.h>

#include "strata/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In C++ the underlying type is stated, as in C it is known: any int may arrive and is then refused by name.
 */
#ifdef __cplusplus
#define STRATA_ENUM(name) enum name : int
#else
#define STRATA_ENUM(name) enum name
#endif

typedef STRATA_ENUM(strata_result){
    STRATA_OK = 0,
    STRATA_INVALID_ARGUMENT = 1, /* the caller's mistake */
    STRATA_UNAVAILABLE = 2,      /* the machine or network refused something */
    STRATA_TIMEOUT = 3,          /* a deadline passed */
    STRATA_PEER_LOST = 4,        /* another rank died or its connection broke */
    STRATA_ABORTED = 5,          /* ended by strata_comm_abort or by a communicator's destruction */
    STRATA_MISMATCH = 6,         /* ranks called different things */
    STRATA_OUT_OF_MEMORY = 7,
    STRATA_UNAUTHENTICATED = 8, /* the job's secret was wrong */
    STRATA_INTERNAL = 9,
    STRATA_CANCELLED = 10 /* by strata_work_cancel, on all ranks */
} strata_result;

typedef STRATA_ENUM(strata_data_type){
    STRATA_INT8 = 0,    STRATA_UINT8 = 1,        STRATA_INT32 = 2,
    STRATA_UINT32 = 3,  STRATA_INT64 = 4,        STRATA_UINT64 = 5,
    STRATA_FLOAT16 = 6, STRATA_BFLOAT16 = 7,     STRATA_FLOAT32 = 8,
    STRATA_FLOAT64 = 9, STRATA_FLOAT8_E4M3 = 10, STRATA_FLOAT8_E5M2 = 11} strata_data_type;

typedef STRATA_ENUM(strata_reduce_op){
    STRATA_SUM = 0,       STRATA_PRODUCT = 1, STRATA_MIN = 2,    STRATA_MAX = 3,
    STRATA_AVERAGE = 4,   STRATA_BIT_AND = 5, STRATA_BIT_OR = 6, STRATA_BIT_XOR = 7, /* integers only */
    STRATA_SCALED_SUM = 8 /* strata_call_options.scale times the sum */
} strata_reduce_op;

typedef struct strata_comm* strata_comm_t;
typedef struct strata_work* strata_work_t; /* NULL is a valid one that has ended well */

/* `size` must be sizeof of the struct: so it can grow and old programs still run. A field of 0 or NULL takes
 * its default. Set everything up with STRATA_COMM_OPTIONS_INIT. */
typedef struct strata_comm_options {
  size_t size;
  const char* rendezvous; /* "host:port", "[ipv6]:port", or a file path for one host */
  int32_t rank;
  int32_t world_size;
  int32_t local_rank;         /* -1: not known */
  int32_t no_progress_thread; /* 1: operations advance only inside calls */
  const char* secret;
  const char* interface_name; /* name, prefix ended by '*', or address; several: "a,b" */
  const char* transport;      /* "shm,tcp", "tcp", ... */
  const char* algorithm;
  uint16_t port_min, port_max;
  uint32_t rendezvous_timeout_ms; /* default 60000 */
  uint32_t timeout_ms;            /* default 60000; UINT32_MAX: never */
  uint32_t spin_us;               /* default 50; UINT32_MAX: none */
  uint32_t memory_mb; /* MiB the process keeps for reuse between operations; default 64; UINT32_MAX: none */
  const char* calibrate; /* "auto", "always" or "off"; whether links are measured at the start */
  uint32_t tcp_streams;  /* TCP connections to each peer, at most 16; default 1 */
  const char* topology;  /* a topology file with the job's hosts, the same on all ranks */
  const char* levels;    /* levels by hand: "2x4", "numa,host,rack" or "0-3,4-7;0-7", the same on all ranks */
  int32_t no_single_copy; /* 1: ranks of a host do not read each other's buffers */
  const char* trace;      /* a file for the job's timeline; see communicator options in strata/options.hpp */
  uint32_t trace_mb;      /* MiB that each rank keeps of it; default 32 */
  uint32_t tcp_credit_kb, tcp_fragment_kb; /* KiB under way to another host, and of a piece; 0: tuned */
  const char* metrics; /* where Prometheus finds this rank's counters: "port", "host:port" */
} strata_comm_options;
#define STRATA_COMM_OPTIONS_INIT                                                                         \
  {                                                                                                      \
    sizeof(strata_comm_options), NULL, -1, -1, -1, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL, 0, \
        NULL, NULL, 0, NULL, 0, 0, 0, NULL                                                               \
  }

typedef struct strata_call_options {
  size_t size;
  double scale;          /* of STRATA_SCALED_SUM */
  int32_t priority;      /* higher is sent first */
  uint32_t timeout_ms;   /* 0: the communicator's */
  const char* algorithm; /* NULL: selected */
  const char* name;      /* matches calls of that name, in any order of names; NULL: the order of calls */
  uint32_t deadline_ms;  /* so long after the call it is cancelled, as STRATA_TIMEOUT; 0: never */
} strata_call_options;
#define STRATA_CALL_OPTIONS_INIT \
  { sizeof(strata_call_options), 1.0, 0, 0, NULL, NULL, 0 }

STRATA_API const char* strata_version(void);
/* "invalid_argument", "peer_lost", ... */
STRATA_API const char* strata_result_name(int result);
/* What the last failed call of this thread was about; "" if none has failed. Valid until its next call. */
STRATA_API const char* strata_last_error(void);
STRATA_API size_t strata_size_of(strata_data_type type); /* bytes of an element; 0 for an unknown type */

/* Memory for buffers that the other ranks of this host can map: when all ranks pass such buffers to a
   collective, each works straight on the others' memory. Zeros, aligned to a page; usable like any other
   memory. Any thread. */
STRATA_API int strata_alloc(void** memory, size_t bytes);
STRATA_API int strata_free(void* memory); /* no collective on it may be in flight; NULL: nothing */
/* What the process keeps for reuse between operations, and the limit of that (strata_comm_options.memory_mb).
 */
STRATA_API int strata_memory_use(uint64_t* kept_bytes, uint64_t* limit_bytes);

/* Blocks until all ranks have come. options NULL: from the environment (RANK, WORLD_SIZE, STRATA_RENDEZVOUS,
 * ...). */
STRATA_API int strata_comm_create(const strata_comm_options* options, strata_comm_t* comm);
/* Ends operations in flight with STRATA_ABORTED. The handle is gone afterwards; another destroy of it is
 * STRATA_INVALID_ARGUMENT, as is every other use. */
STRATA_API int strata_comm_destroy(strata_comm_t comm);
STRATA_API int strata_comm_rank(strata_comm_t comm, int32_t* rank);
STRATA_API int strata_comm_size(strata_comm_t comm, int32_t* size);
/* STRATA_OK, or the code of the failure that ended the communicator. */
STRATA_API int strata_comm_status(strata_comm_t comm);
STRATA_API int strata_comm_abort(strata_comm_t comm, const char* reason);
/* Collective. color < 0: takes part and gets NULL. */
STRATA_API int strata_comm_split(strata_comm_t comm, int32_t color, int32_t key, strata_comm_t* made);
STRATA_API int strata_comm_duplicate(strata_comm_t comm, strata_comm_t* made);
STRATA_API int strata_comm_subgroup(strata_comm_t comm, const int32_t* ranks, int32_t count,
                                    strata_comm_t* made);

/* For all operations: options may be NULL; work NULL: wait for the end and return how it ended. Otherwise
 * *work must be given to strata_work_free once. Inside a group work NULL means that strata_group_end waits.
 */
STRATA_API int strata_barrier(strata_comm_t comm, const strata_call_options* options, strata_work_t* work);
STRATA_API int strata_broadcast(strata_comm_t comm, const void* send, void* recv, uint64_t count,
                                strata_data_type type, int32_t root, const strata_call_options* options,
                                strata_work_t* work);
STRATA_API int strata_reduce(strata_comm_t comm, const void* send, void* recv, uint64_t count,
                             strata_data_type type, strata_reduce_op op, int32_t root,
                             const strata_call_options* options, strata_work_t* work);
STRATA_API int strata_all_reduce(strata_comm_t comm, const void* send, void* recv, uint64_t count,
                                 strata_data_type type, strata_reduce_op op,
                                 const strata_call_options* options, strata_work_t* work);
STRATA_API int strata_reduce_scatter(strata_comm_t comm, const void* send, void* recv, uint64_t count,
                                     strata_data_type type, strata_reduce_op op,
                                     const strata_call_options* options, strata_work_t* work);
STRATA_API int strata_all_gather(strata_comm_t comm, const void* send, void* recv, uint64_t count,
                                 strata_data_type type, const strata_call_options* options,
                                 strata_work_t* work);
STRATA_API int strata_all_to_all(strata_comm_t comm, const void* send, void* recv, uint64_t count,
                                 strata_data_type type, const strata_call_options* options,
                                 strata_work_t* work);
STRATA_API int strata_gather(strata_comm_t comm, const void* send, void* recv, uint64_t count,
                             strata_data_type type, int32_t root, const strata_call_options* options,
                             strata_work_t* work);
STRATA_API int strata_scatter(strata_comm_t comm, const void* send, void* recv, uint64_t count,
                              strata_data_type type, int32_t root, const strata_call_options* options,
                              strata_work_t* work);
/* counts: one a rank, the same array on all ranks; parts are packed in rank order. */
STRATA_API int strata_reduce_scatter_v(strata_comm_t comm, const void* send, void* recv,
                                       const uint64_t* counts, strata_data_type type, strata_reduce_op op,
                                       const strata_call_options* options, strata_work_t* work);
STRATA_API int strata_all_gather_v(strata_comm_t comm, const void* send, void* recv, const uint64_t* counts,
                                   strata_data_type type, const strata_call_options* options,
                                   strata_work_t* work);
STRATA_API int strata_all_to_all_v(strata_comm_t comm, const void* send, const uint64_t* send_counts,
                                   void* recv, const uint64_t* recv_counts, strata_data_type type,
                                   const strata_call_options* options, strata_work_t* work);
STRATA_API int strata_gather_v(strata_comm_t comm, const void* send, void* recv, const uint64_t* counts,
                               strata_data_type type, int32_t root, const strata_call_options* options,
                               strata_work_t* work);
STRATA_API int strata_scatter_v(strata_comm_t comm, const void* send, void* recv, const uint64_t* counts,
                                strata_data_type type, int32_t root, const strata_call_options* options,
                                strata_work_t* work);
STRATA_API int strata_send(strata_comm_t comm, const void* data, uint64_t count, strata_data_type type,
                           int32_t to, const strata_call_options* options, strata_work_t* work);
STRATA_API int strata_recv(strata_comm_t comm, void* data, uint64_t count, strata_data_type type,
                           int32_t from, const strata_call_options* options, strata_work_t* work);

/* Operations of this thread between the two start together at the outermost end. `work` as above, for all of
 * them. */
STRATA_API int strata_group_start(void);
STRATA_API int strata_group_end(strata_work_t* work);

/* timeout_ms < 0: no limit. STRATA_TIMEOUT: it has not ended yet and goes on. */
STRATA_API int strata_work_wait(strata_work_t work, int64_t timeout_ms);
/* Asks all its ranks to end it as STRATA_CANCELLED. It goes on if it has ended on one of them, or has been
 * begun on memory that they have in common. */
STRATA_API int strata_work_cancel(strata_work_t work);
/* 1: ended, 0: not yet. */
STRATA_API int strata_work_done(strata_work_t work);
/* Waits until one of them has ended and stores its index. */
STRATA_API int strata_work_wait_any(const strata_work_t* works, size_t count, size_t* index);
/* Waits for all; the first error in order of the list. */
STRATA_API int strata_work_wait_all(const strata_work_t* works, size_t count);
/* Calls callback(result, context) once, when it ends; it must be short and must not wait for operations. */
STRATA_API int strata_work_then(strata_work_t work, void (*callback)(int result, void* context),
                                void* context);
/* Frees the handle, not the operation: that goes on. */
STRATA_API void strata_work_free(strata_work_t work);

/* Spans of the application's own work in the job's timeline (strata/trace.hpp): of the name 24 bytes are
 * kept; an index of at least 0 is shown after it. Each begin needs an end on its thread, the innermost first.
 * Nothing happens while no timeline is recorded, which strata_trace_recorded() tells by 0. */
typedef STRATA_ENUM(strata_trace_category){
    STRATA_TRACE_COMPUTE = 0, /* hides communication that is in flight meanwhile, in the summary */
    STRATA_TRACE_DATA = 1, STRATA_TRACE_OTHER = 2} strata_trace_category;
STRATA_API int strata_trace_begin(const char* name, int32_t index, strata_trace_category category);
STRATA_API int strata_trace_end(void);
STRATA_API int strata_trace_recorded(void);

#ifdef __cplusplus
}
#endif
#endif
