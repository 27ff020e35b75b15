import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Node, startNode } from '../../../../rig/control-plane/node.ts';
import { attach } from '../../../fixtures/e2e/acts.ts';
import { encryptKey, type Ground, openGround } from '../../../fixtures/e2e/ground.ts';
import { reachable } from '../../../fixtures/e2e/reachable.ts';
import { relayedEndpoints } from '../../../fixtures/e2e/world.ts';
import { type Decisions, openReader, type Reader } from './reader.ts';
import type { Shells } from './seed-command.ts';
import { run } from './shell.ts';

/** Two clusters without MultiNIC, a cloud with a future port, and a reader for the guides. */
export interface Place extends Ground, AsyncDisposable {
  readonly manager: Node;
  readonly reader: Reader;
  readonly decisions: Readonly<Record<'readme' | 'install' | 'contrabass', Decisions>>;
  /** At each cluster, where its ports are free on loopback. */
  readonly shells: Shells;
}

export async function openPlace(say: (line: string) => void): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  let keystone = '';
  const ground = await openGround(stack, {
    say,
    images: [],
    pods: true,
    keystoneFor: async (management, url) => {
      keystone = stack.use(await reachable(management, url)).url;
      return keystone;
    },
  });
  const { management, business, directory } = ground;
  const manager = stack.use(await startNode(management, 'manager-1', { kind: 'namespace' }));
  await manager.makeVolume('inventory');
  await management.link(business);
  await attach(ground);
  const endpoints = await relayedEndpoints(ground, stack);
  const reader = await openReader(directory, ground);
  const kept = stack.move();
  return {
    ...ground,
    manager,
    reader,
    decisions: decisionsAt(ground, { ...endpoints, keystone }, reader.home),
    shells: shellsOf(ground, reader, endpoints.contrabassEndpoint),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The examples' names stay where possible; the registry is omitted, so nodes load images by hand. */
function decisionsAt(
  { account, contrabass, tenant, data, server }: Ground,
  {
    keystone,
    ...endpoints
  }: Awaited<ReturnType<typeof relayedEndpoints>> & { readonly keystone: string },
  home: string,
): Place['decisions'] {
  const settings = Object.entries(endpoints).map(([key, url]) => `${key}: "${url}"`);
  const overrides = [
    `network_endpoint_override: ${endpoints.openstackNeutronEndpoint}`,
    `compute_endpoint_override: ${endpoints.openstackNovaEndpoint}`,
  ];
  const readme = {
    MANAGEMENT_KUBECONFIG: join(home, '.kube/management.yaml'),
    BUSINESS_KUBECONFIG: join(home, '.kube/business.yaml'),
    CONTRABASS_ENDPOINT: endpoints.contrabassEndpoint,
    CONTRABASS_ENCRYPT_KEY: encryptKey,
  };
  return {
    readme: { environment: readme },
    install: {
      exported: { SUBNET: data.subnetId, SERVER: server.id },
      words: [
        ['global: {imageRegistry: registry.example.com/multinic}\n', ''],
        ['https://keystone.example.com:5000/v3', keystone],
        ['username: multinic', `username: ${account.username}`],
        ['user_domain_name: Default', `user_domain_name: ${tenant.domainName}`],
        ['5f1d2c0e4b7a4c6f9a3b8d7e6c5f4a3b', tenant.projectId],
        ['region_name: RegionOne', overrides.join('\n    ')],
      ],
      typed: account.password,
    },
    contrabass: {
      exported: {
        OPENSTACK_PROVIDER: contrabass.providerId,
        OPENSTACK_PROJECT: tenant.projectId,
      },
      words: [['contrabassEndpoint: https://contrabass.example.com', settings.join(', ')]],
      typed: encryptKey,
    },
  };
}

function shellsOf({ management, business }: Ground, reader: Reader, contrabass: string): Shells {
  const at = ({ name, kubeconfig }: Ground['management']) => ({
    ...reader.shell({
      KUBECONFIG: kubeconfig,
      CONTRABASS_ENDPOINT: contrabass,
      CONTRABASS_ENCRYPT_KEY: encryptKey,
    }),
    netns: `cp-${name}`,
  });
  return { management: at(management), business: at(business) };
}

/** Copies a release from `make release` to the reader's home. Resolves to the folder. */
export async function carryRelease({ reader }: Pick<Place, 'reader'>): Promise<string> {
  await run({ ...reader.shell({}), cwd: reader.checkout }, 'make setup release');
  const folder = join(reader.home, 'multinic-release');
  await cp(join(reader.checkout, 'dist/release'), folder, { recursive: true });
  reader.addPath(join(reader.home, `multinic-${await releasedVersion({ reader })}/bin`));
  return folder;
}

/** Returns the release's version in the reader's home. */
export async function releasedVersion({ reader }: Pick<Place, 'reader'>): Promise<string> {
  return (await readFile(join(reader.home, 'multinic-release/VERSION'), 'utf8')).trim();
}

/** Loads the images in a folder on the nodes. */
export async function loadNodes(place: Place, images: string): Promise<void> {
  const { manager, node } = place;
  const version = await releasedVersion(place);
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const archive = (name: string) => join(images, `${name}-${version}-linux-${architecture}.tar`);
  await manager.importImage(archive('multinic-controllers'));
  await node.importImage(archive('multinic-controllers'));
  await node.importImage(archive('multinic-agent'));
}

/** The management node has the operator's image as `make docker-build IMG=multinic:v1alpha1` names it, too. */
export async function loadAsDockerBuilds(place: Place): Promise<void> {
  const ctr = ['/var/lib/node-parts/bin/ctr', '-n', 'k8s.io', 'images', 'tag', '--force'];
  const names = [
    `localhost/multinic-controllers:${await releasedVersion(place)}`,
    'docker.io/library/multinic-controllers:v1alpha1',
  ];
  await place.manager.sh([...ctr, ...names]);
}
