import { netplan } from '../../src/agent/backends/netplan.ts';
import { planApply } from '../../src/agent/planning/plan.ts';
import { planText } from '../../src/agent/planning/unit.ts';
import type { Link, Snapshot } from '../../src/agent/snapshot.ts';
import { emptyState } from '../../src/agent/state.ts';
import { type JobRequest, protocol } from '../../src/api/job.ts';
import type { Screen } from './screen.ts';

const mac = 'fa:16:3e:00:00:01';

const request: JobRequest = {
  protocol,
  uid: 'example',
  generation: 1,
  attempt: 0,
  action: 'apply',
  nodeName: 'worker-1',
  protectedAddresses: ['10.200.0.2'],
  interfaces: [
    {
      index: 0,
      portId: 'example-port',
      mac,
      mtu: 1450,
      addresses: ['10.0.0.11/24'],
      gateway: '10.0.0.254',
      routes: [],
      routing: 'pbr',
    },
  ],
};

function link(index: number, name: string, linkMac: string, up: boolean): Link {
  return { index, name, altNames: [], mac: linkMac, mtu: 1500, up, addressMode: 'eui64' };
}

/** A host with its own NIC and one that was just plugged. */
const host: Snapshot = {
  links: [link(2, 'eth0', '02:00:00:00:00:01', true), link(3, 'ens5', mac, false)],
  addresses: [
    {
      link: 'eth0',
      family: 4,
      cidr: '10.200.0.2/16',
      scope: 0,
      noPrefixRoute: false,
      opaque: false,
    },
  ],
  routes: [],
  rules: [],
  neighbours: [],
  settings: new Map(),
  defaultSettings: {},
  files: [],
  held: [],
};

/** Says why nothing is done here, and what the agent would do on an example host. */
export function printPlan(screen: Screen): void {
  screen.say('The demo makes network namespaces, which needs Linux and root: sudo make demo');
  screen.title('What the agent would do on a host where a port was just attached:');
  const input = { request, state: emptyState, host, backend: netplan, bootId: '' };
  screen.quote(planText(planApply(input)));
}
