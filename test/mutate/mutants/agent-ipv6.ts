import type { Mutant } from '../mutant.ts';

const pure = (...files: string[]) => ['unit', ...files.map((name) => `src/agent/${name}`)] as const;
const plans = ['unit', 'test/property/agent-plan.test.ts'] as const;
const onHost = ['namespaces', 'test/namespaces/ipv6.test.ts'] as const;

export const agentIpv6Mutants: readonly Mutant[] = [
  {
    file: 'src/agent/planning/desired.ts',
    find: "addressMode: 'eui64',",
    replace: "addressMode: 'none',",
    tests: pure('planning/desired.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'present.filter((cidr) => familyOf(cidr) === 4)',
    replace: 'present',
    tests: pure('planning/desired.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'metric: metric || usualMetric6',
    replace: 'metric',
    tests: pure('planning/desired.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: '/${hostPrefix(familyOf(cidr))}`',
    replace: '/32`',
    tests: pure('planning/desired.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'familyOf(to) === 4 ? { src } : {}',
    replace: '{ src }',
    tests: pure('planning/desired.test.ts'),
  },
  {
    file: 'src/agent/planning/diff.ts',
    find: 'state = { ...withoutIPv6(state), up: false, routes: [] };',
    replace: 'state = { ...state, up: false, routes: [], linkLocal: [] };',
    tests: plans,
  },
  {
    file: 'src/agent/planning/diff.ts',
    find: 'if (want.mtu < minIpv6Mtu) state = withoutIPv6(state);',
    replace: 'if (want.mtu < minIpv6Mtu) state = { ...state, linkLocal: [] };',
    tests: plans,
  },
  {
    file: 'src/agent/planning/diff.ts',
    find: "if (want.addressMode === 'none') return false;",
    replace: '',
    tests: pure('planning/diff.test.ts'),
  },
  {
    file: 'src/agent/planning/diff.ts',
    find: 'want.linkLocal ?? (isOver ? [] : have)',
    replace: 'want.linkLocal ?? have',
    tests: pure('planning/diff.test.ts'),
  },
  {
    file: 'src/agent/planning/operation.ts',
    find: 'familyOf(rule.from) === 4 ? line',
    replace: 'true ? line',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/settle.ts',
    find: 'look.busy ? longPatienceMs : patienceMs',
    replace: '0',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/settle.ts',
    find: 'wanted.has(address.cidr) && address.probe === probe',
    replace: 'address.probe === probe',
    tests: onHost,
  },
  {
    file: 'src/agent/apply/links.ts',
    find: 'const taken = duplicate.get(goal);',
    replace: "const taken = '';",
    tests: onHost,
  },
  {
    file: 'src/agent/apply/kernel.ts',
    find: 'Number(isRuleOfIPv6(a)) - Number(isRuleOfIPv6(b))',
    replace: '0',
    tests: onHost,
  },
  {
    file: 'src/agent/planning/attainable.ts',
    find: 'usesIPv6(desired) && desired.mtu < minIpv6Mtu',
    replace: 'false',
    tests: onHost,
  },
  {
    file: 'src/agent/planning/candidates.ts',
    find: '  if (alien) return',
    replace: '  if (alien && false) return',
    tests: pure('planning/entry.test.ts'),
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: '.filter(([key]) => !known.includes(key));',
    replace: '.filter(() => false);',
    tests: pure('planning/plan-apply.test.ts'),
  },
  {
    file: 'src/agent/backends/netplan-document.ts',
    find: "...(usesIPv6(nic) ? section('link-local', [['ipv6']]) : ['      link-local: []']),",
    replace: "'      link-local: []',",
    tests: pure('backends/netplan.test.ts'),
  },
  {
    file: 'src/agent/configure.ts',
    find: '...journals.flatMap(({ belongings }) => belongings.ips),',
    replace: '',
    tests: onHost,
  },
];
