import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { loadKubeconfig } from '../../../src/kube/access/kubeconfig.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { configMaps } from '../../../src/kube/core-resources.ts';
import { systemClock, systemRandom } from '../../../src/time/clock.ts';
import { refusalOf } from '../../contract/kube/refusal.ts';
import { violaCa } from '../../fixtures/certificates.ts';
import { scaled } from '../../speed.ts';

/** Webhook for every ConfigMap with a timeout of 30 s; afterwards the API server ignores the failure. */
function webhookAt(url: string) {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'hangs' },
    webhooks: [
      {
        name: 'hangs.example.com',
        clientConfig: { url, caBundle: btoa(violaCa) },
        rules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] },
        ],
        timeoutSeconds: 30,
        failurePolicy: 'Ignore',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  };
}

const hangs = ['validatingwebhookconfiguration', 'hangs'];

/** Takes connections and never says a word. */
async function openSilence(address: string) {
  const open = new Set<Socket>();
  const server = createServer((socket) => void open.add(socket.on('error', () => undefined)));
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://${address}:${port}`,
    [Symbol.dispose]() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

/** Our address in the API server's network namespace. */
async function addressSeenBy(server: string): Promise<string> {
  const { hostname, port } = new URL(server);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const { localAddress = '' } = socket;
  socket.destroy();
  return localAddress;
}

/** How long an API server goes on with a write. */
export function writeTimeoutTests(plane: () => ControlPlane): void {
  test('a real API server carries out no write after the timeout in the request', async () => {
    const { kubeconfig, server } = plane();
    const kubectl = (args: readonly string[], stdin?: string) => plane().kubectl(args, stdin);
    const access = await loadKubeconfig(kubeconfig);
    await using client = createKubeClient(access, { clock: systemClock, random: systemRandom });
    using silence = await openSilence(await addressSeenBy(server));
    await kubectl(['apply', '-f', '-'], JSON.stringify(webhookAt(silence.url)));
    await using stack = new AsyncDisposableStack();
    stack.defer(async () => void (await kubectl(['delete', ...hangs, '--ignore-not-found'])));

    const ref = { namespace: 'default', name: 'late' };
    const apply = (dryRun: boolean) =>
      client.apply(
        configMaps,
        { metadata: ref },
        { fieldManager: 'me', timeoutSeconds: 1, dryRun },
      );
    // The API server discovers a new webhook after a moment.
    await vi.waitFor(async () => refusalOf(apply(true)), {
      timeout: scaled(60_000),
      interval: 200,
    });
    const refusal = await refusalOf(apply(false));
    // 504 or a closed connection, not the client's own timeout, which equals the webhook's timeout.
    expect([0, 504]).toContain(refusal.status);
    expect(refusal.message).not.toContain('30 s');
    await kubectl(['delete', ...hangs]);
    expect(await client.find(configMaps, ref)).toBeUndefined();
  });
}
