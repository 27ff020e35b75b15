import type { Mutant } from '../mutant.ts';

const document = {
  file: 'src/agent/backends/networkd-document.ts',
  tests: ['unit', 'src/agent/backends/networkd.test.ts'],
} as const;
const claims = {
  file: 'src/agent/backends/networkd-claims.ts',
  tests: ['unit', 'src/agent/backends/networkd-claims.test.ts'],
} as const;

/** What drop-ins add to files of systemd. */
const dropIns = {
  file: 'src/agent/observe/host.ts',
  tests: ['unit', 'src/agent/observe/files.test.ts'],
} as const;
const match = { ...claims, file: 'src/agent/backends/systemd-match.ts' } as const;

export const agentNetworkdMutants: readonly Mutant[] = [
  {
    ...document,
    find: '`MACAddress=${nic.mac}`, `Name=${nic.name}`',
    replace: '`MACAddress=${nic.mac}`',
  },
  {
    ...document,
    find: "usesIPv6(nic) ? 'ipv6' : 'no'}`,",
    replace: "usesIPv6(nic) ? 'ipv6' : 'ipv6'}`,",
  },
  { ...document, find: "'RequiredForOnline=no'],", replace: "'RequiredForOnline=yes']," },
  { ...document, find: "'IPv6AcceptRA=no',", replace: "'IPv6AcceptRA=yes'," },
  { ...document, find: "if (first?.name !== 'Match' ||", replace: "if (first?.name === 'x' ||" },
  {
    ...document,
    find: 'scope: said.Scope ? rt.scopeLink : rt.scopeGlobal',
    replace: 'scope: rt.scopeLink',
  },
  { ...document, find: 'metric: said.Metric ?? 0', replace: 'metric: said.Metric ?? 100' },
  {
    ...document,
    find: "if (name !== 'RoutingPolicyRule') throw",
    replace: "if (name === 'x') throw",
  },
  {
    ...document,
    file: 'src/agent/backends/networkd.ts',
    find: 'text: renderNetwork(nic), mode: 0o644',
    replace: 'text: renderNetwork(nic), mode: 0o600',
  },
  { ...claims, find: 'match.length === 2 && ', replace: '' },
  { ...claims, find: ' && oneMac.test(mac)', replace: ' && mac !== ""' },
  {
    ...claims,
    find: 'ownName.test(file.path) ? ownNetwork(said)',
    replace: 'file.path ? ownNetwork(said)',
  },
  { ...claims, find: 'if (macs.length > 0 || isOther', replace: 'if (isOther' },
  { ...claims, find: ' || asksForNothing(match)', replace: '' },
  { ...match, find: "'$1 '", replace: "'$1'" },
  { ...match, find: '.slice(first)', replace: '.slice(0)' },
  { ...match, find: '!/^\\s*[#;]/.test(line)', replace: "line !== '#'" },
  { ...match, find: 'word !== undefined && ', replace: "word !== '' && " },
  { ...match, find: '!leftOut.some(matches) && ', replace: '' },
  { ...match, find: 'wanted.length === 0 || ', replace: '' },
  {
    ...match,
    find: 'map((word) => mark + word)',
    replace: 'map((word, at) => (at ? word : mark + word))',
  },
  { ...match, find: "each.replaceAll(/[\"']/g, '')", replace: 'each' },
  { ...claims, find: 'isOpen && match.some', replace: 'match.some' },
  { ...claims, find: 'names, ...leftOut }', replace: 'names }' },
  {
    file: 'src/agent/planning/attainable.ts',
    find: 'const names = namesFor(file, all);',
    replace: 'const names = all;',
    tests: ['unit', 'src/agent/planning/attainable.test.ts'],
  },
  {
    file: 'src/agent/planning/attainable.ts',
    find: "isOthers ? '' : former",
    replace: 'former',
    tests: ['unit', 'src/agent/planning/attainable.test.ts'],
  },
  {
    file: 'src/agent/backends/link-file.ts',
    find: ' || wanted.some(isOfTheKernel)',
    replace: '',
    tests: ['unit', 'src/agent/backends/link-file.test.ts'],
  },
  { ...match, find: "value === '' ? [] :", replace: "value === 'x' ? [] :" },
  { ...claims, find: 'lines.findLast(', replace: 'lines.find(' },
  { ...claims, find: '/^(no|false|n|f|off|0|)$/i.test', replace: '/^(no|n|f|off|0|)$/i.test' },
  { ...dropIns, find: '.filter(({ path }) => !names.has(basename(path)));', replace: ';' },
  { ...dropIns, find: '(a < b ? -1 : 1)', replace: '(a < b ? 1 : -1)' },
  {
    ...dropIns,
    find: 'return { ...file, dropIns, ...(unread',
    replace: 'return { ...file, ...(unread',
  },
  { ...dropIns, find: '...(unread === undefined ? {} : { unread })', replace: '' },
  { ...dropIns, find: ' && isFolder(name)', replace: '' },
  { ...dropIns, find: "unread !== undefined || text.trim() !== ''", replace: 'true' },
  {
    ...dropIns,
    find: '[...read, ...dropInsToOurs(hostRoot, backend.places)]',
    replace: 'read',
    tests: ['namespaces', 'test/namespaces/drop-ins.test.ts'],
  },
];
