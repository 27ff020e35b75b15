import { describe, expect, it } from 'vitest';
import { type Installation, render } from './helm.ts';

interface Refused {
  readonly chart?: Installation['chart'];
  readonly values: object;
  readonly says: string;
}

/** What Helm itself says, from the schema: the key, and what it should be. */
const bySchema: readonly Refused[] = [
  {
    values: { operator: { replica: 2 } },
    says: "at '/operator': additional properties 'replica' not allowed",
  },
  {
    values: { operator: { settings: { pollFastIntervals: 2 } } },
    says: "at '/operator/settings': additional properties 'pollFastIntervals' not allowed",
  },
  {
    values: { operator: { settings: { downPortFastRetryMax: 'lots' } } },
    says: "at '/operator/settings/downPortFastRetryMax': got string, want null or integer",
  },
  {
    values: { operator: { settings: { downPortFastRetryMax: 1_001 } } },
    says: "at '/operator/settings/downPortFastRetryMax': maximum: got 1,001, want 1,000",
  },
  {
    values: { operator: { settings: { openstackInsecureTls: 'false' } } },
    says: "at '/operator/settings/openstackInsecureTls': got string, want null or boolean",
  },
  {
    values: { operator: { settings: { allowedEndpoints: 'https://a,https://b' } } },
    says: "at '/operator/settings/allowedEndpoints': got string, want null or array",
  },
  {
    values: { operator: { settings: { pollFastInterval: '20' } } },
    says: "at '/operator/settings/pollFastInterval': '20' does not match pattern",
  },
  {
    values: { operator: { settings: { logLevel: 'loud' } } },
    says: "at '/operator/settings/logLevel': value must be one of 'trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'",
  },
  {
    values: { operator: { settings: { dbPassword: 'secret' } } },
    says: "at '/operator/settings': additional properties 'dbPassword' not allowed",
  },
  {
    values: { operator: { secretSettings: { dbPassword: { name: 'db' } } } },
    says: "at '/operator/secretSettings/dbPassword': missing property 'key'",
  },
  {
    values: { operator: { replicas: null } },
    says: "at '/operator': missing property 'replicas'",
  },
  {
    values: { operator: { terminationGracePeriodSeconds: 10 } },
    says: "at '/operator/terminationGracePeriodSeconds': minimum: got 10, want 30",
  },
  {
    values: { operator: { image: { digest: 'sha256:abc' } } },
    says: "at '/operator/image/digest': 'sha256:abc' does not match pattern",
  },
  {
    values: { operator: { resources: { limits: { memory: '1 GB' } } } },
    says: "at '/operator/resources/limits/memory': 'anyOf' failed\n  - at '/operator/resources/limits/memory': '1 GB' does not match pattern",
  },
  {
    values: { operator: { priorityClassName: 'high!' } },
    says: "at '/operator/priorityClassName': 'high!' does not match pattern",
  },
  {
    values: { operator: { image: { repository: '' } } },
    says: "at '/operator/image/repository': '' does not match pattern",
  },
  {
    values: { operator: { settings: { noProxy: ['.one.example.com,.two.example.com'] } } },
    says: "at '/operator/settings/noProxy/0': '.one.example.com,.two.example.com' does not match pattern",
  },
  {
    values: { operator: { settings: { contrabassEndpoint: 'https:/contrabass' } } },
    says: "at '/operator/settings/contrabassEndpoint': 'https:/contrabass' does not match pattern",
  },
  {
    values: { viola: { settings: { listen: ':123456' } } },
    says: "at '/viola/settings/listen': ':123456' does not match pattern",
  },
  {
    values: { networkPolicy: { dns: { ports: [] } } },
    says: "at '/networkPolicy/dns/ports': minItems: got 0, want 1",
  },
  {
    chart: 'multinic-agent',
    values: { controller: { image: { tags: 'v1' } } },
    says: "at '/controller/image': additional properties 'tags' not allowed",
  },
  {
    chart: 'multinic-agent',
    values: { controller: { settings: { jobTtlSeconds: 60 } } },
    says: "at '/controller/settings/jobTtlSeconds': minimum: got 60, want 360",
  },
  {
    chart: 'multinic-agent',
    values: { controller: { settings: { agentServiceAccount: ' ' } } },
    says: "at '/controller/settings/agentServiceAccount': ' ' does not match pattern",
  },
  {
    chart: 'multinic-agent',
    values: { agent: { image: { tag: 'v 1' } } },
    says: "at '/agent/image/tag': 'v 1' does not match pattern",
  },
  {
    chart: 'multinic-agent',
    values: { agent: { image: { digest: 'zz' } } },
    says: "at '/agent/image/digest': 'zz' does not match pattern '^sha256:[0-9a-f]{64}$'",
  },
  {
    values: { viola: { image: { repository: 'Multinic' } } },
    says: "at '/viola/image/repository': 'Multinic' does not match pattern",
  },
  {
    chart: 'multinic-agent',
    values: { agent: { resources: { requests: { cpu: 'ten' } } } },
    says: "at '/agent/resources/requests/cpu': 'anyOf' failed",
  },
];

/** The value of a setting, or of an image, by its path. */
function at(path: string, value: unknown): object {
  const keys = path.split('.');
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;
}

/** Durations that the part itself refuses. */
const durations: readonly (readonly [path: string, value: string, advice: string])[] = [
  ['controller.settings.startDeadline', '29s999ms', 'set at least 30s'],
  ['controller.settings.checkInterval', '4m59.9s', 'set at least 5m'],
  ['controller.settings.leaseDuration', '0', 'set at least 1s'],
  ['operator.settings.openstackTimeout', '0s', 'set at least 1ms'],
  ['operator.settings.pollFastWindow', '597h', 'set at most 596h'],
  ['viola.settings.clusterTimeout', '999999h', 'set at most 596h'],
];

/** References that no container runtime takes. */
const images: readonly (readonly [path: string, value: string, advice: string])[] = [
  [
    'agent.image.tag',
    'v1@sha256:zz',
    'set agent.image.tag to the tag alone, and agent.image.digest to what follows the @',
  ],
  [
    'operator.image.tag',
    'v1@sha256:zz',
    'set operator.image.tag to the tag alone, and operator.image.digest to what follows the @',
  ],
  [
    'global.imageRegistry',
    'https://registry.example.com',
    'leave https:// out, such as registry.example.com',
  ],
  [
    'viola.image.registry',
    'http://registry.example.com:5000/multinic',
    'leave http:// out, such as registry.example.com:5000/multinic',
  ],
  [
    'controller.image.registry',
    'oci://registry.example.com',
    'leave oci:// out, such as registry.example.com',
  ],
];

/** Where other Secrets are than registrations, by the namespace that is given to them. */
const sharedWithSecrets: readonly (readonly [namespace: string, values: object])[] = [
  ['multinic-operator-system', { namespaces: { clusters: 'multinic-operator-system' } }],
  ['multinic-clusters', { namespaces: { system: 'multinic-clusters' } }],
  ['multinic-clusters', { operator: { settings: { watchNamespace: 'multinic-clusters' } } }],
  [
    'keys',
    { operator: { settings: { secretNamespaces: ['keys'] } }, namespaces: { clusters: 'keys' } },
  ],
  ['multinic-system', { viola: { settings: { registrationsNamespace: 'multinic-system' } } }],
];

/** What a schema cannot say: the value, why it cannot be, and what to do. */
const byChart: readonly Refused[] = [
  {
    values: { operator: { replicas: 2 } },
    says: 'operator.replicas is 2, and the inventory is a file of one Pod: set operator.settings.dbHost (MariaDB), or operator.replicas=1',
  },
  ...[...durations, ...images].map(
    ([path, value, advice]): Refused => ({
      chart: /^(controller|agent)/.test(path) ? 'multinic-agent' : 'multinic-operator',
      values: at(path, value),
      says: `${path} is ${value}: ${advice}`,
    }),
  ),
  {
    chart: 'multinic-agent',
    values: at('agent.resources.limits.memory', '64Mi'),
    says: 'agent.resources.limits.memory is 64Mi, and a heap of 104 MB needs 200Mi: raise it',
  },
  {
    values: at('operator.settings.dbHost', 'mariadb.example.com'),
    says: 'operator.settings.dbHost is mariadb.example.com, and nothing says the password: set operator.secretSettings.dbPassword to {name: SECRET, key: KEY}',
  },
  {
    values: {
      operator: { trigger: { mode: 'webhook', endpoint: { tokensSecret: 'trigger-callers' } } },
    },
    says: 'operator.trigger.mode is webhook and no NetworkPolicy lets a caller in: set networkPolicy.trigger.from to the callers, such as [{ipBlock: {cidr: 10.0.0.0/24}}]',
  },
  {
    values: { operator: { caBundle: { configMap: 'a', secret: 'b' } } },
    says: 'operator.caBundle has both configMap and secret: keep one',
  },
  {
    values: { operator: { trigger: { immediateOnCRChange: false } } },
    says: 'operator.trigger.immediateOnCRChange is set and operator.trigger.mode is not: say a mode',
  },
  {
    values: { operator: { trigger: { mode: 'webhook' } } },
    says: 'operator.trigger.mode is webhook and nobody may call: set operator.trigger.endpoint.tokensSecret or operator.trigger.endpoint.keysSecret',
  },
  {
    values: {
      operator: { trigger: { mode: 'scheduled', interval: '15m', schedule: '0 3 * * *' } },
    },
    says: 'operator.trigger has both interval and schedule: keep one',
  },
  {
    values: { viola: { tls: { ca: { configMap: 'a', secret: 'b' } } } },
    says: 'viola.tls.ca has both configMap and secret: keep one',
  },
  {
    values: { viola: { tls: { mode: 'secret' } } },
    says: 'viola.tls.mode is secret: set viola.tls.secretName to a Secret of type kubernetes.io/tls',
  },
  {
    values: { viola: { tls: { mode: 'certManager' } } },
    says: 'viola.tls.mode is certManager: set viola.tls.certManager.issuerRef.name to an issuer of cert-manager',
  },
  {
    values: { viola: { tokens: { mode: 'secret' } } },
    says: "viola.tokens.mode is secret: set viola.tokens.secretName to a Secret with lists of who may call (docs/guides/access.md)\nviola.tokens.mode is secret: set viola.tokens.operatorToken.secretName to a Secret with the operator's token",
  },
  {
    values: { viola: { settings: { legacyListener: ':8081' } } },
    says: 'viola.settings.legacyListener asks for no token: set viola.settings.legacyAllowFrom to the addresses of its callers, such as 10.0.0.0/24',
  },
  {
    values: { viola: { settings: { legacyListener: ':8080', legacyAllowFrom: ['10.0.0.0/24'] } } },
    says: 'viola.settings.legacyListener is :8080, the port of viola.settings.listen: say another one, such as :8081',
  },
  {
    values: { operator: { settings: { listen: '127.0.0.1:8082' } } },
    says: 'operator.settings.listen is 127.0.0.1:8082, where no probe of the kubelet arrives: say :8082',
  },
  {
    values: { viola: { settings: { listen: '[::1]:8080' } } },
    says: 'viola.settings.listen is [::1]:8080, where no probe of the kubelet arrives: say :8080',
  },
  {
    values: { operator: { heap: { old: 512 } } },
    says: 'operator.resources.limits.memory is 448Mi, and a heap of 512 MB needs 716Mi: raise it, or lower operator.heap.old',
  },
  {
    values: { operator: { resources: { limits: { memory: '100M' } } } },
    says: 'operator.resources.limits.memory is 100M, and a heap of 288 MB needs 436Mi: raise it, or lower operator.heap.old',
  },
  {
    values: { operator: { heap: { old: 720 }, resources: { limits: { memory: '1G' } } } },
    says: 'operator.resources.limits.memory is 1G, and a heap of 720 MB needs 976Mi: raise it, or lower operator.heap.old',
  },
  {
    values: { operator: { heap: { old: 675 }, resources: { limits: { memory: '950000k' } } } },
    says: 'operator.resources.limits.memory is 950000k, and a heap of 675 MB needs 919Mi: raise it, or lower operator.heap.old',
  },
  {
    values: { operator: { heap: { young: 64 } } },
    says: 'operator.resources.limits.memory is 448Mi, and a heap of 288 MB needs 616Mi: raise it, or lower operator.heap.old',
  },
  {
    values: { viola: { settings: { listen: ':99999' } } },
    says: 'viola.settings.listen is :99999: say a port from 1 to 65535',
  },
  {
    values: { operator: { settings: { listen: ':18081' } } },
    says: 'operator.settings.inventoryListen is 127.0.0.1:18081, the port of operator.settings.listen: say another one, such as 127.0.0.1:18081',
  },
  {
    values: { operator: { settings: { inventoryDbPath: '/inventory.db' } } },
    says: 'operator.settings.inventoryDbPath is /inventory.db, and its volume would take the place of /: say a file in a folder of its own, such as /var/lib/multinic-operator/inventory.db',
  },
  {
    values: { operator: { settings: { inventoryDbPath: 'inventory.db' } } },
    says: 'operator.settings.inventoryDbPath is inventory.db, and its volume would take the place of .: say a file in a folder of its own, such as /var/lib/multinic-operator/inventory.db',
  },
  {
    values: { operator: { settings: { secretNamespaces: [] } } },
    says: 'operator.settings.secretNamespaces is empty: name the namespaces whose Secrets OpenstackConfigs may refer to, or leave it out',
  },
  ...sharedWithSecrets.map(([namespace, values]) => ({
    values,
    says: `namespaces.clusters is ${namespace}, where other Secrets are, and Viola would read them, too: say a namespace for nothing but registrations`,
  })),
  {
    chart: 'multinic-agent',
    values: { controller: { podLabels: { 'app.kubernetes.io/name': 'x' } } },
    says: 'controller.podLabels has app.kubernetes.io/name, which the chart sets: take another label',
  },
  {
    values: { viola: { podLabels: { 'helm.sh/chart': 'x', team: 'network' } } },
    says: 'viola.podLabels has helm.sh/chart, which the chart sets: take another label',
  },
  {
    values: { alerts: { enabled: true } },
    says: 'alerts.enabled is true, and every alert names its runbook: set alerts.runbookBaseUrl to where docs/runbooks of this version can be read',
  },
  {
    chart: 'multinic-agent',
    values: { agent: { namespace: 'multinic-system' } },
    says: 'agent.namespace is multinic-system, the namespace of the release, whose Pods are to be restricted and those of agents are not: say another one, such as multinic-agents',
  },
  {
    chart: 'multinic-agent',
    values: { controller: { heap: { old: 1000 }, resources: { limits: { memory: '1Gi' } } } },
    says: 'controller.resources.limits.memory is 1Gi, and a heap of 1000 MB needs 1326Mi: raise it, or lower controller.heap.old',
  },
];

describe('values that cannot be used', () => {
  it.each(bySchema)('are told with their key: $says', async ({ chart, values, says }) => {
    const refused = render({ chart: chart ?? 'multinic-operator', values });
    await expect(refused).rejects.toThrow(`${chart ?? 'multinic-operator'}:\n- ${says}`);
  });

  it.each(byChart)('are told with what to do: $says', async ({ chart, values, says }) => {
    const refused = render({ chart: chart ?? 'multinic-operator', values });
    await expect(refused).rejects.toThrow(`these values cannot be used:\n${says}\n`);
  });

  it('are told all at once', async () => {
    const values = { operator: { replicas: 2 }, viola: { tls: { mode: 'secret' } } };
    const refused = render({ chart: 'multinic-operator', values });
    await expect(refused).rejects.toThrow(/operator\.replicas is 2.*\nviola\.tls\.mode is secret/);
  });

  it.each<[chart: Installation['chart'], values: object]>([
    ['multinic-agent', at('controller.settings.startDeadline', '30000ms')],
    ['multinic-agent', at('controller.settings.checkInterval', '0.25h')],
    ['multinic-operator', at('operator.settings.pollFastWindow', '0')],
    ['multinic-operator', at('viola.settings.clusterTimeout', '1000000us')],
    ['multinic-agent', at('global.imageRegistry', 'registry.example.com:5000/multinic/')],
    ['multinic-agent', at('agent.image', { repository: 'team/a.b_c--d', tag: 'v1.0.0_x-y' })],
    ['multinic-agent', at('agent.resources', { limits: { memory: null }, requests: null })],
    [
      'multinic-operator',
      {
        operator: { trigger: { mode: 'webhook', endpoint: { keysSecret: 'keys' } } },
        networkPolicy: { enabled: false },
      },
    ],
  ])('at their bounds are rendered by %s: %j', async (chart, values) => {
    expect(await render({ chart, values })).toContain('kind: Deployment');
  });

  it('are not those of people who know what they do', async () => {
    for (const memory of ['1Gi', '1Ti']) {
      const values = { operator: { heap: { old: 720 }, resources: { limits: { memory } } } };
      const made = await render({ chart: 'multinic-operator', values });
      expect(made).toContain('--max-old-space-size=720');
    }
  });
});
