import type { Mutant } from '../mutant.ts';

const evidence = ['unit', 'src/operator/observe/evidence.test.ts'] as const;
const scenes = ['unit', 'src/operator/unkind-cloud.test.ts'] as const;

export const operatorMutants: readonly Mutant[] = [
  {
    file: 'src/operator/observe/evidence.ts',
    find: "if (sightings.sawOwn(serverId)) return 'deleted';",
    replace: "return 'deleted';",
    tests: evidence,
  },
  {
    file: 'src/operator/observe/evidence.ts',
    find: 'if (macAddresses === undefined) return undefined;',
    replace: 'if (macAddresses === undefined) return false;',
    tests: evidence,
  },
  {
    file: 'src/operator/observe/evidence.ts',
    find: 'others.every((port) => macAddresses.includes(port.macAddress)) ? false : undefined',
    replace: 'others.every((port) => macAddresses.includes(port.macAddress)) ? false : false',
    tests: evidence,
  },
  {
    file: 'src/operator/observe/evidence.ts',
    find: 'complete = false;',
    replace: '',
    tests: evidence,
  },
  {
    file: 'src/operator/observe/server-sightings.ts',
    find: 'if (projectId === cloud.projectId) this.#seen.add(id);',
    replace: 'this.#seen.add(id);',
    tests: evidence,
  },
  {
    file: 'src/operator/observe/cloud-views.ts',
    find: 'cloud.name === name',
    replace: "cloud.name !== ''",
    tests: ['unit', 'src/operator/observe/cloud-views.test.ts'],
  },
  {
    file: 'src/operator/deliver/plan-input.ts',
    find: 'observation.ports.filter(({ id }) => !read.has(id))',
    replace: 'observation.ports',
    tests: scenes,
  },
  {
    file: 'src/operator/status/writer.ts',
    find: 'evidenceComplete && delivery.failures.length === 0',
    replace: 'delivery.failures.length === 0',
    tests: scenes,
  },
];
