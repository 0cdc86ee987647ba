"""Tables of what the cells' tables do not show well: messages with all peers, and small all-reduces of many ranks."""
from comparison.arms import MANY, POINT_TO_POINT
from comparison.table import markdown, number, size_text

ROUNDS_FACTOR = 1.3
MANY_EXPLANATION = """rounds: ceil(log2 n) times half of a round trip, which each rank would need a core of its own for. The
limit counts that they share the cores of this machine: the work of all, and that all ranks of a core have their turn in
each call. MPICH is left out: it never yields its core, and a call takes 10 ms and more.

"""
POINT_TO_POINT_EXPLANATION = """Times of one message from rank 0 to rank 1. ping_pong: one at a time, half of a round trip.
send: 64 under way at once, fewer above 1 MiB, all from and to one buffer of the message's size, and the receiver's word
that it has them. iperf3: as many streams, one buffer of the size, at most 1 MiB. The limit over TCP is plain sockets,
polled, with buffers of the size.

"""


def limit_words(cell):
    return [number(cell.limit and cell.limit.p50_us), f"{1 / cell.limit.ratio:.2f}" if cell.limit else ""]


def many_text(cells):
    """Small all-reduces of many ranks, beside what they would take with a core for each, and beside the limit."""
    cells = [cell for cell in cells if cell.ranks == MANY]
    if not cells:
        return ""
    rows = [[cell.mode, size_text(cell.size), number(cell.p50_us), number(cell.p99_us),
             *([number(cell.peers[0].p50_us), number(cell.peers[0].p99_us), cell.peers[0].arm,
                f"{cell.peers[0].ratio:.2f}"] if cell.peers else [""] * 4),
             number(cell.rounds and ROUNDS_FACTOR * cell.rounds.p50_us),
             f"{1 / cell.rounds.ratio / ROUNDS_FACTOR:.2f}" if cell.rounds else "",
             *limit_words(cell)]
            for cell in cells]
    return f"## all_reduce, {MANY} ranks\n\n" + MANY_EXPLANATION + markdown(
        ["mode", "size", "Strata p50 us", "p99 us", "best peer p50 us", "p99 us", "which", "peer / Strata",
         f"{ROUNDS_FACTOR} x rounds us", "Strata / that", "limit us", "Strata / limit"], rows) + "\n"


def point_to_point_text(cells):
    """A row for each size, with all peers."""
    cells = [cell for cell in cells if cell.collective in POINT_TO_POINT]
    if not cells:
        return ""
    arms = sorted({peer.arm for cell in cells for peer in cell.peers})
    rows = []
    for cell in cells:
        of_peer = {peer.arm: peer.p50_us for peer in cell.peers}
        rows.append([cell.mode, cell.collective, size_text(cell.size), number(cell.p50_us), number(cell.p99_us),
                     number(cell.busbw_gbs()), *(number(of_peer.get(arm)) for arm in arms),
                     *limit_words(cell)])
    return "## Point to point\n\n" + POINT_TO_POINT_EXPLANATION + markdown(
        ["mode", "what", "size", "Strata p50 us", "p99 us", "GB/s", *(f"{arm} us" for arm in arms), "limit us",
         "Strata / limit"], rows) + "\n"
