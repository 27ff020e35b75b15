import { routingTable, rulePriority } from '../../../api/names.ts';
import { linkNamed } from '../links.ts';
import { isInheritedRule, isOwnRule } from '../ownership.ts';
import { type Refusal, refusal, type Site, type WantedNic } from './refusal.ts';

export function mtu({ desired, link: { name, maxMtu } }: WantedNic): Refusal | undefined {
  if (maxMtu === undefined || desired.mtu <= maxMtu) return undefined;
  const message = `mtu ${desired.mtu} is above ${maxMtu}, the most ${name} takes`;
  return refusal('InvalidEntry', message);
}

export function tableTaken({ link, desired }: WantedNic, { host }: Site): Refusal | undefined {
  const table = routingTable(desired.index);
  const route = host.routes.find(
    (item) => item.table === table && !(item.links.includes(link.name) && !item.opaque),
  );
  return route && refusal('TableInUse', `table ${table} has a route to ${route.to}`);
}

export function priorityTaken(nic: WantedNic, { host }: Site): Refusal | undefined {
  const table = routingTable(nic.desired.index);
  const priority = rulePriority(nic.desired.index);
  const rule = host.rules.find(
    (item) =>
      !isOwnRule(item, nic.belongings) &&
      (item.priority === priority || (item.table === table && !isInheritedRule(item, table))),
  );
  return (
    rule && refusal('TableInUse', `rule ${rule.priority} from ${rule.from} is not of this NIC`)
  );
}

/** Another link has the name and will not give it up; an alternative name is never given up. */
export function nameTaken(
  { link, desired: { name } }: WantedNic,
  { host, accepted }: Site,
): Refusal | undefined {
  const holder = linkNamed(host, name);
  if (!holder || holder.index === link.index) return undefined;
  const leaving = accepted.some(
    (other) => other.link.index === holder.index && other.desired.name !== holder.name,
  );
  if (leaving && holder.name === name) return undefined;
  return refusal('NICInUse', `the name ${name} belongs to another NIC, ${holder.mac}`);
}
