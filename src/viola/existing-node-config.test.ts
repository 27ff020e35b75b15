import { describe, expect, it } from 'vitest';
import { postedNode } from '../../test/fixtures/viola.ts';
import { acceptInterfaces } from '../api/accept-interface.ts';
import { desiredNode } from '../api/desired-node.ts';
import { specHash } from '../api/spec-hash.ts';
import { toExistingNodeConfig } from './existing-node-config.ts';

const metadata = { name: 'n1', uid: 'u', generation: 2 };
const spec = { nodeName: 'N1', interfaces: [] };

/** As the API server may answer it, whatever its schema let in. */
function read(object: object) {
  return toExistingNodeConfig({ metadata, spec, ...object });
}

function marked(source: string) {
  return read({ metadata: { ...metadata, annotations: { 'multinic.io/source': source } } }).node;
}

describe('toHeldNode', () => {
  it('keeps the names in a status of which a part cannot be read', () => {
    const status = {
      state: 'Working',
      lastJobName: 'job',
      interfaceStatuses: [
        { name: 'multinic0', id: 0, mtu: 'large', status: 'Configured' },
        { id: 3, message: 7 },
      ],
    };
    expect(read({ status })).toMatchObject({
      kind: 'held',
      node: {
        status: {
          lastJobName: 'job',
          interfaceStatuses: [{ name: 'multinic0', id: 0, status: 'Configured' }, { id: 3 }],
        },
      },
    });
  });

  it.each([
    ['an entry of its status names no NIC', { status: { interfaceStatuses: [{ mtu: 'x' }] } }],
    ['its status lists no entries', { status: { interfaceStatuses: 'multinic0' } }],
    ['what its host knows cannot be read', { status: { knownInterfaces: [{ id: 'x' }] } }],
    ['its spec is of another form', { spec: { nodeName: 'N1', interfaces: [{ mtu: 9001 }] } }],
    ['it has no spec', { spec: undefined }],
  ])('does not take an object for readable when %s', (_what, object) => {
    expect(read(object)).toMatchObject({
      kind: 'unreadable',
      node: { objectName: 'n1', uid: 'u', generation: 2 },
    });
  });

  it('tells the server that it was made for, whatever somebody wrote into its spec since', () => {
    const labels = { 'multinic.io/instance-id': 'i-1' };
    const edited = { metadata: { ...metadata, labels }, spec: { ...spec, instanceId: 'i-2' } };
    expect(read(edited).node).toMatchObject({
      labelledInstanceId: 'i-1',
      spec: { instanceId: 'i-2' },
    });
  });

  it('reads what was written with the same hash, whatever a NIC holds', () => {
    const [nic] = postedNode.interfaces;
    const addresses = ['10.0.0.10/24', '10.0.1.7/24'];
    const routes = [{ to: '10.9.0.0/16', via: '10.0.0.1' }];
    const interfaces = [{ macAddress: '', ...nic, addresses, routes, gateway: '10.0.0.1' }];
    const desired = desiredNode({ ...postedNode, interfaces }, 'biz-1');
    const { node } = desired.kind === 'usable' ? desired : expect.fail(desired.error.message);
    const held = read({ spec: node.spec });
    const back = held.kind === 'held' ? held.node.spec : expect.fail(held.node.message);
    expect(back.specHash).toBe(specHash(back));
  });

  it('has an address of IPv4 or none, and the subnet of the first address', () => {
    const addresses = ['fd00::a/64', 'fd00:1::a/64'];
    const interfaces = [{ macAddress: 'fa:16:3e:00:00:01', name: 'multinic0', addresses }];
    const desired = desiredNode({ ...postedNode, interfaces }, 'biz-1');
    const { node } = desired.kind === 'usable' ? desired : expect.fail(desired.error.message);
    expect(node.spec.interfaces?.[0]).toMatchObject({ cidr: 'fd00::/64', addresses });
    expect(node.spec.interfaces?.[0]).not.toHaveProperty('address');
    expect(acceptInterfaces(node.spec.interfaces ?? []).rejected).toEqual([]);
  });

  it('says which field cannot be read', () => {
    const { node } = read({ spec: { nodeName: 'N1', interfaces: [{ macAddress: 'x' }] } });
    expect(node).toHaveProperty(
      'message',
      expect.stringContaining('(spec.interfaces.0.macAddress: '),
    );
  });

  it('tells what else is known of an object that cannot be read: its server, and whose it is', () => {
    const broken = { nodeName: 'N1', instanceId: 'i-1', interfaces: 'none' };
    const from = { namespace: 'ns', name: 'demo', uid: 'u', generation: 1 };
    const of = (text: string) => ({
      spec: broken,
      metadata: { ...metadata, annotations: { 'multinic.io/source': text } },
    });
    expect(read({ spec: broken }).node).toMatchObject({ instanceId: 'i-1', source: null });
    expect(read(of(JSON.stringify(from))).node).toMatchObject({ source: from });
    expect(read(of('{')).node).not.toHaveProperty('source');
    expect(read({ spec: { instanceId: 7 } }).node).not.toHaveProperty('instanceId');
  });

  it('knows where an object comes from only when its annotation can be read', () => {
    const from = { namespace: 'ns', name: 'demo', uid: 'u', generation: 1 };
    expect(marked(JSON.stringify(from))).toHaveProperty('source', from);
    expect(marked('{')).not.toHaveProperty('source');
    expect(marked('{}')).not.toHaveProperty('source');
  });
});
