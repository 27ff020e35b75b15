import { type JobRequest } from '../../../src/api/job.ts';
import { entry, request } from '../../fixtures/agent-samples.ts';

/** What a host has been asked for before, and what it is asked for when a run fails. */
export interface Life {
  readonly name: string;
  readonly before: readonly JobRequest[];
  readonly asked: JobRequest;
}

const dual = { addresses: ['10.0.0.1/24', 'fd00::1/64'], gateway6: 'fd00::fe' };
const start = [entry(1, dual), entry(2)];
const changed = [
  entry(1, {
    mtu: 1400,
    addresses: ['10.0.0.101/24', 'fd00::101/64'],
    routes: [{ to: '10.77.0.0/24', via: '10.0.0.253' }],
    routing: 'main',
  }),
  entry(3),
];

const ask = (generation: number, interfaces: typeof start): JobRequest =>
  request(interfaces, { protocol: 3, generation });

export const lives: readonly Life[] = [
  { name: 'added', before: [], asked: ask(1, start) },
  // One gets another address, MTU, routing and routes; one leaves, and another one comes.
  { name: 'changed', before: [ask(1, start)], asked: ask(2, changed) },
  {
    name: 'removed',
    before: [ask(1, start), ask(2, changed)],
    asked: { ...ask(3, []), action: 'cleanup' },
  },
];
