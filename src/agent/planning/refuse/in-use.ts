import { rt } from '../../host.ts';
import { ipOf } from '../ipv4.ts';
import { upperLinks } from '../links.ts';
import { isLinkLocal } from '../present-state.ts';
import { mayLeaveBy, type Refusal, refusal, type Site, type TouchedNic } from './refusal.ts';

export function member({ link: { name, master } }: TouchedNic): Refusal | undefined {
  return master ? refusal('NICInUse', `${name} is a member of ${master}`) : undefined;
}

export function lower({ link: { name } }: TouchedNic, { host }: Site): Refusal | undefined {
  const upper = upperLinks(host, name)[0];
  return upper && refusal('NICInUse', `${upper.name} sits on ${name}`);
}

/** What the kernel makes by itself from the link does not count. */
export function foreignAddress({ link, owned }: TouchedNic, { host }: Site): Refusal | undefined {
  const foreign = host.addresses.find((address) => {
    const ours = !address.opaque && owned.ips.includes(ipOf(address.cidr));
    return address.link === link.name && !isLinkLocal(address) && !ours;
  });
  return foreign && refusal('NICInUse', `${link.name} has the address ${foreign.cidr}`);
}

/** What the kernel makes by itself from addresses does not count. */
export function foreignRoute({ link, owned }: TouchedNic, { host }: Site): Refusal | undefined {
  const foreign = host.routes.find((route) => {
    if (!mayLeaveBy(route, link) || route.protocol === rt.protocolKernel) return false;
    const plain = route.family === 4 && route.type === rt.unicast && !route.opaque;
    return !(plain && owned.tables.includes(route.table));
  });
  return (
    foreign &&
    refusal('NICInUse', `${link.name} has a route to ${foreign.to}, table ${foreign.table}`)
  );
}
