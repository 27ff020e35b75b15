import type { Mutant } from '../mutant.ts';

const pure = (...files: string[]) => ['unit', ...files.map((name) => `src/agent/${name}`)] as const;
const onHost = ['namespaces', 'test/namespaces/settings.test.ts'] as const;
const settings = pure('planning/settings.test.ts');

export const agentSettingsMutants: readonly Mutant[] = [
  {
    file: 'src/agent/planning/settings.ts',
    find: "'ipv4.arp_ignore': '1'",
    replace: "'ipv4.arp_ignore': '0'",
    tests: onHost,
  },
  {
    file: 'src/agent/planning/settings.ts',
    find: 'if (!link || !setUp) return want;',
    replace: 'if (!link) return want;',
    tests: settings,
  },
  {
    file: 'src/agent/planning/settings.ts',
    find: '!isLasting(key) || now[key] === lastingSettings[key]',
    replace: 'true',
    tests: settings,
  },
  {
    file: 'src/agent/planning/settings.ts',
    find: 'isLasting(key) && now[key] !== undefined && ',
    replace: 'now[key] !== undefined && ',
    tests: settings,
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: ' && record.boot.setUp === link.index',
    replace: '',
    tests: onHost,
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: 'isSetUp(candidate, bootId)',
    replace: 'false',
    tests: onHost,
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: 'return withoutOthers(former, link.settings);',
    replace: 'return former;',
    tests: onHost,
  },
  {
    file: 'src/agent/backends/sysctl-file.ts',
    find: 'if (mac === undefined) return { ...file, macs: [] };',
    replace: "if (mac === undefined) throw new Error('unknown');",
    tests: pure('backends/sysctl-file.test.ts'),
  },
  {
    file: 'src/agent/observe/host.ts',
    find: 'site.keepsSettings ? withSysctlFile(family) : family',
    replace: 'withSysctlFile(family)',
    tests: onHost,
  },
];
