import type { Mutant } from '../mutant.ts';

const plan = ['unit', 'src/plan', 'test/property/plan.test.ts'] as const;

export const planMutants: readonly Mutant[] = [
  {
    file: 'src/plan/removal.ts',
    find: "return verdict !== undefined && verdict !== 'stillAttached' && verdict !== 'unconfirmed';",
    replace: "return verdict !== undefined && verdict !== 'stillAttached';",
    tests: plan,
  },
  {
    file: 'src/plan/removal.ts',
    find: 'if (port === undefined) return fateOfMissing(spec, place, view);',
    replace: "if (port === undefined) return leave(spec, 'notSelected', true, view);",
    tests: plan,
  },
  {
    file: 'src/plan/entry.ts',
    find: '.filter(({ id, shared }) => id !== main.id && Object.keys(shared).length > 0)',
    replace: '.filter(({ id }) => id !== main.id)',
    tests: plan,
  },
  {
    file: 'src/plan/entry.ts',
    find: '.filter(({ id, shared }) => id !== main.id && Object.keys(shared).length > 0)',
    replace: '.filter(({ shared }) => Object.keys(shared).length > 0)',
    tests: plan,
  },
  {
    file: 'src/plan/entry.ts',
    find: '.toSorted((a, b) => compareText(a.cidr, b.cidr))',
    replace: '',
    tests: plan,
  },
  {
    file: 'src/plan/free-names.ts',
    find: 'open.find((index) => !leaving.has(index))',
    replace: 'open[0]',
    tests: plan,
  },
  {
    file: 'src/plan/entry.ts',
    find: 'created >= limit',
    replace: 'created > limit',
    tests: plan,
  },
  {
    file: 'src/plan/claims.ts',
    find: 'const sameName = namespace === owner.namespace && name === owner.name;',
    replace: 'const sameName = namespace === owner.namespace;',
    tests: plan,
  },
  {
    file: 'src/plan/claims.ts',
    find: 'const shared = sharing.length > 1 && !isDelivered(claim);',
    replace: 'const shared = sharing.length > 1;',
    tests: plan,
  },
  {
    file: 'src/plan/removal.ts',
    find: "if (dropped && place.own) return leave(spec, 'notSelected', true, view);",
    replace: "if (dropped) return leave(spec, 'notSelected', true, view);",
    tests: plan,
  },
  {
    file: 'src/plan/removal.ts',
    find: "if (wasRead && removals === 'allowed') return",
    replace: "if (removals === 'allowed') return",
    tests: plan,
  },
  {
    file: 'src/plan/removal.ts',
    find: "return unconfirmed(spec, 'noAddress', wasRead ? undefined : question);",
    replace: "return leave(spec, 'notSelected', false, view);",
    tests: plan,
  },
  {
    file: 'src/plan/free-names.ts',
    find: 'const open = free.filter((index) => !reserved.has(index));',
    replace: 'const open = free;',
    tests: plan,
  },
  {
    file: 'src/plan/entry.ts',
    find: '(wasDelivered || isYoung)',
    replace: 'isYoung',
    tests: plan,
  },
  {
    file: 'src/plan/view.ts',
    find: '{ instanceId: instanceId.toLowerCase() }',
    replace: '{ instanceId }',
    tests: plan,
  },
  {
    file: 'src/plan/claims.ts',
    find: 'return held?.nodeName.toLowerCase() === name ? held.nodeName : name;',
    replace: 'return name;',
    tests: plan,
  },
  {
    file: 'src/plan/calculate.ts',
    find: 'Math.floor(0.2 * input.cloudInterfaces)',
    replace: 'Math.floor(0.3 * input.cloudInterfaces)',
    tests: plan,
  },
  {
    file: 'src/plan/calculate.ts',
    find: "claim === undefined || claim.blocked?.kind === 'problem'",
    replace: 'claim === undefined',
    tests: plan,
  },
  {
    file: 'src/plan/removal.ts',
    find: 'portsOf(spec, ports.filter(isUnnamed))',
    replace: 'portsOf(spec, ports)',
    tests: plan,
  },
  {
    file: 'src/plan/removal.ts',
    find: 'if (!dropped && !isAllowedStatus(port, selection)) return stays(spec);',
    replace: '',
    tests: plan,
  },
  {
    file: 'src/plan/removal.ts',
    find: 'if (view.hold && !explicit)',
    replace: 'if (view.hold)',
    tests: plan,
  },
  {
    file: 'src/plan/view.ts',
    find: '!taken.has(instanceId) &&',
    replace: '',
    tests: plan,
  },
  {
    file: 'src/plan/view.ts',
    find: 'spec.specHash === specHash(spec) ? instanceId : labelledInstanceId',
    replace: 'labelledInstanceId',
    tests: ['unit', 'src/operator/edited-object.test.ts'],
  },
  {
    file: 'src/plan/claims.ts',
    find: 'made ?? own[0] ?? candidates[0]',
    replace: 'own[0] ?? candidates[0]',
    tests: ['unit', 'src/operator/edited-object.test.ts'],
  },
  {
    file: 'src/plan/node-plan.ts',
    find: 'if (isMisplaced || spec.instanceId !== serverId)',
    replace: 'if (spec.instanceId !== serverId)',
    tests: ['unit', 'src/operator/edited-object.test.ts'],
  },
  {
    file: 'src/plan/calculate.ts',
    find: 'confirmed === 0 ? 0 : confirmed + ask.length',
    replace: 'confirmed',
    tests: plan,
  },
  {
    file: 'src/plan/node-plan.ts',
    find: 'if (held.deletionTimestamp !== undefined) return onItsWayOut;',
    replace: '',
    tests: plan,
  },
];
