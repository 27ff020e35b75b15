import { beforeAll, describe, expect, it } from 'vitest';
import type { ScriptsSite } from './scripts-site.ts';

const product = {
  'app.kubernetes.io/name': 'multinic-agent',
  'app.kubernetes.io/managed-by': 'multinic',
};
const agent = { ...product, 'app.kubernetes.io/component': 'agent' };

interface RunningPod {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Foreign Pods with some of our labels. */
const others: readonly RunningPod[] = [
  {
    name: 'telemetry',
    namespace: 'nic-agents',
    labels: { 'app.kubernetes.io/name': 'telemetry', 'app.kubernetes.io/component': 'agent' },
  },
  { name: 'namesake', namespace: 'default', labels: agent },
  {
    name: 'other-controller',
    namespace: 'multinic-system',
    labels: { 'app.kubernetes.io/name': 'x', 'app.kubernetes.io/component': 'controller' },
  },
];

async function run({ cluster }: ScriptsSite, { name, namespace, labels }: RunningPod) {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const spec = {
    containers: [{ name: 'main', image: 'registry.example.com/none:1', securityContext }],
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    automountServiceAccountToken: false,
  };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels }, spec };
  await cluster.kubectl(['create', '-f', '-'], JSON.stringify(pod));
  const patch = ['patch', 'pod', name, '-n', namespace, '--subresource=status', '--type=merge'];
  await cluster.kubectl([...patch, '-p', '{"status":{"phase":"Running"}}']);
}

/** cleanup-agent.sh beside foreign Pods. */
export function cleanupAgentTests(given: () => ScriptsSite): void {
  describe('scripts/cleanup-agent.sh', () => {
    beforeAll(async () => {
      const values = ['controller.replicas=0', 'agent.namespace=nic-agents'];
      const set = values.flatMap((value) => ['--set', value]);
      const args = ['--type', 'dev', '--skip-build', '--', '--timeout=60s', ...set];
      const { code, output } = await given().run('scripts/build-and-deploy.sh', args);
      expect(code, output).toBe(0);
      for (const pod of others) await run(given(), pod);
    });

    it("[C7] cleanup-agent.sh waits for a MultiNIC agent in the controller's agent namespace", async () => {
      const site = given();
      await run(site, { name: 'ours', namespace: 'nic-agents', labels: agent });
      const { code, output } = await site.run('scripts/cleanup-agent.sh', [
        '--yes',
        '--timeout',
        '2',
      ]);
      expect(output).toContain('agents are still running');
      expect(output).toContain('kubectl -n nic-agents get pods');
      expect(code).toBe(1);
      await site.cluster.kubectl(['-n', 'nic-agents', 'delete', 'pod', 'ours', '--force']);
    });

    it('[C7] cleanup-agent.sh ends beside running foreign Pods with some of our labels', async () => {
      const args = ['--yes', '--timeout', '5'];
      const { code, output } = await given().run('scripts/cleanup-agent.sh', args);
      expect(code, output).toBe(0);
      expect(output).toContain('Left: namespaces multinic-system and nic-agents');
      for (const { name, namespace } of others) {
        expect(await given().value('{.status.phase}', 'pod', name, '-n', namespace)).toBe(
          'Running',
        );
      }
    });
  });
}
