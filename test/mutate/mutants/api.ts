import type { Mutant } from '../mutant.ts';

const api = (name: string) => ['unit', `src/api/${name}.test.ts`] as const;

export const apiMutants: readonly Mutant[] = [
  {
    file: 'src/api/accept-interface.ts',
    find: 'accepted: accepted.filter(({ position }) => !twice.has(position)),',
    replace: 'accepted,',
    tests: api('accept-interface'),
  },
  {
    file: 'src/api/accept-interface.ts',
    find: 'if (!contains(cidr, address)) {',
    replace: 'if (prefix > 32) {',
    tests: api('accept-interface'),
  },
  {
    file: 'src/api/accept-interface.ts',
    find: 'const index = name === undefined ? id : indexOfName(name);',
    replace: 'const index = name === undefined || id > 0 ? id : indexOfName(name);',
    tests: api('accept-interface'),
  },
  {
    file: 'src/api/accept-interface.ts',
    find: 'mac: macAddress.toLowerCase(),',
    replace: 'mac: macAddress,',
    tests: api('accept-interface'),
  },
  {
    file: 'src/api/accept-interface.ts',
    find: '...(mtu === undefined ? {} : { mtu }),',
    replace: 'mtu: mtu ?? 1500,',
    tests: api('accept-interface'),
  },
  {
    file: 'src/api/names.ts',
    find: '/^multinic([0-9]{1,9})$/',
    replace: '/multinic([0-9]{1,9})/',
    tests: api('accept-interface'),
  },
  {
    file: 'src/api/names.ts',
    find: 'export const maxIndex = 9;',
    replace: 'export const maxIndex = 10;',
    tests: api('accept-interface'),
  },
  {
    file: 'src/api/condition.ts',
    find: 'const kept = before?.status === update.status ? before.lastTransitionTime : undefined;',
    replace: 'const kept = before?.lastTransitionTime;',
    tests: api('condition'),
  },
  {
    file: 'src/api/condition.ts',
    find: 'observedGeneration: at.generation,',
    replace: '',
    tests: api('condition'),
  },
  {
    file: 'src/api/spec-hash.ts',
    find: 'canonicalJson({ nodeName, instanceId, interfaces })',
    replace: 'canonicalJson({ nodeName, interfaces })',
    tests: api('spec-hash'),
  },
  {
    file: 'src/api/spec-hash.ts',
    find: 'Object.keys(fields).toSorted()',
    replace: 'Object.keys(fields)',
    tests: api('spec-hash'),
  },
  {
    file: 'src/api/same-json.ts',
    find: ' && Object.keys(b).every(isSame)',
    replace: '',
    tests: api('same-json'),
  },
  {
    file: 'src/api/same-json.ts',
    find: 'a.length === b.length && ',
    replace: '',
    tests: api('same-json'),
  },
  {
    file: 'src/api/same-json.ts',
    find: 'Object.hasOwn(fields, key) ? fields[key] : undefined',
    replace: 'fields[key]',
    tests: api('same-json'),
  },
  {
    file: 'src/api/label-value.ts',
    find: '.slice(0, maxLength)',
    replace: '',
    tests: api('label-value'),
  },
  {
    file: 'src/api/condition.ts',
    find: '.toWellFormed()',
    replace: '',
    tests: api('condition'),
  },
];
