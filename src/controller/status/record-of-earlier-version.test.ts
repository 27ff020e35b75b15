import { expect, it } from 'vitest';
import { entry, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { deliveredMacs } from '../jobs/applied.ts';
import { acceptSpec } from '../jobs/request.ts';
import { statusOf } from './status.ts';

const at = '2026-01-01T00:00:00Z';

it.each(['RolloutWaiting', 'WaitingForTurn'] as const)(
  'a record without MACs takes configured NICs from the status while its change waits: %s',
  (reason) => {
    const { macAddress } = entry(0);
    const config = nodeConfig({
      metadata: { name: 'n1', uid: 'u1' },
      spec: { nodeName: 'n1', interfaces: [entry(0, { mtu: 1400 })] },
      status: {
        applied: {
          objectUid: 'u1',
          action: 'apply',
          content: 'before',
          nodeName: 'n1',
          nodeUid: 'uid-of-n1',
          job: 'job-1',
          attempt: 1,
          protocol: 2,
          at,
          done: true,
        },
        interfaceStatuses: [
          { macAddress, id: 0, mtu: 1450, status: 'Configured', reason: 'Configured' },
        ],
      },
    });
    const spec = acceptSpec(config);
    const situation = { kind: 'waiting', reason, message: 'waits', repeat: false } as const;
    const input = { config, spec, situation, name: undefined, now: new Date(at) };
    const status = statusOf(input);
    expect(deliveredMacs({ ...config, status })).toEqual(deliveredMacs(config));
    expect(deliveredMacs(config)).toHaveLength(1);
  },
);
