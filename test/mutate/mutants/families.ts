import type { Mutant } from '../mutant.ts';

const unit = (...names: readonly string[]) =>
  ['unit', ...names.map((name) => `src/${name}.test.ts`)] as const;
const accept = { file: 'src/api/accept-interface.ts', tests: unit('api/accept-interface') };
const protocol = unit('controller/protocol');
const families = unit('operator/families');

/** Address families and routing, from OpenstackConfigs to the requests of agents. */
export const familiesMutants: readonly Mutant[] = [
  {
    ...accept,
    find: 'const gateway6 = gatewayOf(ways, 6);',
    replace: 'const gateway6 = undefined;',
  },
  { ...accept, find: 'familyOf(way) === family)', replace: 'way !== undefined)' },
  { ...accept, find: 'familyOf(way) !== familyOf(subnet)', replace: 'way === subnet' },
  {
    ...accept,
    find: 'routes.filter(({ to }) => to === cidr || !connected.has(to)),',
    replace: 'routes.filter(({ to }) => to === cidr || to !== undefined),',
  },
  {
    ...accept,
    find: 'to === cidr || !connected.has(to)',
    replace: '!connected.has(to)',
  },
  {
    ...accept,
    find: '!places.has(placeOf(route)) && places.add(placeOf(route))',
    replace: 'places.add(placeOf(route))',
  },
  { ...accept, find: "return `${to} ${metric ?? ''}`;", replace: 'return metric ? to : to;' },
  {
    ...accept,
    find: 'if (all.length > maxRoutes) {',
    replace: 'if (all.length > 2 * maxRoutes) {',
  },
  {
    ...accept,
    find: 'if (isIPv6(text)) return plainForm(text);',
    replace: 'if (isIPv6(text)) return text;',
  },
  { ...accept, find: 'length >= 1 && length <= most', replace: 'length <= most' },
  {
    ...accept,
    find: "plainForm(network('addresses', text))",
    replace: "network('addresses', text)",
  },
  {
    file: 'src/api/job.ts',
    find: "return routing !== 'pbr' || addresses.some",
    replace: 'return addresses.some',
    tests: protocol,
  },
  {
    file: 'src/api/job.ts',
    find: '(text) => familyOf(text) === 6) ? 3 : 1',
    replace: '(text) => familyOf(text) === 4 && false) ? 3 : 1',
    tests: protocol,
  },
  {
    file: 'src/controller/request.ts',
    find: 'interfaces.filter((nic) => protocolOf(nic) > protocol)',
    replace: 'interfaces.filter((nic) => protocolOf(nic) > 3)',
    tests: protocol,
  },
  {
    file: 'src/controller/request.ts',
    find: 'const stay = [...keep, ...withheld.map(({ mac }) => mac)];',
    replace: 'const stay = keep;',
    tests: protocol,
  },
  {
    file: 'src/controller/request.ts',
    find: '].map((text) => plainForm(ipOf(text)));',
    replace: '].map((text) => ipOf(text));',
    tests: unit('controller/job'),
  },
  {
    file: 'src/controller/request.ts',
    find: "[address ?? '', ...addresses]",
    replace: "[address ?? '', ...addresses.slice(9)]",
    tests: unit('controller/job'),
  },
  {
    file: 'src/controller/next-run.ts',
    find: 'protocols.findLast((version) => version < spoken) ?? newest',
    replace: 'protocols.find((version) => version > spoken) ?? newest',
    tests: protocol,
  },
  {
    file: 'src/controller/next-run.ts',
    find: "if (reasons.includes('AgentTooOld')) return newest;",
    replace: '',
    tests: protocol,
  },
  {
    file: 'src/controller/evidence.ts',
    find: 'if (needed > spoken) {',
    replace: 'if (needed > spoken + 2) {',
    tests: protocol,
  },
  {
    file: 'src/controller/interface-statuses.ts',
    find: 'filter((text) => ipOf(text) !== address)',
    replace: 'filter((text) => text !== address)',
    tests: unit('controller/interface-statuses'),
  },
  {
    file: 'src/viola/desired.ts',
    find: '(familyOf(first) === 4 ? ipOf(first) : undefined)',
    replace: 'ipOf(first)',
    tests: unit('viola/held-node'),
  },
  {
    file: 'src/operator/observe/observe.ts',
    find: 'if (isWanted && !chosen.has(subnetId)) others.add(subnetId);',
    replace: 'if (!isWanted && !chosen.has(subnetId)) others.add(subnetId);',
    tests: families,
  },
  {
    file: 'src/operator/observe/subnets.ts',
    find: 'if (families.includes(family)) return [];',
    replace: "if (family === 'IPv4') return [];",
    tests: families,
  },
  {
    file: 'src/operator/resolve/resolve.ts',
    find: 'if (addressFamilies.length === 0) {',
    replace: 'if (addressFamilies.length > 2) {',
    tests: unit('operator/resolve/resolve'),
  },
];
