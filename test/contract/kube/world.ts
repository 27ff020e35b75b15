import type { ClusterAccess } from '../../../src/kube/access/access.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { crds, namespaces } from '../../../src/kube/core-resources.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { eventually } from './eventually.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import { type Widget, widgetCrd, widgets } from './widget.ts';

/** Fixture for all tests of the suite. */
export interface KubeFixture {
  readonly server: ServerUnderTest;
  /** Client with all rights and counted calls. */
  readonly client: KubeClient;
  /** Calls so far, by method name. */
  readonly calls: ReadonlyMap<string, number>;
  /** Method names of a client. */
  readonly methods: readonly string[];
  /** A separate client with counted calls; the caller disposes of the client. */
  readonly connect: (access?: ClusterAccess) => KubeClient;
  /** A new empty namespace. */
  readonly namespace: () => Promise<string>;
  /** A unique name. */
  readonly name: (stem: string) => string;
  readonly close: () => Promise<void>;
}

/** Prepares a server: installs the suite's CRD and waits until the CRD is served. */
export async function createWorld(server: ServerUnderTest): Promise<KubeFixture> {
  const calls = new Map<string, number>();
  const open: KubeClient[] = [];
  let serial = 0;

  function connect(access: ClusterAccess = server.access): KubeClient {
    const client = createKubeClient(access, { clock: systemClock, random: () => Math.random() });
    open.push(client);
    return counted(client, calls);
  }

  const client = connect();
  await installWidgets(client);
  return {
    server,
    client,
    calls,
    methods: Reflect.ownKeys(client).map(String),
    connect,
    name: (stem) => `${stem}-${++serial}`,
    async namespace() {
      const created = await client.create(namespaces, {
        metadata: { name: `contract-${++serial}` },
      });
      return created.metadata.name;
    },
    async close() {
      for (const each of open) await each[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A Widget in this namespace, the way tests need it. */
export function widget(namespace: string, name: string, spec: Partial<Widget['spec']> = {}) {
  return { metadata: { namespace, name }, spec: { color: 'red', ...spec } };
}

async function installWidgets(client: KubeClient): Promise<void> {
  await client.create(crds, widgetCrd);
  await eventually('the CRD to be established', async () => {
    const { status } = await client.get(crds, widgetCrd.metadata);
    return status?.conditions?.some(
      ({ type, status: is }) => type === 'Established' && is === 'True',
    );
  });
  // Established is written before every handler knows the kind.
  await eventually('widgets to be served', async () => {
    try {
      return await client.list(widgets);
    } catch {
      return undefined;
    }
  });
}

function counted(client: KubeClient, calls: Map<string, number>): KubeClient {
  return new Proxy(client, {
    get(target, property, receiver) {
      const value: unknown = Reflect.get(target, property, receiver);
      const name = String(property);
      if (typeof value === 'function') calls.set(name, (calls.get(name) ?? 0) + 1);
      return value;
    },
  });
}
