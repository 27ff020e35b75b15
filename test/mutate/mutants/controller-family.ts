import type { Mutant } from '../mutant.ts';

const told = ['unit', 'src/controller/family.test.ts'] as const;
const sent = ['unit', 'src/controller/other-family.test.ts'] as const;

/** For which family an agent is sent, and when the next one follows. */
export const controllerFamilyMutants: readonly Mutant[] = [
  {
    file: 'src/controller/family.ts',
    find: 'nics.every((',
    replace: 'nics.some((',
    tests: told,
  },
  {
    file: 'src/controller/family.ts',
    find: "outcome === 'failed' && ",
    replace: '',
    tests: told,
  },
  {
    file: 'src/controller/family.ts',
    find: ' && !triedFamilies.includes(found)',
    replace: '',
    tests: sent,
  },
  {
    file: 'src/controller/family.ts',
    find: 'found !== family && ',
    replace: '',
    tests: told,
  },
  {
    file: 'src/controller/applied.ts',
    find: 'const known = last && !isOtherMachine(machineIn(last), machine) ? last : undefined;',
    replace: 'const known = last;',
    tests: told,
  },
  {
    file: 'src/controller/applied.ts',
    find: '  if (!last?.foundFamily || isOtherMachine(machineIn(last), machine)) return [];',
    replace: '  if (!last?.foundFamily) return [];',
    tests: told,
  },
  {
    file: 'src/controller/applied.ts',
    find: 'known?.foundFamily ?? known?.family',
    replace: 'known?.foundFamily',
    tests: told,
  },
  {
    file: 'src/controller/applied.ts',
    find: '[...triedFamilies, ...(sent ? [sent] : [])]',
    replace: '[...(sent ? [sent] : [])]',
    tests: told,
  },
  {
    file: 'src/controller/schedule.ts',
    find: '  return isNews(found, applied);\n',
    replace: '  return false && isNews(found, applied);\n',
    tests: sent,
  },
  {
    file: 'src/controller/schedule.ts',
    find: 'seen ? otherFamilyIn(seen.verdict, applied.family) : applied.foundFamily',
    replace: 'applied.foundFamily',
    tests: ['unit', 'src/controller/schedule.test.ts'],
  },
  {
    file: 'src/controller/schedule.ts',
    find: "  if (seen) return { kind: 'pause', forMs: pause, seen };\n",
    replace: '',
    tests: sent,
  },
  {
    file: 'src/controller/next-run.ts',
    find: '    if (!record || !isNews(record.foundFamily, record)) {\n',
    replace: '    if (record || !isNews(undefined, {})) {\n',
    tests: sent,
  },
  {
    file: 'src/controller/next-run.ts',
    find: 'return { protocol: newest, triedFamilies };',
    replace: 'return { protocol: newest };',
    tests: ['unit', 'src/controller/other-family.test.ts'],
  },
  {
    file: 'src/controller/job.ts',
    find: "sent === 'keyfile' && guessFamily(machine) === 'keyfile'",
    replace: "sent === 'keyfile'",
    tests: sent,
  },
  {
    file: 'src/controller/job.ts',
    find: '    [annotations.family]: family.catch(',
    replace: "    [annotations.family]: family.transform((): Family => 'netplan').catch(",
    tests: ['unit', 'src/controller/job.test.ts'],
  },
  {
    file: 'src/controller/request.ts',
    find: '    family: order.family,\n',
    replace: '',
    tests: sent,
  },
];
