/* Operations that ranks submit in any order, with waits between: none of the ranks waits for ever.
 *
 * RANKS ranks in a ring, three operations in which each sends to its right. With ROUNDS=2, as in a ring collective, a
 * rank sends in the second round what has come to it in the first. Messages of operation 2 are large (announced: sent
 * when the receiver has said that it is ready), those of 0 and 1 are small (sent on credit, or after asking if there
 * is none), as ccl/transport/stream does it. A pipe holds one frame. Readies and credits come at once: all they do is
 * to let the sender go on, which may take its time. Which frame goes next is open, so whatever order priorities make
 * is among those that are looked at.
 *
 * A rank waits for an operation only when it has submitted all before that one; without such a rule programs could
 * wait for each other in a circle.
 *
 * -DADMISSION=1 adds what the engine does not have, a window of so many operations a rank works on at once, and the
 * deadlock that it makes.
 */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define OPS 3
#define MESSAGES 6   /* 2 * operation + round */
#define CREDIT 1     /* small messages on the way or stashed, a lane */
#define LARGE 2      /* the operation with large messages */

#define left(r) ((r + RANKS - 1) % RANKS)
#define at(r, m) ((r) * MESSAGES + (m))
#define op_of(m) ((m) / 2)
#define is_large(m) (op_of(m) == LARGE)

mtype = { data, request };

chan pipe[RANKS] = [1] of { mtype, byte, bool };  /* rank -> its right; data: on credit? */

bool submitted[9];              /* rank * OPS + op */
bool sent[18], received[18];    /* at(rank, message) */
bool asked[18], may_go[18];     /* sender: request sent, for want of credit; ready came */
bool stashed[18], wanted[18];   /* receiver: arrived unasked; request came */
byte credits[RANKS];            /* of the lane to the right */

#define has_submitted(r, o) submitted[(r) * OPS + (o)]
#define over(r, m) (sent[at(r, m)] && received[at(r, m)])
#define done(r, o) over(r, 2 * (o) + ROUNDS - 1)   /* the second round needs the first */
#ifdef ADMISSION
byte at_work[RANKS];
bool admitted[9], ended[9];
#define works_on(r, o) admitted[(r) * OPS + (o)]
#else
#define works_on(r, o) has_submitted(r, o)
#endif
#define can_send(r, m) (works_on(r, op_of(m)) && !sent[at(r, m)] && ((m) % 2 == 0 || over(r, (m) - 1)))

/* What has come before it is unpacked, and its credit given back; what is large, or was asked for, may come. */
inline post(r, m) {
  if
  :: stashed[at(r, m)] -> stashed[at(r, m)] = false; received[at(r, m)] = true; credits[left(r)]++
  :: is_large(m) || wanted[at(r, m)] -> wanted[at(r, m)] = false; may_go[at(left(r), m)] = true
  :: else
  fi
}
inline begin(r, o) {
  post(r, 2 * (o));
#if ROUNDS == 2
  post(r, 2 * (o) + 1)
#endif
}
#ifdef ADMISSION
#define SUBMIT(o) :: atomic { !has_submitted(r, o) -> has_submitted(r, o) = true }
#define ADMIT(o) \
  :: atomic { at_work[r] < ADMISSION && has_submitted(r, o) && !works_on(r, o) -> \
              works_on(r, o) = true; at_work[r]++; begin(r, o) } \
  :: atomic { works_on(r, o) && done(r, o) && !ended[r * OPS + (o)] -> ended[r * OPS + (o)] = true; at_work[r]-- }
#else
#define SUBMIT(o) :: atomic { !has_submitted(r, o) -> has_submitted(r, o) = true; begin(r, o) }
#endif

proctype Program(byte r) {
  do
  SUBMIT(0) SUBMIT(1) SUBMIT(2)
  :: has_submitted(r, 0) && !done(r, 0) -> done(r, 0)  /* waits */
  :: has_submitted(r, 0) && has_submitted(r, 1) && !done(r, 1) -> done(r, 1)
  :: has_submitted(r, 0) && has_submitted(r, 1) && has_submitted(r, 2) -> break
  od;
  done(r, 0) && done(r, 1) && done(r, 2)
}

/* What arrives is taken at once, whatever it is. */
inline take_data(r, m, on_credit) {
  if
  :: works_on(r, op_of(m)) -> received[at(r, m)] = true; credits[left(r)] = credits[left(r)] + on_credit
  :: else -> assert(on_credit); stashed[at(r, m)] = true   /* credit comes back when it is unpacked */
  fi
}
inline take_request(r, m) {
  if
  :: works_on(r, op_of(m)) -> may_go[at(left(r), m)] = true
  :: else -> wanted[at(r, m)] = true
  fi
}
inline send_one(r, m) {
  if
  :: is_large(m) || asked[at(r, m)] -> pipe[r] ! data, m, false; sent[at(r, m)] = true
  :: else ->
     if
     :: credits[r] > 0 -> credits[r]--; pipe[r] ! data, m, true; sent[at(r, m)] = true
     :: else -> pipe[r] ! request, m, false; asked[at(r, m)] = true
     fi
  fi
}
#define sendable(r, m) (can_send(r, m) && (may_go[at(r, m)] || (!is_large(m) && !asked[at(r, m)])))
#define SEND(m) :: atomic { nfull(pipe[r]) && sendable(r, m) -> send_one(r, m) }

proctype Engine(byte r) {
  byte m;
  bool on_credit;
end:
  do
  :: atomic { pipe[left(r)] ? data, m, on_credit -> take_data(r, m, on_credit); m = 0; on_credit = false }
  :: atomic { pipe[left(r)] ? request, m, on_credit -> take_request(r, m); m = 0 }
  SEND(0) SEND(2) SEND(4)
#if ROUNDS == 2
  SEND(1) SEND(3) SEND(5)
#endif
#ifdef ADMISSION
  ADMIT(0) ADMIT(1) ADMIT(2)
#endif
  od
}

init {
  atomic {
    byte r = 0;
    do
    :: r < RANKS -> credits[r] = CREDIT; run Program(r); run Engine(r); r++
    :: else -> break
    od
  }
}
