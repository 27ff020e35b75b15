import type { Host } from '../host.ts';
import { isOwnRule } from './ownership.ts';
import type { Unit } from './unit.ts';

/** The host as it will be once these NICs are removed; what a plan for the others starts from. */
export function hostAfterRemoval(host: Host, removals: readonly Unit[]): Host {
  const removed = new Map(
    removals.flatMap(({ before, after }) =>
      before.link && after.link ? [[before.link.name, after.link] as const] : [],
    ),
  );
  const paths = new Set(removals.flatMap(({ files }) => files.map(({ path }) => path)));
  return {
    ...host,
    links: host.links.map((link) => {
      const after = removed.get(link.name);
      return after ? { ...link, name: after.name, up: after.up, mtu: after.mtu } : link;
    }),
    addresses: host.addresses.filter(({ link }) => !removed.has(link)),
    routes: host.routes.filter(({ links }) => !links.some((name) => removed.has(name))),
    rules: host.rules.filter(
      (rule) => !removals.some(({ nic }) => isOwnRule(rule, nic.belongings)),
    ),
    files: host.files.filter(({ path }) => !paths.has(path)),
  };
}
