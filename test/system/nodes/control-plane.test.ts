import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { type Node, type NodeOptions, startNode } from '../../../rig/control-plane/node.ts';
import { scaled } from '../../speed.ts';
import { leftoversOf } from './leftovers.ts';
import type { PackedImage } from './packed-image.ts';
import { mac, nic, packRenameProgram, runRenameJob } from './rename-job.ts';

const generous = { timeout: scaled(60_000), interval: 500 };

/** Waits for all starts, also after a failure: the stack disposes of started nodes. */
async function together<T extends readonly AsyncDisposable[]>(
  stack: AsyncDisposableStack,
  ...starting: { readonly [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  for (const outcome of await Promise.allSettled(starting)) {
    if (outcome.status === 'fulfilled') stack.use(outcome.value);
  }
  return Promise.all(starting);
}

describe('two control planes at once', () => {
  let management: ControlPlane;
  let business: ControlPlane;
  const stack = new AsyncDisposableStack();

  beforeAll(async () => {
    [management, business] = await together(
      stack,
      startControlPlane('itmgmt'),
      startControlPlane('itbiz'),
    );
  });

  afterAll(async () => stack.disposeAsync());

  test('two control planes keep their objects apart', async () => {
    await management.kubectl(['create', 'configmap', 'ours']);
    expect(await management.kubectl(['get', 'configmaps', '-o', 'name'])).toContain('/ours');
    expect(await business.kubectl(['get', 'configmaps', '-o', 'name'])).not.toContain('/ours');
  });

  test('the audit log records each creator', async () => {
    await business.kubectl(['create', 'configmap', 'counted']);
    const created = (await business.auditLog()).filter(
      ({ verb, name, code }) => verb === 'create' && name === 'counted' && code === 201,
    );
    expect(created).toEqual([
      expect.objectContaining({ user: 'admin', resource: 'configmaps', namespace: 'default' }),
    ]);
  });

  test('a new identity has only the rights bound to the identity', async () => {
    const mine = ['--kubeconfig', await business.userKubeconfig('multinic-viola', ['parts'])];
    const who = await business.kubectl([...mine, 'auth', 'whoami', '-o', 'json']);
    expect(JSON.parse(who)).toMatchObject({
      status: {
        userInfo: { username: 'multinic-viola', groups: ['parts', 'system:authenticated'] },
      },
    });
    await expect(business.kubectl([...mine, 'get', 'nodes'])).rejects.toThrow(/Forbidden/);
  });

  test('a control plane loses no object when the API server is killed', async () => {
    await business.kubectl(['create', 'configmap', 'kept']);
    await business.kill('kube-apiserver');
    await expect(business.kubectl(['get', 'configmap', 'kept'])).rejects.toThrow(/refused/);
    await business.start();
    expect(await business.kubectl(['get', 'configmap', 'kept', '-o', 'name'])).toContain('kept');
  });

  test('two control planes leave no processes and files behind', async () => {
    const names = [management.name, business.name];
    expect(names.map(leftoversOf)).not.toContainEqual([]);
    await Promise.all([management.down(), business.down()]);
    expect(names.flatMap(leftoversOf)).toEqual([]);
    await business.down();
  });
});

describe('nodes', () => {
  const tunables = ['vm/overcommit_memory', 'kernel/panic', 'kernel/panic_on_oops'];
  const machine = () => tunables.map((name) => readFileSync(`/proc/sys/${name}`, 'utf8'));
  const before = machine();
  const uuids = {
    namespace: '0a0a0a0a-0000-4000-8000-000000000001',
    box: '0a0a0a0a-0000-4000-8000-000000000002',
  };
  const stack = new AsyncDisposableStack();
  let plane: ControlPlane;
  let image: PackedImage;
  let nodes: Record<NodeOptions['kind'], Node>;

  beforeAll(async () => {
    image = stack.use(await packRenameProgram());
    plane = stack.use(await startControlPlane('itnodes'));
    const [namespace, box] = await together(
      stack,
      startNode(plane, 'namespace', { kind: 'namespace', systemUUID: uuids.namespace }),
      startNode(plane, 'box', { kind: 'box', systemUUID: uuids.box }),
    );
    nodes = { namespace, box };
  });

  afterAll(async () => stack.disposeAsync());

  const infoOf = async (kind: string, field: string) =>
    plane.kubectl(['get', 'node', kind, '-o', `jsonpath={.status.nodeInfo.${field}}`]);

  describe.each(['namespace', 'box'] as const)('nodes of kind %s', (kind) => {
    test('nodes are Ready under their systemUUID', async () => {
      const ready = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
      expect(await plane.kubectl(['get', 'node', kind, '-o', ready])).toBe('True');
      expect(await infoOf(kind, 'systemUUID')).toBe(uuids[kind]);
    });

    test('let a Job with NET_ADMIN alone rename a NIC that was plugged in', async () => {
      const node = nodes[kind];
      await node.importImage(image.archive);
      await node.plug(nic, mac);
      expect(await runRenameJob(plane, kind)).toEqual({
        capabilities: '0000000000001000',
        root: 'EROFS',
        args: ['agent', '--probe', 'yes'],
        imageID: image.imageID,
      });
      const link = await node.sh(['ip', '-o', 'link', 'show', 'multinic0']);
      expect(link).toContain(mac);
      expect(await node.sh(['ls', '/etc/netplan'])).toContain('90-multinic0.yaml');
    });

    test('nodes are Ready again after a kubelet restart', async () => {
      await nodes[kind].restartKubelet();
      expect(await nodes[kind].sh(['ip', '-o', 'link'])).toContain('multinic0');
    });
  });

  test('a box keeps persistent state over a reboot, with a new bootID', async () => {
    const boot = await infoOf('box', 'bootID');
    await nodes.box.reboot();
    await expectAnotherBoot(boot);
  });

  test('a box keeps persistent state over a power cut', async () => {
    const boot = await infoOf('box', 'bootID');
    await nodes.box.cut();
    await nodes.box.start();
    await expectAnotherBoot(boot);
  });

  test('an unplugged NIC disappears from a box', async () => {
    await nodes.box.unplug(nic);
    expect(await nodes.box.sh(['ip', '-o', 'link'])).not.toContain('multinic0');
  });

  test('a namespaced node cannot reboot', async () => {
    await expect(nodes.namespace.reboot()).rejects.toThrow(/--kind box/);
  });

  test('nodes leave the machine unchanged', async () => {
    expect(machine()).toEqual(before);
    await plane.down();
    expect(leftoversOf(plane.name)).toEqual([]);
    expect(machine()).toEqual(before);
  });

  async function expectAnotherBoot(boot: string): Promise<void> {
    await vi.waitFor(async () => expect(await infoOf('box', 'bootID')).not.toBe(boot), generous);
    await vi.waitFor(async () => {
      const address = await nodes.box.sh(['ip', '-o', 'addr', 'show', 'multinic0']);
      expect(address).toContain('10.20.0.10/24');
    }, generous);
  }
});
