import { dirname, join } from 'node:path';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { type Node, startNode } from '../../../rig/control-plane/node.ts';
import { mariadbImage } from '../../../rig/mariadb-image/mariadb-image.ts';
import { type Ground, namespace, openGround, provider } from '../../fixtures/e2e/ground.ts';
import {
  helmInstall,
  namespaces,
  registerCluster,
  runProjectScript,
} from '../../fixtures/e2e/installation.ts';
import { reachable } from '../../fixtures/e2e/reachable.ts';
import { shippedImages } from '../../fixtures/e2e/shipped-images.ts';
import type { Shell } from '../e2e/guide/shell.ts';

const root = join(import.meta.dirname, '../../..');

/** A cloud, a business cluster with the controller, and a management cluster that has lifecycle alone. */
export interface LifecycleClusters extends Ground, AsyncDisposable {
  /** The management cluster's node. */
  readonly manager: Node;
  /** A person's shell at the management cluster. */
  readonly shell: Shell;
  /** OpenStack endpoints for Pods in the management cluster. */
  readonly endpoints: Readonly<Record<'identity' | 'network' | 'compute', string>>;
}

/** Volumes for all claims: MariaDB, backups, the SQLite inventory, and MariaDB again. */
const volumes = ['one', 'two', 'three', 'four'];

export async function openWorld(say: (line: string) => void): Promise<LifecycleClusters> {
  await using stack = new AsyncDisposableStack();
  const images = await shippedImages();
  const mariadb = await mariadbImage('10.11');
  const ground = await openGround(stack, {
    say,
    images: [images.controllers.file, images.agent.file],
    pods: true,
    keystoneFor: async (management, url) => stack.use(await reachable(management, url)).url,
  });
  const { management, business, directory, tenant, cloud } = ground;
  const relayed = async (url: string) => stack.use(await reachable(management, url)).url;
  const manager = stack.use(await startNode(management, 'manager-1', { kind: 'namespace' }));
  await manager.importImage(images.controllers.file);
  await manager.importImage(mariadb);
  await tag(manager, images.controllers.name, 'docker.io/library/multinic:v1alpha1');
  for (const volume of volumes) await manager.makeVolume(volume);
  await management.link(business);
  say('nodes have the images');
  await helmInstall(directory, {
    cluster: business,
    chart: 'multinic-agent',
    namespace: namespaces.business,
    files: [join(root, 'charts/multinic-agent/values-dev.yaml')],
    values: [
      {
        controller: {
          replicas: 1,
          settings: { logLevel: 'debug', leaseDuration: '5s', agentImagePullPolicy: 'Never' },
        },
      },
    ],
  });
  say(
    await runProjectScript(management, 'deploy-operator.sh', [
      '--lifecycle',
      '--image',
      images.controllers.name,
      '--',
      ...often,
    ]),
  );
  say(await registerCluster(ground, provider));
  const endpoints = {
    identity: await relayed(cloud.keystoneUrl),
    network: await relayed(tenant.user.url('network')),
    compute: await relayed(tenant.user.url('compute')),
  };
  const tools = [dirname(await toolPath('helm')), dirname(await toolPath('kubectl'))];
  const path = [...tools, process.env['PATH']].join(':');
  const kept = stack.move();
  return {
    ...ground,
    manager,
    endpoints,
    shell: {
      cwd: root,
      env: { ...environment(), KUBECONFIG: management.kubeconfig, PATH: path },
      netns: `cp-${management.name}`,
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The same poll intervals as in the tests' remaining installations. */
const often = [
  ...['pollFastInterval', 'pollSlowInterval', 'pollErrorInterval'].flatMap((name) => [
    '--set',
    `operator.settings.${name}=2s`,
  ]),
  ...['lifecycle', 'operator'].flatMap((part) => ['--set', `${part}.settings.leaseDuration=5s`]),
  '--set',
  'operator.settings.deletionDelay=2s',
  '--set',
  'operator.settings.logLevel=debug',
  '--set',
  'lifecycle.settings.logLevel=debug',
  '--set',
  'viola.replicas=1',
];

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

async function tag(node: Node, from: string, to: string): Promise<void> {
  const ctr = ['/var/lib/node-parts/bin/ctr', '-n', 'k8s.io', 'images', 'tag', '--force'];
  await node.sh([...ctr, from, to]);
}

/** An OpenstackConfig with direct credentials and without endpoints: the endpoints in the MultiNicOperator apply. */
export async function applyDirectConfig({
  management,
  tenant,
  account,
  data,
  server,
}: LifecycleClusters): Promise<void> {
  const object = {
    apiVersion: 'multinic.example.com/v1alpha1',
    kind: 'OpenstackConfig',
    metadata: { name: 'e2e', namespace },
    spec: {
      subnetIDs: [data.subnetId],
      vmNames: [server.id],
      credentials: {
        k8sProviderID: provider,
        username: account.username,
        password: account.password,
        projectID: tenant.projectId,
        domainName: tenant.domainName,
      },
    },
  };
  await management.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(object));
}
