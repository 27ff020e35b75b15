import type { Reason } from '../../src/api/reasons.ts';
import * as delivery from './delivery-faults.ts';
import * as nodes from './node-faults.ts';
import type { Plant } from './planted.ts';
import * as ports from './port-faults.ts';

/** Table row. */
export interface PlantedFault {
  readonly number: number;
  readonly title: string;
  /** Reason from `why`. */
  readonly reason: Reason;
  readonly plant: Plant;
}

/** Planted faults by world and phase; a phase plants all its faults side by side. */
export const faults = {
  ports: [
    [
      fault(1, 'port older than the OpenstackConfig', 'PortTooOld', ports.olderPort),
      fault(
        2,
        'port in a subnet that is not selected',
        'SubnetNotSelected',
        ports.unselectedSubnet,
      ),
      fault(
        3,
        'port of a server that is not selected',
        'ServerNotSelected',
        ports.unselectedServer,
      ),
      fault(4, 'port in status ERROR', 'PortStatus', ports.portInError),
      fault(5, 'IPv6 port with address family IPv4', 'FamilyNotWanted', ports.unwantedFamily),
      fault(6, 'port without address', 'PortWithoutAddress', ports.portWithoutAddress),
      fault(7, 'eleventh port', 'InterfaceLimitExceeded', ports.eleventhPort),
      fault(8, 'paused OpenstackConfig', 'Paused', ports.pausedConfig),
    ],
    [fault(9, 'port between two scheduled syncs', 'NotSyncedYet', ports.scheduledSync)],
  ],
  delivery: [
    [
      fault(10, 'encrypt key unfit for the password', 'ContrabassError', delivery.wrongKey),
      fault(12, 'unregistered business cluster', 'ViolaPostError', delivery.unregisteredCluster),
    ],
    [fault(11, 'truncated port lists of Neutron', 'NeutronPortError', delivery.truncatedPorts)],
    [fault(13, 'unreachable business cluster', 'ViolaPostError', delivery.unreachableCluster)],
  ],
  nodes: [
    [
      fault(14, 'two Nodes with one systemUUID', 'DuplicateSystemUUID', nodes.doubledUuid),
      fault(15, 'no Node with the systemUUID', 'NodeNotFound', nodes.absentNode),
      fault(17, 'port that the hypervisor does not plug', 'WaitingForNIC', nodes.unpluggedPort),
      fault(18, 'foreign address on the link', 'NICInUse', nodes.foreignAddress),
      fault(19, 'rule and MTU changed by hand', 'Drifted', nodes.driftedNic),
      fault(20, 'InternalIP that belongs to a NIC', 'NodeAddressIsNic', nodes.nicAsNodeAddress),
    ],
    [fault(16, 'quota that refuses the Job', 'JobRefused', nodes.exhaustedQuota)],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly PlantedFault[])[]>>;

function fault(number: number, title: string, reason: Reason, plant: Plant): PlantedFault {
  return { number, title, reason, plant };
}
