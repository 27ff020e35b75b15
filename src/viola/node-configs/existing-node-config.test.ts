import { describe, expect, it } from 'vitest';
import { postedNode } from '../../../test/fixtures/viola.ts';
import { acceptInterfaces } from '../../api/accept-interface.ts';
import { desiredNode } from '../../api/desired-node.ts';
import { specHash } from '../../api/spec-hash.ts';
import { toExistingNodeConfig } from './existing-node-config.ts';

const metadata = { name: 'n1', uid: 'u', generation: 2 };
const spec = { nodeName: 'N1', interfaces: [] };

/** Converts an object as the API server may return it under any schema. */
function read(object: object) {
  return toExistingNodeConfig({ metadata, spec, ...object });
}

function marked(source: string) {
  return read({ metadata: { ...metadata, annotations: { 'multinic.io/source': source } } }).node;
}

describe('toExistingNodeConfig', () => {
  it('a partly unreadable status keeps its NIC names', () => {
    const status = {
      state: 'Working',
      lastJobName: 'job',
      interfaceStatuses: [
        { name: 'multinic0', id: 0, mtu: 'large', status: 'Configured' },
        { id: 3, message: 7 },
      ],
    };
    expect(read({ status })).toMatchObject({
      kind: 'readable',
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
    ['its interfaceStatuses is a string', { status: { interfaceStatuses: 'multinic0' } }],
    ['its known interfaces are malformed', { status: { knownInterfaces: [{ id: 'x' }] } }],
    ['its spec is malformed', { spec: { nodeName: 'N1', interfaces: [{ mtu: 9001 }] } }],
    ['it has no spec', { spec: undefined }],
  ])('an object is unreadable when %s', (_what, object) => {
    expect(read(object)).toMatchObject({
      kind: 'unreadable',
      node: { objectName: 'n1', uid: 'u', generation: 2 },
    });
  });

  it('labelledInstanceId keeps the original server after spec.instanceId was edited', () => {
    const labels = { 'multinic.io/instance-id': 'i-1' };
    const edited = { metadata: { ...metadata, labels }, spec: { ...spec, instanceId: 'i-2' } };
    expect(read(edited).node).toMatchObject({
      labelledInstanceId: 'i-1',
      spec: { instanceId: 'i-2' },
    });
  });

  it('an object read back has the hash it was written with, for any NIC fields', () => {
    const [nic] = postedNode.interfaces;
    const addresses = ['10.0.0.10/24', '10.0.1.7/24'];
    const routes = [{ to: '10.9.0.0/16', via: '10.0.0.1' }];
    const interfaces = [{ macAddress: '', ...nic, addresses, routes, gateway: '10.0.0.1' }];
    const desired = desiredNode({ ...postedNode, interfaces }, 'biz-1');
    const { node } = desired.kind === 'usable' ? desired : expect.fail(desired.error.message);
    const result = read({ spec: node.spec });
    const back = result.kind === 'readable' ? result.node.spec : expect.fail(result.node.message);
    expect(back.specHash).toBe(specHash(back));
  });

  it("an IPv6-only NIC has no `address`, and its cidr is the first address's subnet", () => {
    const addresses = ['fd00::a/64', 'fd00:1::a/64'];
    const interfaces = [{ macAddress: 'fa:16:3e:00:00:01', name: 'multinic0', addresses }];
    const desired = desiredNode({ ...postedNode, interfaces }, 'biz-1');
    const { node } = desired.kind === 'usable' ? desired : expect.fail(desired.error.message);
    expect(node.spec.interfaces?.[0]).toMatchObject({ cidr: 'fd00::/64', addresses });
    expect(node.spec.interfaces?.[0]).not.toHaveProperty('address');
    expect(acceptInterfaces(node.spec.interfaces ?? []).rejected).toEqual([]);
  });

  it("an unreadable object's message names the field", () => {
    const { node } = read({ spec: { nodeName: 'N1', interfaces: [{ macAddress: 'x' }] } });
    expect(node).toHaveProperty(
      'message',
      expect.stringContaining('(spec.interfaces.0.macAddress: '),
    );
  });

  it('an unreadable object includes its server id and source when readable', () => {
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

  it('a malformed source annotation is ignored', () => {
    const from = { namespace: 'ns', name: 'demo', uid: 'u', generation: 1 };
    expect(marked(JSON.stringify(from))).toHaveProperty('source', from);
    expect(marked('{')).not.toHaveProperty('source');
    expect(marked('{}')).not.toHaveProperty('source');
  });
});
