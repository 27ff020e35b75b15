import type { Mutant } from '../mutant.ts';

const room = 'src/operator';

/** A mutant that tests of the operator's policy have to notice. */
function mutant(file: string, find: string, replace: string, ...tests: string[]): Mutant {
  const files = (tests.length > 0 ? tests : ['policy']).map((test) => `${room}/${test}.test.ts`);
  return { file: `${room}/${file}.ts`, find, replace, tests: ['unit', ...files] };
}

export const policyMutants: readonly Mutant[] = [
  mutant('credentials/verification', 'refuseAny(account, by, endpoints);', ''),
  mutant('credentials/verification', 'Nova: novaUrl }', 'Nova: undefined }'),
  mutant('credentials/verification', 'Neutron: neutronUrl, ', ''),
  mutant('credentials/verification', 'Keystone: keystoneUrl, ', ''),
  mutant('credentials/verification', 'verify.is || openstackInsecureTls', 'verify.is'),
  mutant('credentials/verification', '!verify.is : openstackInsecureTls', 'false : false'),
  mutant(
    'credentials/verification',
    '{ insecure, unverified: { by, endpoints } }',
    '{ insecure, unverified: undefined }',
  ),
  mutant(
    'credentials/verification',
    "unverifiedBy && url.startsWith('https:') ?",
    'unverifiedBy ?',
    'narrowed',
  ),
  mutant('credentials/identity', '...(unverified && { unverified }),', ''),
  mutant('credentials/account', '${urlInWords(url)}, which', '"${url}", which'),
  mutant('resolve/endpoints', '${urlInWords(given)} ', '"${given}" '),
  mutant('resolve/credentials', '${urlInWords(url)} ', '"${url}" '),
  mutant(
    'resolve/policy',
    "username !== '' || password !== ''",
    "username !== ''",
    'resolve/policy',
  ),
  mutant('resolve/policy', "protocol !== 'https:'", "protocol === 'https:'"),
  mutant(
    'resolve/policy',
    "pattern === '*' || matches(pattern, origin));\n  return isAllowed",
    'matches(pattern, origin));\n  return isAllowed',
  ),
  mutant(
    'resolve/policy',
    'settings[key] !== true || operator[switches[key]]',
    'settings[key] !== true',
  ),
  mutant(
    'resolve/policy',
    'if (denied !== undefined || unverified === undefined) return denied;',
    'return denied;',
  ),
  mutant(
    'resolve/policy',
    'const denied = deniedEndpoint(url, allowedEndpoints);',
    'const denied = undefined;',
  ),
  mutant('resolve/policy', 'allowedNamespaces.length === 0 || ', ''),
  mutant(
    'resolve/policy',
    'allowedNamespaces.includes(namespace)',
    'allowedNamespaces.some((one) => namespace.startsWith(one))',
  ),
  mutant(
    'resolve/policy',
    "['openstackProviderID', 'k8sProviderID'] as const",
    "['openstackProviderID'] as const",
  ),
  mutant(
    'resolve/policy',
    "['openstackProviderID', 'k8sProviderID'] as const",
    "['k8sProviderID'] as const",
  ),
  mutant(
    'resolve/policy',
    'allowedProviders.includes(id)',
    'allowedProviders.some((one) => one.startsWith(id))',
  ),
  mutant(
    'resolve/policy',
    "if (!pattern.includes('*')) return new URL(pattern).origin === origin;",
    '',
    'resolve/policy',
  ),
  mutant(
    'resolve/policy',
    " || (port === '' && meant.test(`${origin}:${usual}`))",
    '',
    'resolve/policy',
  ),
  mutant('resolve/policy', "protocol === 'https:' ? '443' : '80'", "'443'", 'resolve/policy'),
  mutant('resolve/resolve', 'refuseProviders(spec.credentials, operator, fields);', ''),
  mutant(
    'resolve/resolve',
    "refuseUnverified('openstackInsecureTLS', spec, placesIn(spec), operator, fields);",
    '',
    'resolve/resolve',
  ),
  mutant(
    'resolve/resolve',
    '    computeEndpoint,\n    openstackNeutron',
    '    openstackNeutron',
    'resolve/resolve',
  ),
  mutant(
    'resolve/credentials',
    "refuseUnverified('contrabassInsecureTLS', spec, [contrabass.url], operator, fields);",
    '',
  ),
  mutant(
    'start',
    'createClouds({ clock, random, log, ...told, ...rules })',
    'createClouds({ clock, random, log, ...told })',
    'start',
  ),
  mutant('status/conditions', 'if (whose.length === 0) return [];', '', 'narrowed'),
  mutant('status/writer', "  { type: 'TLSVerified', reason: 'TLSNotVerified' },\n", '', 'narrowed'),
  mutant(
    'status/writer',
    'if (!now || saying(statusOf(object).conditions)) continue;',
    'if (!now) continue;',
    'narrowed',
  ),
];
