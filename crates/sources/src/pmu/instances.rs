//! What would give hardware counters where there are none.

use host::Host;

/// The least size of an instance of EC2 that has a whole socket and with it all counters, by generation: kind and number of the family's name.
/// Smaller ones have none, or some of them (6g, 7g, 7a, 7i, 8g).
const WHOLE_SOCKET: [(&str, &str); 8] = [
    ("6g", "16xlarge"),
    ("7g", "16xlarge"),
    ("8g", "24xlarge"),
    ("9g", "48xlarge"),
    ("6i", "16xlarge"),
    ("7a", "24xlarge"),
    ("7i", "24xlarge"),
    ("8i", "48xlarge"),
];

/// What would give counters here, in a sentence.
pub fn remedy(host: &Host) -> String {
    let of = |file: &str| host.read_text(&format!("/sys/class/dmi/id/{file}")).unwrap_or_default();
    let (vendor, product) = (of("sys_vendor"), of("product_name"));
    if vendor != "Amazon EC2" {
        return "record on the host, or on a virtual machine that is shown a PMU; on EC2, instances with a whole socket have one (7g from 16xlarge, \
                8g, 7a and 7i from 24xlarge, 8i and 9g from 48xlarge, 6i from 16xlarge), and metal"
            .to_owned();
    }
    let family = product.split('.').next().unwrap_or_default();
    let size = WHOLE_SOCKET
        .iter()
        .find(|(kind, _)| family.trim_start_matches(|c: char| c.is_ascii_lowercase()).starts_with(kind));
    match size {
        Some((_, size)) => format!("an instance {family}.{size}, or metal"),
        None => format!("an instance {family}.metal"),
    }
}

#[cfg(test)]
mod tests {
    use super::remedy;
    use crate::testing::host_of;

    #[test]
    fn by_the_instance() {
        for (product, expected) in [
            ("m7g.large", "an instance m7g.16xlarge, or metal"),
            ("c8gd.xlarge", "an instance c8gd.24xlarge, or metal"),
            ("r6i.2xlarge", "an instance r6i.16xlarge, or metal"),
            ("m5.large", "an instance m5.metal"),
        ] {
            let (_dir, host) = host_of(&[
                ("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
                ("/sys/class/dmi/id/product_name", &format!("{product}\n")),
            ]);
            assert_eq!(remedy(&host), expected);
        }
        let (_dir, host) = host_of(&[("/sys/class/dmi/id/sys_vendor", "QEMU\n")]);
        assert!(remedy(&host).starts_with("record on the host"));
    }
}
