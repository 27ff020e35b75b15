import type { Mutant } from '../mutant.ts';

const answers = [
  'unit',
  ...['answer', 'contested'].map((name) => `test/property/agent-${name}.test.ts`),
] as const;
const pure = (...files: string[]) => ['unit', ...files.map((name) => `src/agent/${name}`)] as const;

export const agentFilesMutants: readonly Mutant[] = [
  {
    file: 'src/agent/apply/backup.ts',
    find: '...names.filter((name) => name > newest), ',
    replace: '',
    tests: pure('apply/backup.test.ts'),
  },
  {
    file: 'src/agent/apply/backup.ts',
    find: '.filter((each) => each.isFile())',
    replace: '',
    tests: pure('apply/backup.test.ts'),
  },
  {
    file: 'src/agent/apply/backup.ts',
    find: '.slice(0, 1 - keptBackups)',
    replace: '',
    tests: pure('apply/backup.test.ts'),
  },
  {
    file: 'src/agent/apply/backup.ts',
    find: 'if (!lstatSync(file).isFile()) return false;',
    replace: '',
    tests: pure('apply/backup.test.ts'),
  },
  {
    file: 'src/agent/apply/backup.ts',
    find: 'if (nlink === 1) fchmodSync',
    replace: 'if (nlink === 9) fchmodSync',
    tests: pure('apply/backup.test.ts'),
  },
  {
    file: 'src/agent/apply/disk.ts',
    find: 'async () => renameFile(path, old));\n  }\n  const lost',
    replace: 'async () => removeFile(path));\n  }\n  const lost',
    tests: pure('apply/disk.test.ts'),
  },
  {
    file: 'src/agent/apply/disk.ts',
    find: 'if (problem !== undefined) lost.push',
    replace: 'if (problem === undefined) lost.push',
    tests: pure('apply/disk.test.ts'),
  },
  {
    file: 'src/agent/apply/whole-file.ts',
    find: '  await syncPath(growing);\n',
    replace: '',
    tests: answers,
  },
  {
    file: 'src/agent/apply/links.ts',
    find: '  for (const file of stagedFiles(files, context)) context.backend.validate(file, desired);\n',
    replace: '',
    tests: answers,
  },
  {
    file: 'src/agent/apply/disk.ts',
    find: '  await putInPlace(second, disk);\n  if (last',
    replace: '  if (last',
    tests: pure('apply/disk.test.ts'),
  },
  {
    file: 'src/agent/apply/disk.ts',
    find: 'writeNew(staged, change.after, change.mode)',
    replace: 'writeNew(staged, change.after, 0o600)',
    tests: pure('apply/disk.test.ts'),
  },
  {
    file: 'src/agent/planning/unit.ts',
    find: 'written.findLastIndex(({ changed }) => changed)',
    replace: '-1',
    tests: pure('planning/unit.test.ts'),
  },
  {
    file: 'src/agent/planning/unit.ts',
    find: 'return [...companions, commit, ...obsolete];',
    replace: 'return [commit, ...companions, ...obsolete];',
    tests: pure('planning/unit.test.ts'),
  },
  {
    file: 'src/agent/apply/disk.ts',
    find: 'const ours = text === change.after || text === null;',
    replace: 'const ours = true;',
    tests: pure('apply/disk.test.ts'),
  },
  {
    file: 'src/agent/backends/netplan.ts',
    find: 'if (match.macaddress) return [];',
    replace: '',
    tests: pure('backends/netplan.test.ts'),
  },
  {
    file: 'src/agent/backends/netplan.ts',
    find: "match.name ?? '*'",
    replace: 'match.name ?? []',
    tests: pure('backends/netplan.test.ts'),
  },
  {
    file: 'src/agent/planning/unit.ts',
    find: 'const paths = new Set([...taken, ...written.map(({ path }) => path)]);',
    replace: 'const paths = new Set(written.map(({ path }) => path));',
    tests: pure('planning/plan-apply.test.ts'),
  },
  {
    file: 'src/agent/apply/disk.ts',
    find: '      if (change.before !== null && change.after !== null) linkSync(path, old);\n',
    replace: '',
    tests: pure('apply/disk.test.ts'),
  },
  {
    file: 'src/agent/backends/netplan.ts',
    find: "places: [directory, '/run/netplan', '/usr/lib/netplan']",
    replace: "places: [directory, '/usr/lib/netplan']",
    tests: answers,
  },
  {
    file: 'src/agent/backends/netplan-document.ts',
    find: ' && !notText.test(text)) return text;',
    replace: ') return text;',
    tests: pure('backends/netplan-document.test.ts'),
  },
  {
    file: 'src/agent/backends/netplan-document.ts',
    find: ' || entries.some(([other]) => other === key)',
    replace: '',
    tests: pure('backends/netplan-document.test.ts'),
  },
  ...(
    [
      ['[commit, ...interim.slice(-1)]', '[commit]'],
      ['[commit, ...interim.slice(-1)]', '[commit, ...interim.slice(0, 1)]'],
      [
        'for (const change of files.interim.toReversed()) {',
        'for (const change of files.interim) {',
      ],
      ['if (textOf(path) === change.after) removeFile(path);', 'removeFile(path);'],
      ['if (files.interim) await putLate', 'await Promise.resolve(); if (false) await putLate'],
      [' && textOf(join(disk.hostRoot, path)) === before', ''],
      ['of [...(files.interim ?? []), ...first', 'of [...first'],
      ['of files.interim?.toReversed() ?? []', 'of files.interim ?? []'],
      ['of files.interim ?? []) {', 'of files.interim?.toReversed() ?? []) {'],
      ['[[commit], companions, obsolete]', '[companions, [commit], obsolete]'],
      ['of stepsOf(files).toReversed()', 'of stepsOf(files)'],
      ['  await dropInterim(files, disk);\n  const lost', '  const lost'],
      [
        '  await putInPlace(last, disk);\n',
        '  await putInPlace(last, disk);\n  await dropInterim(files, disk);\n',
      ],
      ['writeNew(staged, text', 'writeNew(`${path}.new`, text'],
    ] as const
  ).map(
    ([find, replace]): Mutant => ({
      file: 'src/agent/apply/disk.ts',
      find,
      replace,
      tests: pure('apply/interim.test.ts'),
    }),
  ),
  ...(
    [
      ['replaced.length < 2', 'replaced.length < 3'],
      ['dirname(path) === dirname(main.path)', 'true'],
      ['replaced.every(({ before })', 'replaced.some(({ before })'],
      ['.filter(({ path }) => !names.has(path))', ''],
      ['...[...lasting(files), ...left]', '...inOrder(files)'],
      ['...[...lasting(files), ...left]', '...lasting(files)'],
    ] as const
  ).map(
    ([find, replace]): Mutant => ({
      file: 'src/agent/planning/unit.ts',
      find,
      replace,
      tests: pure('planning/unit.test.ts'),
    }),
  ),
  {
    file: 'src/agent/planning/candidates.ts',
    find: '[main, ...companions, ...interim]',
    replace: '[main, ...companions]',
    tests: pure('planning/plan-apply.test.ts'),
  },
];
