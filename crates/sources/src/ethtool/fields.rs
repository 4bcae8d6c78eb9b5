//! Names that drivers give their statistics: which are known, and which queue they are of.

use model::{Column, Compare, Kind, Table, Unit};

const INTERFACE: Column = Column::label("interface", "name of the interface");
const QUEUE: Column =
    Column::number("queue", "number of the queue that the driver's name holds, where the field has an N; else nothing");

const fn packets(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help)
}

const fn volume(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Bytes, help)
}

/// An error, a drop, or a limit that was hit: a few in a second already matter.
const fn bad(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).worse().floor(1.0)
}

/// One row per interface and statistic. Drivers give no units, so unknown names are taken for counts.
pub(super) static STATISTICS: Table = Table::long(
    "ethtool",
    "statistics of each network driver; in a field's name N stands for the number of the queue; only those that ever counted, and some known ones",
    Kind::Counter,
    &[
        INTERFACE,
        QUEUE,
        // Amazon ENA (Documentation/networking/device_drivers/ethernet/amazon/ena.rst and the driver's README).
        bad("bw_in_allowance_exceeded", "packets queued or dropped because inbound bandwidth exceeded the instance's maximum (ENA)"),
        bad("bw_out_allowance_exceeded", "packets queued or dropped because outbound bandwidth exceeded the instance's maximum (ENA)"),
        bad("pps_allowance_exceeded", "packets queued or dropped because packets per second exceeded the instance's maximum (ENA)"),
        bad("conntrack_allowance_exceeded", "packets dropped because the instance may not track more connections (ENA)"),
        bad(
            "linklocal_allowance_exceeded",
            "packets dropped because traffic to local services (DNS, instance metadata, time) exceeded the maximum (ENA)",
        ),
        bad("tx_timeout", "resets because a packet was not sent in time (ENA)"),
        bad("wd_expired", "resets because the device did not answer in time (ENA)"),
        bad("admin_q_pause", "times that the admin queue did not run (ENA)"),
        bad("reset_fail", "resets that failed (ENA)"),
        packets("interface_up", "times that the interface was brought up (ENA)"),
        packets("interface_down", "times that the interface was taken down (ENA)"),
        packets("queue_N_tx_cnt", "packets sent (ENA)"),
        volume("queue_N_tx_bytes", "sent (ENA)"),
        bad("queue_N_tx_queue_stop", "times that the ring was full and sending stopped (ENA)"),
        packets("queue_N_tx_queue_wakeup", "times that sending went on after the ring had been full (ENA)"),
        bad("queue_N_tx_dma_mapping_err", "packets that could not be mapped for the device (ENA)"),
        packets("queue_N_tx_linearize", "packets of too many fragments, which were copied into one (ENA)"),
        bad("queue_N_tx_linearize_failed", "packets of too many fragments that could not be copied into one (ENA)"),
        packets("queue_N_tx_napi_comp", "ends of polling (ENA)"),
        packets("queue_N_tx_tx_poll", "polls for completions (ENA)"),
        packets("queue_N_tx_doorbells", "doorbells to the device for packets to send (ENA)"),
        bad("queue_N_tx_missed_tx", "packets whose completion came too late (ENA)"),
        packets("queue_N_tx_unmask_interrupt", "interrupts allowed again (ENA)"),
        packets("queue_N_tx_llq_buffer_copy", "packets of which headers were copied to the device (ENA)"),
        packets("queue_N_rx_cnt", "packets received (ENA)"),
        volume("queue_N_rx_bytes", "received (ENA)"),
        packets("queue_N_rx_rx_copybreak_pkt", "packets so small that they were copied (ENA)"),
        packets("queue_N_rx_csum_good", "packets whose checksum the device found right (ENA)"),
        bad("queue_N_rx_csum_bad", "packets whose checksum the device found wrong (ENA)"),
        packets("queue_N_rx_csum_unchecked", "packets whose checksum the device did not check (ENA)"),
        bad("queue_N_rx_refil_partial", "times that the ring could not be filled again whole (ENA)"),
        bad("queue_N_rx_page_alloc_fail", "receive buffers that could not be allocated (ENA)"),
        bad("queue_N_rx_skb_alloc_fail", "packets lost because no memory could be allocated (ENA)"),
        bad("queue_N_rx_dma_mapping_err", "receive buffers that could not be mapped for the device (ENA)"),
        bad("queue_N_rx_bad_desc_num", "packets in too many pieces (ENA)"),
        bad("queue_N_rx_empty_rx_ring", "times that the ring was found empty: packets come faster than memory is given (ENA)"),
        // virtio (drivers/net/virtio_net.c). The fields without N are sums over the queues.
        bad("rx_drops", "packets received and dropped for want of memory or for being malformed (virtio)"),
        packets("rx_kicks", "notifications to the hypervisor of new receive buffers; each is a costly exit (virtio)"),
        packets("tx_kicks", "notifications to the hypervisor of packets to send; each is a costly exit (virtio)"),
        bad("tx_tx_timeouts", "times that a packet was not sent in time (virtio)"),
        packets("rx_xdp_packets", "packets handled by an XDP program (virtio)"),
        packets("rx_xdp_tx", "packets sent back by an XDP program (virtio)"),
        packets("rx_xdp_redirects", "packets redirected by an XDP program (virtio)"),
        packets("rx_xdp_drops", "packets dropped by an XDP program (virtio)"),
        packets("rxN_kicks", "notifications to the hypervisor of new receive buffers (virtio)"),
        packets("txN_kicks", "notifications to the hypervisor of packets to send (virtio)"),
        bad("rxN_drops", "packets received and dropped (virtio)"),
        bad("txN_tx_timeouts", "times that a packet was not sent in time (virtio)"),
        packets("rx_queue_N_packets", "packets received (virtio, ixgbe, ice, netvsc and others)"),
        packets("tx_queue_N_packets", "packets sent (virtio, ixgbe, ice, netvsc and others)"),
        volume("rx_queue_N_bytes", "received (virtio, ixgbe, ice, netvsc and others)"),
        volume("tx_queue_N_bytes", "sent (virtio, ixgbe, ice, netvsc and others)"),
        packets("rx_queue_N_kicks", "notifications to the hypervisor of new receive buffers (virtio)"),
        packets("tx_queue_N_kicks", "notifications to the hypervisor of packets to send (virtio)"),
        bad("rx_queue_N_drops", "packets received and dropped (virtio, ixgbe)"),
        // Mellanox mlx5 (Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst).
        packets("rxN_packets", "packets received (mlx5 and others)"),
        packets("txN_packets", "packets sent (mlx5 and others)"),
        volume("rxN_bytes", "received (mlx5 and others)"),
        volume("txN_bytes", "sent (mlx5 and others)"),
        bad("rx_out_of_buffer", "packets lost because there were no receive buffers: the CPU is too late, or the ring too short (mlx5)"),
        bad("rx_discards_phy", "packets lost in the adapter because its buffers were full: the host or the bus is too slow (mlx5)"),
        bad("tx_discards_phy", "packets lost in the adapter on their way out (mlx5)"),
        bad("rx_crc_errors_phy", "packets with a wrong checksum on the wire (mlx5)"),
        bad("tx_queue_stopped", "times that a send queue was full (mlx5)"),
        packets("rx_pause_ctrl_phy", "pause frames received: the switch asks to send less (mlx5)"),
        packets("tx_pause_ctrl_phy", "pause frames sent: this host is too slow (mlx5)"),
        // Intel.
        bad("rx_no_buffer_count", "times that there was no receive buffer (igb, e1000e)"),
        bad("rx_missed_errors", "packets lost because the adapter's buffer was full (Intel drivers)"),
        bad("rx_no_dma_resources", "packets lost because there was no receive buffer (ixgbe)"),
        bad("rx_missed", "packets lost because the adapter's buffer was full (ixgbe, ice)"),
        bad("port.rx_dropped", "packets lost in the adapter (i40e)"),
        bad("rx_dropped", "packets received and dropped"),
        bad("tx_dropped", "packets dropped before they were sent"),
        bad("tx_busy", "times that the ring was full (Intel drivers)"),
        bad("tx_timeout_count", "times that a packet was not sent in time (Intel drivers)"),
        bad("fdir_miss", "packets whose flow the director did not know (ixgbe, Intel drivers)"),
        packets("rx-N.packets", "packets received (i40e)"),
        packets("tx-N.packets", "packets sent (i40e)"),
        volume("rx-N.bytes", "received (i40e)"),
        volume("tx-N.bytes", "sent (i40e)"),
        // Google gVNIC (drivers/net/ethernet/google/gve/gve_ethtool.c).
        bad("rx_skb_alloc_fail", "packets lost because no memory could be allocated (gve)"),
        bad("rx_buf_alloc_fail", "receive buffers that could not be allocated (gve)"),
        bad("rx_queue_drop_cnt[N]", "packets that the device dropped on the queue (gve)"),
        bad("rx_no_buffers_posted[N]", "packets lost because there were no receive buffers (gve)"),
        // Hyper-V netvsc (drivers/net/hyperv/netvsc_drv.c).
        bad("tx_no_space", "packets dropped because the channel to the host was full (netvsc)"),
        bad("ring_full_error", "times that the channel to the host was full (netvsc)"),
        bad("rx_comp_busy", "times that completions waited for the host (netvsc)"),
        bad("stop_queue", "times that sending stopped because the channel was full (netvsc)"),
        packets("vf_rx_packets", "packets received by the accelerated path (netvsc)"),
        packets("vf_tx_packets", "packets sent by the accelerated path (netvsc)"),
    ],
)
.grouped(&[&["interface"], &["interface", "queue"]])
.from_zero();

/// The few statistics of drivers that are levels.
pub(super) static LEVELS: Table = Table::long(
    "ethtool_levels",
    "levels that network drivers give among their statistics",
    Kind::Gauge,
    &[
        INTERFACE,
        QUEUE,
        Column::gauge(
            "conntrack_allowance_available",
            Unit::None,
            "connections that the instance may still track (ENA); at 0 new ones are dropped",
        )
        .better()
        .floor(100.0),
        Column::gauge(
            "outbound_pci_stalled_wr",
            Unit::Percent,
            "share of the time that writes to memory waited for PCI credits (mlx5)",
        )
        .worse()
        .compared(Compare::Difference)
        .floor(2.0),
        Column::gauge(
            "outbound_pci_stalled_rd",
            Unit::Percent,
            "share of the time that reads from memory waited for PCI credits (mlx5)",
        )
        .worse()
        .compared(Compare::Difference)
        .floor(2.0),
    ],
)
.grouped(&[&["interface"]]);

/// Splits the number of a queue off the name of a statistic and puts N in its place, so that the queues of a driver share their fields:
/// `queue_3_tx_cnt` (ENA), `rx_queue_3_packets` (virtio, ixgbe, ice), `rx3_packets` (mlx5), `rx-3.packets` (i40e), `rx_cnt[3]` (gve),
/// `[3]: rx_ucast_packets` (bnxt). Other numbers, such as those of `rx_64_bytes`, stay.
pub(super) fn name_and_queue(raw: &str) -> (String, Option<i64>) {
    let start = if let Some(at) = raw.find('[') {
        at + 1
    } else if let Some(at) = raw.find("queue_").map(|at| at + 6).filter(|&at| digits(raw, at) > 0) {
        at
    } else if raw.starts_with("rx-") || raw.starts_with("tx-") {
        3
    } else if raw.starts_with("rx") || raw.starts_with("tx") {
        2
    } else {
        return (raw.to_owned(), None);
    };
    let length = digits(raw, start);
    let (Some(before), Some(number), Some(after)) =
        (raw.get(..start), raw.get(start..start + length), raw.get(start + length..))
    else {
        return (raw.to_owned(), None);
    };
    let ends_well = match before.chars().last() {
        Some('[') => after.starts_with(']'),
        _ => after.is_empty() || after.starts_with(['_', '.', '-']),
    };
    match number.parse() {
        Ok(queue) if ends_well => (format!("{before}N{after}"), Some(queue)),
        _ => (raw.to_owned(), None),
    }
}

/// Number of digits of `text` from byte `at` on.
fn digits(text: &str, at: usize) -> usize {
    text.get(at..).unwrap_or_default().bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn queues_in_names() {
        for (raw, name, queue) in [
            ("queue_3_tx_cnt", "queue_N_tx_cnt", Some(3)),
            ("rx_queue_12_packets", "rx_queue_N_packets", Some(12)),
            ("rx3_xdp_drops", "rxN_xdp_drops", Some(3)),
            ("tx-0.bytes", "tx-N.bytes", Some(0)),
            ("rx_posted_desc[7]", "rx_posted_desc[N]", Some(7)),
            ("[4]: rx_ucast_packets", "[N]: rx_ucast_packets", Some(4)),
            ("rx_64_bytes", "rx_64_bytes", None),
            ("rx_drops", "rx_drops", None),
            ("tx_queue_stopped", "tx_queue_stopped", None),
            ("rx_prio0_bytes", "rx_prio0_bytes", None),
            ("odd[x]", "odd[x]", None),
            ("rx99999999999999999999_bytes", "rx99999999999999999999_bytes", None),
            ("", "", None),
        ] {
            assert_eq!(name_and_queue(raw), (name.to_owned(), queue), "{raw}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(raw: String, n: u16) {
            name_and_queue(&raw);
            name_and_queue(&format!("{raw}[{n}]{raw}queue_{n}rx"));
        }
    }
}
