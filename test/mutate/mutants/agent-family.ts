import type { Mutant } from '../mutant.ts';

const seen = ['unit', 'src/agent/observe/family.test.ts'] as const;
const fit = ['unit', 'src/agent/fit.test.ts'] as const;
const mounts = ['unit', 'src/api/host-mounts.test.ts'] as const;
const inHand = ['namespaces', 'test/namespaces/families.test.ts'] as const;
const answered = ['namespaces', 'test/namespaces/answer.test.ts'] as const;

/** Who manages a host, and what an agent for another family may do there. */
export const agentFamilyMutants: readonly Mutant[] = [
  {
    file: 'src/agent/planning/family.ts',
    find: 'if (networkd.length > 0 && networkManager.length > 0) {',
    replace: 'if (networkd.length > 99) {',
    tests: seen,
  },
  {
    file: 'src/agent/planning/family.ts',
    find: 'networkd.some(({ file }) => fromNetplan.test(file))',
    replace: 'evidence.installed.netplan',
    tests: seen,
  },
  {
    file: 'src/agent/planning/family.ts',
    find: "  if (renderer === undefined) return { family: 'netplan', found };\n",
    replace: "  if (renderer !== '') return { family: 'netplan', found };\n",
    tests: seen,
  },
  {
    file: 'src/agent/planning/family.ts',
    find: 'uuid === undefined || keyfiles.has(uuid)',
    replace: 'uuid === undefined',
    tests: seen,
  },
  {
    file: 'src/agent/planning/family.ts',
    find: 'const nameless = ifcfgs.filter((file) => file.uuid === undefined);',
    replace: 'const nameless = ifcfgs;',
    tests: seen,
  },
  {
    file: 'src/agent/planning/family.ts',
    find: 'if (installed.netplan && !onlyNetworkManager)',
    replace: 'if (installed.netplan)',
    tests: seen,
  },
  {
    file: 'src/agent/planning/family.ts',
    find: 'evidence.running.others.length > 0 ? [] : inFiles(evidence)',
    replace: 'inFiles(evidence)',
    tests: seen,
  },
  {
    file: 'src/agent/planning/family.ts',
    find: 'if (family && more.length === 0)',
    replace: 'if (family)',
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: "link.name !== 'lo' && ",
    replace: '',
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: '? isPrimary(link, { host, protectedAddresses })',
    replace: '? true',
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: ': link.kind === undefined || carries(link);',
    replace: ': link.kind === undefined;',
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: ': link.kind === undefined || carries(link);',
    replace: ': true;',
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: "if (valueOf(text, 'managed') !== 'true') return [];",
    replace: '',
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: "state === 'configuring' || ",
    replace: '',
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: 'networkdHasLinks || runs(activeUnits.networkd)',
    replace: 'runs(activeUnits.networkd)',
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: '.filter(({ path }) => !/multinic\\d+(\\.|$)/.test(path))',
    replace: '',
    tests: seen,
  },
  {
    file: 'src/agent/fit.ts',
    find: 'return { backend: undefined, misfit, family };',
    replace: 'return { backend: backends[made], misfit, family };',
    tests: fit,
  },
  {
    file: 'src/agent/fit.ts',
    find: "family: made = 'netplan'",
    replace: "family: made = 'keyfile'",
    tests: fit,
  },
  {
    file: 'src/agent/configure.ts',
    find: '  if (!backend) return { ...ofWrongFamily(request, inUse, misfit), ...named };\n',
    replace: '  if (!backend) return { ...ofWrongFamily(request, [], misfit), ...named };\n',
    tests: answered,
  },
  {
    file: 'src/agent/configure.ts',
    find: '  if (misfit) return afterRecovery(recovered, ofWrongFamily(request, claimed(known).nics, misfit));\n',
    replace: '',
    tests: answered,
  },
  {
    file: 'src/agent/result.ts',
    find: 'if (known.length === 0 && !asked)',
    replace: 'if (known.length === 99 && !asked)',
    tests: answered,
  },
  {
    file: 'src/api/host-mounts.ts',
    find: "read('networkd-links', '/run/systemd/netif/links')",
    replace: "read('networkd-links', '/run/systemd/netif')",
    tests: mounts,
  },
  {
    file: 'src/api/host-mounts.ts',
    find: "  type: 'DirectoryOrCreate',\n  readOnly: false,",
    replace: "  type: 'Directory',\n  readOnly: false,",
    tests: mounts,
  },
  {
    file: 'src/agent/backends/sysctl-file.ts',
    find: 'if (index === undefined) return ofOthers(file);',
    replace: 'if (index === undefined) return { ...file, macs: [] };',
    tests: ['unit', 'src/agent/backends/sysctl-file.test.ts'],
  },
  {
    file: 'src/agent/backends/sysctl-file.ts',
    find: 'if (mac === undefined) return { ...file, macs: [] };',
    replace: 'if (mac === undefined) return ofOthers(file);',
    tests: ['unit', 'src/agent/backends/sysctl-file.test.ts'],
  },
  {
    file: 'src/agent/observe/family.ts',
    find: "return files.length > 0 && valueOf(file?.text ?? '', 'managed') === undefined;",
    replace: "return files.length > 0 && valueOf(file?.text ?? '', 'managed') !== 'true';",
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: 'return files.length > 0 && valueOf',
    replace: 'return file !== undefined && valueOf',
    tests: seen,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: 'own.find((link) => host && isPrimary(link, { ...ours, host }))',
    replace: 'own.at(-1)',
    tests: seen,
  },
  {
    file: 'src/agent/warnings.ts',
    find: '    ...notPersistent(nics, host, context),\n',
    replace: '',
    tests: ['namespaces', 'test/namespaces/families.test.ts'],
  },
  {
    file: 'src/agent/backends/network-manager.ts',
    find: 'return ofOursAlone(readNetwork(file))',
    replace: 'return readNetwork(file)',
    tests: ['unit', 'src/agent/backends/keyfile-claims.test.ts'],
  },
  {
    file: 'src/agent/warnings.ts',
    find: '!inReach.has(dirname(path))',
    replace: '!inReach.has(path)',
    tests: ['namespaces', 'test/namespaces/families.test.ts'],
  },
  {
    file: 'src/agent/configure.ts',
    find: 'conclude(nics, now, applied.state, context)',
    replace: 'conclude(nics, { ...now, state: applied.state }, applied.state, context)',
    tests: ['namespaces', 'test/namespaces/families.test.ts'],
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: '? isRecorded(entry, state)',
    replace: '? false',
    tests: inHand,
    named: '.*state.write after 1',
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: ', ...left.map((path) => `FilesLeft ${path}`)',
    replace: '',
    tests: inHand,
  },
  {
    file: 'src/agent/apply/reach.ts',
    find: '? { ...change, changed: false }',
    replace: '? change',
    tests: inHand,
  },
];
