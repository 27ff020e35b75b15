/** What network managers say of a link in /run, word for word, as Debian's versions of them wrote it. */

const own = '# This is private data. Do not parse.\n';

/** Files of /run/systemd/netif/links. */
export const networkdLink = {
  /** systemd 247, Debian 11, netplan 0.101. */
  bullseye: `${own}ADMIN_STATE=configuring
OPER_STATE=routable
CARRIER_STATE=carrier
ADDRESS_STATE=routable
REQUIRED_FOR_ONLINE=yes
REQUIRED_OPER_STATE_FOR_ONLINE=degraded
NETWORK_FILE=/run/systemd/network/10-netplan-eth0.network
DNS=
NTP=
SIP=
DOMAINS=
ROUTE_DOMAINS=
LLMNR=yes
MDNS=no
ADDRESSES=10.200.0.2/16
ROUTES=
DHCP6_CLIENT_DUID=DUID-EN/Vendor:0000ab111b018c358f9323910000
`,
  /** systemd 252, Debian 12, a file that an administrator wrote. */
  bookwormOwn: `${own}ADMIN_STATE=configured
OPER_STATE=routable
CARRIER_STATE=carrier
ADDRESS_STATE=routable
IPV4_ADDRESS_STATE=routable
IPV6_ADDRESS_STATE=degraded
ONLINE_STATE=online
REQUIRED_FOR_ONLINE=yes
REQUIRED_OPER_STATE_FOR_ONLINE=degraded
REQUIRED_FAMILY_FOR_ONLINE=any
ACTIVATION_POLICY=up
NETWORK_FILE=/etc/systemd/network/50-eth0.network
DNS=
NTP=
SIP=
DOMAINS=
ROUTE_DOMAINS=
LLMNR=yes
MDNS=no
DHCP6_CLIENT_DUID=DUID-EN/Vendor:0000ab118e5e41f957a289be
`,
  /** systemd 257, Debian 13, netplan 1.1.2. */
  trixie: `${own}ADMIN_STATE=configured
OPER_STATE=routable
CARRIER_STATE=carrier
ADDRESS_STATE=routable
IPV4_ADDRESS_STATE=routable
IPV6_ADDRESS_STATE=degraded
ONLINE_STATE=online
REQUIRED_FOR_ONLINE=yes
REQUIRED_OPER_STATE_FOR_ONLINE=degraded:routable
REQUIRED_FAMILY_FOR_ONLINE=any
ACTIVATION_POLICY=up
NETWORK_FILE=/run/systemd/network/10-netplan-eth0.network
NETWORK_FILE_DROPINS=""
DNS=
NTP=
SIP=
DOMAINS=
ROUTE_DOMAINS=
LLMNR=yes
MDNS=no
DHCP6_CLIENT_DUID=DUID-EN/Vendor:0000ab11d7b687ca0cd2bad4
`,
  /** Any version: a link that no file matches. */
  unmanaged: `${own}ADMIN_STATE=unmanaged
OPER_STATE=off
CARRIER_STATE=off
ADDRESS_STATE=off
IPV4_ADDRESS_STATE=off
IPV6_ADDRESS_STATE=off
`,
} as const;

/** Files of /run/NetworkManager/devices: NetworkManager 1.30, 1.42 and 1.52 write the same. */
export const networkManagerLink = {
  connected: `[device]
managed=true
perm-hw-addr-fake=02:00:00:00:00:01
connection-uuid=11111111-1111-1111-1111-000000000000
nm-owned=false
route-metric-default-effective=100
`,
  /** By a profile that netplan 0.106 made in /run, without a uuid of its own. */
  byNetplan: `[device]
managed=true
perm-hw-addr-fake=02:00:00:00:00:01
connection-uuid=626dd384-8b3d-3690-9511-192b2c79b3fd
nm-owned=false
route-metric-default-effective=100
`,
  disconnected: `[device]
managed=true
perm-hw-addr-fake=02:00:00:00:01:00
nm-owned=false
`,
  /** Left behind when it stopped; the same, while it runs, of a link that its files, or udev's, tell it not to manage. */
  left: `[device]
nm-owned=false
`,
  /** After `nmcli device set … managed no`. */
  letGo: `[device]
managed=false
perm-hw-addr-fake=02:00:00:00:01:06
nm-owned=false
`,
} as const;

/** A profile as NetworkManager takes it. */
export const keyfile = `[connection]
id=eth0
uuid=11111111-1111-1111-1111-000000000000
type=ethernet
interface-name=eth0
[ipv4]
method=manual
address1=10.200.0.2/16,10.200.0.254
[ipv6]
method=link-local
`;
