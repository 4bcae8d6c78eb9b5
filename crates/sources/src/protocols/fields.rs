//! What is known of the fields of `/proc/net/snmp`, `/proc/net/netstat` and `/proc/net/snmp6`. The MIBs: RFC 4293 (IP, ICMP), RFC 4022 (TCP), RFC 4113
//! (UDP); Linux's own: Documentation/networking/snmp_counter.rst, include/uapi/linux/snmp.h.

use model::{Column, Compare, Den, Derived, Kind, Polarity, Table, Unit};

const PROTO: Column = Column::label(
    "proto",
    "\"Ip\", \"Tcp\", \"Udp\" …; \"TcpExt\" and \"IpExt\" for what Linux adds; \"Ip6\", \"Udp6\" … for IPv6",
);

/// So many in a second before anyone would care.
const fn count(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help)
}

const fn octets(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Bytes, help)
}

/// An error, a drop or a stall: a few in a second already matter.
const fn bad(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).worse().floor(1.0)
}

/// One row per protocol and field.
pub(super) static PROTOCOLS: Table = Table::long(
    "protocols",
    "counters of the network protocols; fields that are not documented here only once they have counted",
    Kind::Counter,
    &[
        PROTO,
        // IP
        count("InReceives", "datagrams received"),
        bad("InHdrErrors", "datagrams with a bad header"),
        bad("InAddrErrors", "datagrams for an address that is not here"),
        count("ForwDatagrams", "datagrams forwarded"),
        bad("InUnknownProtos", "datagrams of an unknown protocol"),
        bad("InDiscards", "good datagrams dropped on receipt, such as for want of memory"),
        count("InDelivers", "datagrams delivered to a protocol above"),
        count("OutRequests", "datagrams that protocols above wanted sent"),
        count("OutTransmits", "datagrams sent, forwarded ones and fragments included"),
        bad("OutDiscards", "good datagrams dropped instead of being sent, such as for want of memory"),
        bad("OutNoRoutes", "datagrams without a route"),
        bad("InNoRoutes", "datagrams that could not be forwarded for want of a route"),
        bad("ReasmTimeout", "times that waiting for the rest of the fragments took too long"),
        count("ReasmReqds", "fragments received that had to be put together"),
        count("ReasmOKs", "datagrams put together from fragments"),
        bad("ReasmFails", "datagrams that could not be put together from fragments"),
        count("FragOKs", "datagrams cut into fragments: they are larger than the path takes"),
        bad("FragFails", "datagrams that should have been cut into fragments and must not be"),
        count("FragCreates", "fragments made"),
        octets("InOctets", "received"),
        octets("OutOctets", "sent"),
        octets("InMcastOctets", "received by multicast"),
        octets("OutMcastOctets", "sent by multicast"),
        octets("InBcastOctets", "received by broadcast"),
        octets("OutBcastOctets", "sent by broadcast"),
        count("InNoECTPkts", "packets received from senders that do not use ECN"),
        count("InECT0Pkts", "packets received from senders that use ECN"),
        count("InECT1Pkts", "packets received from senders that use ECN, second code"),
        bad("InCEPkts", "packets that a router marked as having met congestion"),
        bad("InTruncatedPkts", "packets that were shorter than they said"),
        bad("InTooBigErrors", "packets too big to be forwarded"),
        // ICMP
        bad("InDestUnreachs", "messages that a destination cannot be reached"),
        bad("OutDestUnreachs", "messages sent that a destination cannot be reached, such as for a closed UDP port"),
        bad("InTimeExcds", "messages that a packet lived too long"),
        bad("InPktTooBigs", "messages that a packet is too big for the path"),
        // TCP
        count("ActiveOpens", "connections begun from here"),
        count("PassiveOpens", "connections accepted"),
        bad("AttemptFails", "connections that failed while being set up"),
        bad("EstabResets", "connections that ended by a reset rather than by being closed"),
        count("InSegs", "segments received"),
        count("OutSegs", "segments sent, without those sent again"),
        bad("RetransSegs", "segments sent again, because they or their acknowledgements were lost or late"),
        bad("InErrs", "bad segments received"),
        bad("OutRsts", "resets sent"),
        bad("InCsumErrors", "packets with a wrong checksum"),
        // UDP
        count("InDatagrams", "UDP datagrams delivered"),
        count("OutDatagrams", "UDP datagrams sent"),
        bad("NoPorts", "UDP datagrams for a port at which no one listens"),
        bad("InErrors", "packets received and not delivered: no room in the receive buffer, bad checksum and others"),
        bad("OutErrors", "messages that could not be sent"),
        bad("RcvbufErrors", "UDP datagrams dropped because the receive buffer was full: the program that reads is too slow"),
        bad("SndbufErrors", "UDP datagrams not sent because the send buffer was full"),
        bad("MemErrors", "UDP datagrams dropped because all UDP sockets together use too much memory (net.ipv4.udp_mem)"),
        // TcpExt: accepting connections
        bad("ListenOverflows", "connections dropped because the program accepts too slowly: its listen queue (net.core.somaxconn) was full"),
        bad("ListenDrops", "connections dropped by a listening socket for whatever reason, overflows included"),
        bad("TCPReqQFullDrop", "connection requests dropped because the SYN queue (net.ipv4.tcp_max_syn_backlog) was full"),
        bad("TCPReqQFullDoCookies", "connection requests answered with SYN cookies because the SYN queue was full"),
        bad("SyncookiesSent", "SYN cookies sent: the SYN queue was full, or a SYN flood"),
        count("SyncookiesRecv", "valid SYN cookies received"),
        bad("SyncookiesFailed", "invalid SYN cookies received"),
        bad("EmbryonicRsts", "resets received for connections being set up"),
        bad("TCPDeferAcceptDrop", "bare ACKs dropped while waiting for data (TCP_DEFER_ACCEPT)"),
        bad("TCPSynRetrans", "connection requests sent again: the other side did not answer"),
        bad("TCPFastOpenListenOverflow", "fast-open requests refused because too many were pending"),
        bad("TCPTimeWaitOverflow", "connections that could not go to TIME_WAIT because there were too many (net.ipv4.tcp_max_tw_buckets)"),
        count("TW", "connections that left TIME_WAIT after their time"),
        count("TWRecycled", "connections in TIME_WAIT that were used again"),
        // TcpExt: loss and recovery
        bad("TCPLostRetransmit", "segments lost again after they had been sent again"),
        bad("TCPFastRetrans", "segments sent again by fast retransmission"),
        bad("TCPSlowStartRetrans", "segments sent again in slow start, after a timeout"),
        bad("TCPTimeouts", "times that no acknowledgement came in time: each stalls a connection for 200 ms or more"),
        bad("TCPLossProbes", "probes sent for a lost last segment (tail loss)"),
        bad("TCPLossProbeRecovery", "losses repaired by such a probe"),
        bad("TCPRetransFail", "segments that could not be sent again, such as because the adapter's queue was full"),
        bad("TCPSackRecovery", "recoveries from loss by selective acknowledgement"),
        bad("TCPRenoRecovery", "recoveries from loss without selective acknowledgement"),
        bad("TCPSackFailures", "timeouts during recovery by selective acknowledgement"),
        bad("TCPLossFailures", "timeouts during recovery from a timeout"),
        bad("TCPSpuriousRTOs", "timeouts that came too early: nothing had been lost"),
        bad("TCPSACKReneging", "receivers that threw away what they had acknowledged"),
        bad("TCPSACKReorder", "reorderings found by selective acknowledgement"),
        bad("TCPTSReorder", "reorderings found by timestamps"),
        bad("TCPDSACKRecv", "told by the other side that a segment arrived twice: it was sent again for nothing"),
        bad("TCPDSACKOldSent", "old segments that arrived twice here: the other side sends again for nothing"),
        bad("TCPDSACKUndo", "slow-downs undone because the loss was none"),
        bad("TCPSpuriousRtxHostQueues", "segments not sent again because the first copy was still in this host's queue"),
        bad("TcpTimeoutRehash", "connections moved to another path after a timeout"),
        bad("TCPRenoFailures", "timeouts during recovery without selective acknowledgement"),
        // TcpExt: acknowledgements
        count("DelayedACKs", "acknowledgements sent late on purpose, after up to 40 ms: with small requests and Nagle's algorithm each is a stall"),
        count("DelayedACKLocked", "delayed acknowledgements put off again because the program held the socket"),
        bad("DelayedACKLost", "delayed acknowledgements that made the other side send again"),
        count("TCPPureAcks", "segments received that only acknowledge"),
        count("TCPHPHits", "segments received on the fast path"),
        count("TCPHPAcks", "acknowledgements received on the fast path"),
        count("TCPAckCompressed", "acknowledgements left out because others followed at once"),
        count("TCPACKSkippedSeq", "acknowledgements left out by rate limiting, for segments out of window"),
        count("TCPAutoCorking", "small writes held back to be sent together"),
        count("TCPOrigDataSent", "segments with data sent, without those sent again"),
        count("TCPDelivered", "segments with data that arrived at the other side"),
        bad("TCPDeliveredCE", "of these, marked as having met congestion"),
        count("TCPKeepAlive", "keep-alive probes sent"),
        bad("TCPChallengeACK", "challenges sent because of a suspicious segment"),
        count("TCPHystartTrainDetect", "slow starts ended early because acknowledgements came close together"),
        count("TCPHystartDelayDetect", "slow starts ended early because the round trip grew"),
        // TcpExt: memory and windows
        bad("PruneCalled", "times that a receive buffer was too full and had to be made smaller"),
        bad("RcvPruned", "segments dropped because the receive buffer was full"),
        bad("OfoPruned", "segments out of order dropped because the receive buffer was full"),
        bad("TCPRcvCollapsed", "segments copied together because the receive buffer was full"),
        bad("TCPRcvQDrop", "segments dropped because the receive queue was full"),
        bad("TCPBacklogDrop", "segments dropped because the program held the socket too long and its backlog was full"),
        bad("TCPZeroWindowDrop", "segments dropped because the window was closed"),
        bad("TCPToZeroWindowAdv", "times that a window was closed: the program here does not read fast enough"),
        bad("TCPFromZeroWindowAdv", "times that a closed window was opened again"),
        bad("TCPWantZeroWindowAdv", "times that a window should have been closed and could not"),
        bad("TCPWinProbe", "probes of the other side's closed window: the program there does not read fast enough"),
        bad("TCPMemoryPressures", "times that TCP as a whole came under memory pressure (net.ipv4.tcp_mem)"),
        Column::counter("TCPMemoryPressuresChrono", Unit::Milliseconds, "time under TCP memory pressure").worse(),
        bad("PFMemallocDrop", "packets dropped because only emergency memory was left"),
        bad("TCPWqueueTooBig", "writes refused because too much waits to be sent"),
        count("TCPRcvCoalesce", "segments received that were joined to the one before"),
        count("TCPBacklogCoalesce", "segments joined in a socket's backlog"),
        bad("TCPOFOQueue", "segments received out of order"),
        bad("TCPOFODrop", "segments received out of order and dropped for want of memory"),
        // TcpExt: ends
        bad("TCPAbortOnTimeout", "connections given up because the other side did not answer"),
        bad("TCPAbortOnMemory", "connections given up for want of memory, or because there were too many orphans"),
        bad("TCPAbortOnData", "connections reset because data came after the program had closed them"),
        bad("TCPAbortOnClose", "connections reset because the program closed them with data unread"),
        bad("TCPAbortOnLinger", "connections reset because closing took longer than the program allowed"),
        bad("TCPAbortFailed", "resets that could not be sent"),
        bad("IPReversePathFilter", "packets dropped because their source is reached another way (rp_filter)"),
        bad("LockDroppedIcmps", "ICMP messages dropped because the socket was held"),
        bad("OutOfWindowIcmps", "ICMP messages dropped because they do not belong to the connection"),
        bad("PAWSEstab", "segments dropped because their timestamp was too old"),
        bad("TCPMTUPFail", "probes for a larger packet that failed"),
        count("BusyPollRxPackets", "packets received by busy polling"),
        // MPTCP
        bad("MPTCPRetrans", "MPTCP segments sent again on another subflow"),
    ],
)
.derived(&[Derived {
    name: "retransmitted",
    unit: "ratio",
    help: "share of TCP segments that were sent again",
    num: &[("RetransSegs", 1.0)],
    den: Den::Columns(&[("OutSegs", 1.0)]),
    polarity: Polarity::Worse,
    compare: Compare::Difference,
    floor: 0.001,
}])
.grouped(&[&["proto"]])
.from_zero();

const fn constant(name: &'static str, unit: Unit, help: &'static str) -> Column {
    Column::gauge(name, unit, help).compared(Compare::Never)
}

/// The fields that are no counters.
pub(super) static LEVELS: Table = Table::long(
    "protocol_levels",
    "fields of the network protocols that are levels or settings",
    Kind::Gauge,
    &[
        PROTO,
        Column::gauge(
            "CurrEstab",
            Unit::None,
            "TCP connections that are established, or closed by the other side only",
        )
        .floor(10.0),
        Column::gauge("MPCurrEstab", Unit::None, "MPTCP connections that are established").floor(10.0),
        constant("Forwarding", Unit::None, "1 where packets are forwarded, else 2"),
        constant("DefaultTTL", Unit::None, "how many routers a datagram may pass"),
        constant("RtoAlgorithm", Unit::None, "1: as Linux has it"),
        constant("RtoMin", Unit::Milliseconds, "least time before a segment is sent again"),
        constant("RtoMax", Unit::Milliseconds, "greatest time before a segment is sent again"),
        constant("MaxConn", Unit::None, "greatest number of connections; -1 for no limit"),
    ],
)
.grouped(&[&["proto"]]);
