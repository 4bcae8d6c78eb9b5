-- view network_summary: what each network interface did over the whole recording
-- run: the run
-- kind: kind of interface
-- interface: its name
-- seconds [s]: time measured
-- rx_bytes [B/s]: received
-- tx_bytes [B/s]: sent
-- rx_packets [1/s]: packets received
-- tx_packets [1/s]: packets sent
-- rx_most [B/s]: received in the busiest interval
-- tx_most [B/s]: sent in the busiest interval
-- lost: packets lost, in all: errors and drops of both directions
select run, kind, interface, sum(seconds) as seconds,
       sum(rx_bytes * seconds) / sum(seconds) as rx_bytes, sum(tx_bytes * seconds) / sum(seconds) as tx_bytes,
       sum(rx_packets * seconds) / sum(seconds) as rx_packets, sum(tx_packets * seconds) / sum(seconds) as tx_packets,
       max(rx_bytes) as rx_most, max(tx_bytes) as tx_most,
       sum((rx_errors + rx_dropped + tx_errors + tx_dropped) * seconds) as lost
from network_rate
group by run, kind, interface
