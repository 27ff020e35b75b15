import type { Mutant } from '../mutant.ts';

const agent = {
  file: 'src/agent/rights.ts',
  tests: ['namespaces', 'test/namespaces/pod-useless-rights.test.ts'],
} as const;
const told = {
  file: 'src/controller/pod-rights.ts',
  tests: ['unit', 'src/controller/pod-rights.test.ts'],
} as const;

/** What the Pod of an agent has, what it is told that it has, and what is done where that is not so. */
export const agentRightsMutants: readonly Mutant[] = [
  { ...agent, find: 'protectedAddresses.length + macs.size', replace: 'protectedAddresses.length' },
  { ...agent, find: 'macs.has(link.mac) || ', replace: '' },
  { ...agent, find: ' || nodeAddressOf(link, { host, protectedAddresses })', replace: '' },
  { ...agent, find: "onlyLooks && refused === 'EROFS'", replace: 'onlyLooks' },
  { ...agent, find: '        lackedFolder(mount, hostRoot, shown) ??\n', replace: '' },
  { ...agent, find: '`${there}/.`', replace: 'there' },
  { ...agent, find: 'constants.R_OK', replace: 'constants.F_OK' },
  { ...told, find: 'writable: !readOnly', replace: 'writable: true' },
  { ...told, find: 'startsWith(`${jobFiles.hostRoot}/`)', replace: "startsWith('/')" },
  {
    file: 'src/controller/job.ts',
    find: "guessFamily(machine) === 'keyfile'",
    replace: 'true',
    tests: told.tests,
  },
  {
    file: 'src/controller/interface-statuses.ts',
    find: "  'RightMissing',\n",
    replace: '',
    tests: ['unit', 'src/controller/status.test.ts'],
  },
  {
    file: 'src/controller/evidence.ts',
    find: "? 'container' : 'kubelet'",
    replace: "? 'kubelet' : 'container'",
    tests: ['unit', 'src/controller/evidence.test.ts'],
  },
];
