import type { Reason } from '../../src/api/reasons.ts';
import type { StepName } from '../../src/api/step-names.ts';
import * as delivery from './delivery-faults.ts';
import * as nodes from './node-faults.ts';
import type { Plant } from './planted.ts';
import * as ports from './port-faults.ts';

/** Table row. */
export interface PlantedFault {
  readonly number: number;
  readonly title: string;
  /** Step and reason from `why`. */
  readonly step: StepName;
  readonly reason: Reason;
  /** `warn`: the port is a NIC. */
  readonly result: 'fail' | 'warn';
  readonly plant: Plant;
}

/** Planted faults by world and phase; a phase plants all its faults side by side. */
export const faults = {
  ports: [
    [
      fault(1, 'port older than the OpenstackConfig', 'Filter', 'PortTooOld', ports.olderPort),
      fault(
        2,
        'port in a subnet that is not selected',
        'Selection',
        'SubnetNotSelected',
        ports.unselectedSubnet,
      ),
      fault(
        3,
        'port of a server that is not selected',
        'Selection',
        'ServerNotSelected',
        ports.unselectedServer,
      ),
      fault(4, 'port in status ERROR', 'Filter', 'PortStatus', ports.portInError),
      fault(
        5,
        'IPv6 port with address family IPv4',
        'Filter',
        'FamilyNotWanted',
        ports.unwantedFamily,
      ),
      fault(6, 'port without address', 'Filter', 'PortWithoutAddress', ports.portWithoutAddress),
      fault(7, 'eleventh port', 'Filter', 'InterfaceLimitExceeded', ports.eleventhPort),
      fault(8, 'paused OpenstackConfig', 'Selection', 'Paused', ports.pausedConfig),
    ],
    [
      fault(
        9,
        'port between two scheduled syncs',
        'Selection',
        'NotSyncedYet',
        ports.scheduledSync,
      ),
    ],
  ],
  delivery: [
    [
      fault(
        10,
        'encrypt key unfit for the password',
        'Selection',
        'ContrabassError',
        delivery.wrongKey,
      ),
      fault(
        12,
        'unregistered business cluster',
        'Delivery',
        'ViolaPostError',
        delivery.unregisteredCluster,
      ),
    ],
    [
      warning(
        11,
        'truncated port lists of Neutron',
        'Selection',
        'NeutronPortError',
        delivery.truncatedPorts,
      ),
    ],
    [
      fault(
        13,
        'unreachable business cluster',
        'Delivery',
        'ViolaPostError',
        delivery.unreachableCluster,
      ),
    ],
  ],
  nodes: [
    [
      fault(
        14,
        'two Nodes with one systemUUID',
        'Acceptance',
        'DuplicateSystemUUID',
        nodes.doubledUuid,
      ),
      fault(15, 'no Node with the systemUUID', 'Acceptance', 'NodeNotFound', nodes.absentNode),
      fault(
        17,
        'port that the hypervisor does not plug',
        'Kernel',
        'WaitingForNIC',
        nodes.unpluggedPort,
      ),
      fault(18, 'foreign address on the link', 'Agent', 'NICInUse', nodes.foreignAddress),
      warning(19, 'rule and MTU changed by hand', 'Kernel', 'Drifted', nodes.driftedNic),
      warning(
        20,
        'InternalIP that belongs to a NIC',
        'Environment',
        'NodeAddressIsNic',
        nodes.nicAsNodeAddress,
      ),
    ],
    [fault(16, 'quota that refuses the Job', 'Agent', 'JobRefused', nodes.exhaustedQuota)],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly PlantedFault[])[]>>;

function fault(
  number: number,
  title: string,
  step: StepName,
  reason: Reason,
  plant: Plant,
): PlantedFault {
  return { number, title, step, reason, result: 'fail', plant };
}

function warning(...row: Parameters<typeof fault>): PlantedFault {
  return { ...fault(...row), result: 'warn' };
}
