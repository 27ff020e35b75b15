import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PortView } from '../api/read-http.ts';
import { explainPort } from './explain-port.ts';
import type { PortFacts } from './facts.ts';
import { configWith } from './testing/fault.ts';
import {
  config,
  hidden,
  kubernetesNode,
  nic,
  node,
  port,
  portFacts,
  read,
} from './testing/healthy.ts';

const primary = '5a000000-0000-4000-8000-0000000000aa';
const other = '5a000000-0000-4000-8000-0000000000bb';
const ownIp = '192.168.0.18';

const subnet = fc.constantFrom(primary, other);
const specs = fc.oneof(
  fc.record({ subnetIDs: fc.uniqueArray(subnet, { minLength: 1 }) }),
  fc.record({ subnetID: subnet }),
  fc.constant({ subnetName: 'lan' }),
  fc.constant({}),
);
const verdicts = fc.constantFrom('SubnetNotSelected', 'PortWithoutAddress', 'FamilyNotWanted');

/** Ports on the primary network and on others, in every spec, with and without the node's facts. */
const scenes = fc.record({
  spec: specs,
  addresses: fc.array(
    fc.record({ subnetId: subnet, ip: fc.constantFrom(ownIp, '192.168.0.99', '10.0.0.9') }),
  ),
  selectsServer: fc.boolean(),
  reason: verdicts,
  isOfServer: fc.boolean(),
  isNodeRead: fc.boolean(),
  arePortsRead: fc.boolean(),
});

type Scene = typeof scenes extends fc.Arbitrary<infer T> ? T : never;

const { verdict: _, ...unplanned } = port;
const ownPort: PortView = {
  ...unplanned,
  portId: 'be0f33c1-0000-4000-8000-000000000001',
  addresses: [{ subnetId: primary, ip: ownIp }],
};

function factsOf(scene: Scene): PortFacts {
  const { spec, addresses, selectsServer, reason, isOfServer, isNodeRead, arePortsRead } = scene;
  const { subnetIDs: _ids, ...rest } = config.spec;
  const configs = [configWith({ selectsServer, selectsSubnet: reason !== 'SubnetNotSelected' })];
  const verdict = { config: 'multinic-system/storage', reason, message: '', at: port.readAt };
  const examined = { ...unplanned, addresses, configs, verdict };
  return {
    ...portFacts,
    port: read(examined),
    node: read(node(18, { nics: [nic(18, 0)] })),
    configs: read([{ ...config, spec: { ...rest, ...spec } }]),
    kubernetesNode: isNodeRead ? read(kubernetesNode) : hidden('Node'),
    serverPorts: arePortsRead ? read([ownPort, examined]) : hidden('ports'),
    isOfServer,
  };
}

/** True if the spec already has the primary network: a mistake outside this gate. */
const isSelected = (scene: Scene) => JSON.stringify(scene.spec).includes(primary);

describe('own network', () => {
  it("no next step selects the node's primary subnet", () => {
    fc.assert(
      fc.property(scenes, (scene) => {
        const isKnown = scene.isNodeRead && scene.arePortsRead;
        fc.pre(isKnown || !isSelected(scene));
        const { steps } = explainPort(factsOf(scene));
        expect(JSON.stringify(steps.map(({ next }) => next ?? ''))).not.toContain(primary);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['another subnet', [{ subnetId: other, ip: '10.0.0.9' }], 'fail', other],
    ['the own address', [{ subnetId: primary, ip: ownIp }], 'info', ''],
    [
      'the own network',
      [{ subnetId: primary, ip: '192.168.0.99' }],
      'fail',
      'attach a port in another subnet',
    ],
  ] as const)('a port with %s has the selection step %#', (_title, addresses, result, next) => {
    const scene = { spec: {}, selectsServer: true, reason: 'SubnetNotSelected' } as const;
    const known = { isOfServer: false, isNodeRead: true, arePortsRead: true };
    const { steps } = explainPort(factsOf({ ...scene, ...known, addresses: [...addresses] }));
    const step = steps.find(({ name }) => name === 'Selection');
    expect(step?.result).toBe(result);
    expect(`${step?.next?.text.en} ${step?.next?.commands.join()}`).toContain(next);
  });
});
