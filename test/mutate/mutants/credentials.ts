import type { Mutant } from '../mutant.ts';

const room = 'src/operator';

/** A mutant that tests of the credentials have to notice. */
function mutant(file: string, find: string, replace: string, ...tests: string[]): Mutant {
  const files = tests.map((test) => `${room}/${test}.test.ts`);
  return { file: `${room}/${file}.ts`, find, replace, tests: ['unit', ...files] };
}

const gate = 'src/openstack/credential-gate.ts';
const gateTests = ['unit', 'src/openstack/credential-gate.test.ts'] as const;

export const credentialsMutants: readonly Mutant[] = [
  mutant(
    'credentials/clouds-yaml',
    'yaml.length > longestText',
    'false',
    'credentials/clouds-yaml',
  ),
  mutant('credentials/clouds-yaml', 'auth_url: url,', 'auth_url: text,', 'credentials/clouds-yaml'),
  mutant(
    'credentials/identity',
    'account.ca ?? (await authorities.openstack())',
    '(await authorities.openstack()) ?? account.ca',
    'credentials/authorities',
  ),
  { file: gate, find: 'if (now < this.#answeredUntil) return;', replace: '', tests: gateTests },
  {
    file: 'src/openstack/keystone.ts',
    find: 'gate.served();',
    replace: '',
    tests: ['unit', 'src/openstack/keystone.test.ts'],
  },
  { file: gate, find: '2 * this.#answeredMs', replace: 'this.#answeredMs', tests: gateTests },
  { file: gate, find: '- this.#acceptedAt < believedMs', replace: '>= 0', tests: gateTests },
  { file: gate, find: '> mostAsked', replace: '> 2 * mostAsked', tests: gateTests },
  { file: gate, find: 'if (!this.#isAskedFor) return;', replace: '', tests: gateTests },
  {
    file: gate,
    find: 'this.#isAskedFor = false;\n    this.#answeredMs = answeredMs;',
    replace: '',
    tests: gateTests,
  },
  {
    file: 'src/openstack/cloud-identity.ts',
    find: 'keystone: keystonePlace(keystoneUrl)',
    replace: 'keystone: keystoneUrl',
    tests: ['unit', 'src/openstack/clouds.test.ts'],
  },
  mutant(
    'credentials/provider',
    "refuseDenied('Contrabass names Nova', provider.novaUrl, allowed);",
    '',
    'credentials/provider',
  ),
  mutant(
    'credentials/verification',
    'given === undefined\n      ?',
    'given !== undefined\n      ?',
    'credentials/identity',
  ),
  mutant(
    'credentials/account',
    'endpoint.isGiven ? other : (ofAccount ?? other)',
    'ofAccount ?? other',
    'credentials/identity',
  ),
  mutant(
    'credentials/secret',
    'refuseDenied(`${where} names Keystone`, cloud.keystoneUrl, allowed);',
    '',
    'credentials/identity',
  ),
  mutant(
    'resolve/credentials',
    'for (const field of untrusted(neutron, nova)) {',
    'for (const field of untrusted()) {',
    'resolve/credentials',
  ),
  mutant(
    'credentials/provider',
    "isLimited ? allowedEndpoints : [...allowedEndpoints, '*']",
    '[]',
    'credentials/provider',
  ),
  mutant(
    'credentials/secret',
    'refuseDenied(`${where} names Neutron`, cloud.neutronUrl, allowed);',
    '',
    'credentials/identity',
  ),
  mutant(
    'credentials/secret',
    "if (own && 'id' in own && own.id.toLowerCase() === projectId.toLowerCase()) return cloud;",
    'if (own) return cloud;',
    'credentials/identity',
  ),
  mutant(
    'credentials/identity',
    'account.ca ?? (await authorities.openstack())',
    'await authorities.openstack()',
    'credentials/identity',
  ),
  mutant(
    'credentials/clouds-yaml',
    'if (others.length > 0) {',
    'if (false) {',
    'credentials/clouds-yaml',
  ),
  mutant('credentials/clouds-yaml', 'z.strictObject({', 'z.object({', 'credentials/clouds-yaml'),
  mutant(
    'credentials/clouds-yaml',
    'auth[`${whose}_domain_id`] ?? auth.domain_id',
    'auth.domain_id ?? auth[`${whose}_domain_id`]',
    'credentials/clouds-yaml',
  ),
  mutant(
    'resolve/credentials',
    'untrustedFields: untrusted(contrabass, neutron, nova),',
    'untrustedFields: untrusted(contrabass),',
    'resolve/resolve',
  ),
  mutant('resolve/credentials', 'if (form && other) {', 'if (false) {', 'resolve/credentials'),
  mutant(
    'resolve/credentials',
    'trimmed(k8sProviderID) ?? trimmed(openstackProviderID) ?? defaultK8sProviderId',
    'defaultK8sProviderId ?? trimmed(k8sProviderID) ?? trimmed(openstackProviderID)',
    'resolve/resolve',
    'resolve/credentials',
  ),
  mutant('credentials/clouds-yaml', "  schema: 'failsafe',\n", '', 'credentials/clouds-yaml'),
  mutant('credentials/clouds-yaml', '  merge: true,\n', '', 'credentials/clouds-yaml'),
  mutant('credentials/clouds-yaml', "  logLevel: 'error',\n", '', 'credentials/clouds-yaml'),
  mutant('credentials/clouds-yaml', 'inner !== null', 'true', 'credentials/clouds-yaml'),
  mutant('credentials/secrets', 'if (!isUtf8(bytes))', 'if (false)', 'credentials/identity'),
];
