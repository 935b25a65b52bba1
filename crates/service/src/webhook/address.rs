//! The allowed destinations of events: public addresses and this machine, never the network around it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Whether events may be posted to an address. Loopback and public addresses are allowed; private, link-local, shared
/// and reserved ones are not, even if they are written as IPv6.
pub fn is_allowed(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_allowed_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            // Only a mapped address is this machine itself; a translated one goes to another machine.
            Some(inner) => is_allowed_v4(inner) && (!inner.is_loopback() || address.to_ipv4_mapped().is_some()),
            None => is_allowed_v6(address),
        },
    }
}

fn is_allowed_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = a == 192 && b == 0 && c == 0;
    let benchmarks = a == 198 && (18..20).contains(&b);
    let inside = address.is_private() || address.is_link_local() || shared;
    let nowhere = a == 0 || a >= 224 || address.is_documentation() || protocols || benchmarks;
    !inside && !nowhere
}

fn is_allowed_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, ..] = address.segments();
    let unique_local = first & 0xfe00 == 0xfc00;
    let link_local = first & 0xffc0 == 0xfe80;
    let site_local = first & 0xffc0 == 0xfec0;
    let local_translation = (first, second, third) == (0x64, 0xff9b, 1);
    let inside = unique_local || link_local || site_local || local_translation;
    // Teredo and documentation.
    let nowhere = first == 0x2001 && (second == 0 || second == 0xdb8);
    !inside && !nowhere && !address.is_unspecified() && !address.is_multicast()
}

/// Returns the IPv4 address in an IPv6 address: mapped, compatible, translated (64:ff9b::/96) or tunnelled (6to4).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let inner = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match (a, b) {
        (0x2002, _) => inner(b, c),
        (0x64, 0xff9b) if [c, d, e, f] == [0; 4] => inner(g, h),
        (0, 0) if [c, d, e] == [0; 3] && f == 0xffff => inner(g, h),
        // `::` and `::1` are addresses of their own.
        (0, 0) if [c, d, e, f] == [0; 4] && (g != 0 || h > 1) => inner(g, h),
        _ => None,
    }
}

/// Resolves names again for every connection and removes forbidden addresses. The connection uses the checked
/// addresses, so a name that changes between the check and the connection has no effect.
#[derive(Debug)]
pub struct Lookup;

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed = allowed(name.as_str(), found)?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Returns the allowed addresses of a name; fails if there are none.
fn allowed(name: &str, found: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    let (allowed, refused): (Vec<_>, Vec<_>) = found.into_iter().partition(|address| is_allowed(address.ip()));
    match (allowed.is_empty(), refused.first()) {
        (false, _) => Ok(allowed),
        (true, Some(address)) => Err(io::Error::other(refusal(name, address.ip()))),
        (true, None) => Err(io::Error::other(format!("{name} has no address"))),
    }
}

/// Returns why an address is not used.
pub fn refusal(host: &str, address: IpAddr) -> String {
    // A host that is an address may be written in many ways.
    let named = host.trim_matches(['[', ']']).parse::<IpAddr>().is_err();
    let name = if named { format!("{host} is {address}, which") } else { address.to_string() };
    format!("{name} is not a public address: events are posted to public addresses and to loopback")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_private_address_beside_a_public_one_is_reached_at_the_public_one_alone() {
        let found = vec!["10.0.0.1:0".parse().unwrap(), "93.184.216.34:0".parse().unwrap()];
        assert_eq!(allowed("two", found).unwrap(), vec!["93.184.216.34:0".parse().unwrap()]);
    }

    #[test]
    fn a_name_with_nothing_but_private_addresses_is_refused_by_name_and_address() {
        let error = allowed("inside.example", vec!["192.168.1.1:0".parse().unwrap()]).unwrap_err().to_string();
        assert!(error.starts_with("inside.example is 192.168.1.1, which is not a public address"), "{error}");
    }
}
