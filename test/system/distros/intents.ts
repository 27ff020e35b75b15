import { type RequestInterface, routings } from '../../../src/api/job.ts';
import { nic } from '../../host/agent-process.ts';
import { plugged } from './cell.ts';

/** Requests to a node in order; the last request is the final state. */
export interface Intent {
  readonly name: string;
  readonly steps: readonly (readonly RequestInterface[])[];
  /** True: part of every run, not only of the long suite. */
  readonly always?: true;
}

type More = Partial<RequestInterface>;

const four = { addresses: ['10.0.0.11/16'], gateway: '10.0.0.254' } as const satisfies More;
const six = { addresses: ['fd00::11/64'], gateway6: 'fd00::fe' } as const satisfies More;
const dual: More = { ...four, ...six, addresses: [...four.addresses, ...six.addresses] };
const routes4 = [{ to: '10.77.0.0/24', via: '10.0.0.253' }];
const routes6 = [{ to: 'fd00:77::/48', via: 'fd00::fd' }];

function first(more: More): RequestInterface {
  return nic(0, plugged.ens5, '', { addresses: [], ...more });
}

function second(more: More): RequestInterface {
  return nic(1, plugged.ens6, '', { addresses: [], ...more });
}

const otherFour: More = { addresses: ['10.1.0.12/16'], gateway: '10.1.0.254' };
const otherSix: More = { addresses: ['fd01::12/64'], gateway6: 'fd01::fe' };

const ofOneNic: readonly (readonly [string, More])[] = [
  ['IPv4', four],
  ['IPv6', six],
  ['dual stack', dual],
  ['IPv4 with routes', { ...four, routes: routes4 }],
  ['dual stack with routes', { ...dual, routes: [...routes4, ...routes6] }],
  ['IPv4 without gateway', { addresses: four.addresses }],
  ['two addresses of a subnet', { ...four, addresses: ['10.0.0.11/16', '10.0.0.12/16'] }],
  ['two subnets', { ...four, addresses: ['10.0.0.11/16', '10.1.0.11/16'] }],
];

const eachRouting = ofOneNic.flatMap(([name, more]) =>
  routings.map(
    (routing): Intent => ({
      name: `${name}, ${routing}`,
      steps: [[first({ ...more, routing })]],
      ...(name === 'dual stack with routes' ? { always: true } : {}),
    }),
  ),
);

const others: readonly Intent[] = [
  { name: 'MTU 1400', steps: [[first({ ...dual, mtu: 1400 })]] },
  { name: 'MTU 1280, IPv6', steps: [[first({ ...six, mtu: 1280 })]] },
  { name: 'MTU 8000', steps: [[first({ ...four, mtu: 8000 })]] },
  // Removal re-enables IPv6 on a NIC for which NetworkManager has a profile.
  { name: 'MTU 1000, IPv4', steps: [[first({ ...four, mtu: 1000 })]], always: true },
  { name: 'host prefix', steps: [[first({ addresses: ['10.0.0.11/32'] })]] },
  {
    name: 'same subnet twice',
    steps: [[first(four), second({ addresses: ['10.0.0.12/16'], gateway: '10.0.0.254' })]],
    always: true,
  },
  {
    name: 'same subnet twice, dual stack',
    steps: [[first(dual), second({ addresses: ['10.0.0.12/16', 'fd00::12/64'] })]],
  },
  { name: 'two NICs', steps: [[first(four), second(otherFour)]] },
  { name: 'two NICs of two families', steps: [[first(four), second(otherSix)]] },
  {
    name: 'three NICs of three routings',
    steps: [
      [
        first(dual),
        second({ ...otherFour, routing: 'main' }),
        nic(2, plugged.ens7, '10.1.0.13/16', { routing: 'isolated', addresses: ['10.2.0.13/16'] }),
      ],
    ],
    always: true,
  },
  {
    name: 'address changed',
    steps: [[first(four)], [first({ ...four, addresses: ['10.0.0.21/16'] })]],
  },
  { name: 'family added', steps: [[first(four)], [first(dual)]] },
  { name: 'family removed', steps: [[first(dual)], [first(six)]], always: true },
  { name: 'pbr to main', steps: [[first(dual)], [first({ ...dual, routing: 'main' })]] },
  {
    name: 'main to isolated',
    steps: [
      [first({ ...dual, routing: 'main', routes: routes4 })],
      [first({ ...dual, routing: 'isolated' })],
    ],
  },
  { name: 'isolated to pbr', steps: [[first({ ...dual, routing: 'isolated' })], [first(dual)]] },
  {
    name: 'routes changed',
    steps: [
      [first({ ...four, routes: routes4 })],
      [first({ ...four, routes: [{ to: '10.78.0.0/24', via: '10.0.0.252' }] })],
    ],
  },
  {
    name: 'MTU changed',
    steps: [[first({ ...dual, mtu: 1400 })], [first({ ...dual, mtu: 1450 })]],
  },
  {
    name: 'NIC removed',
    steps: [[first(four), second(otherFour)], [second(otherFour)]],
    always: true,
  },
  {
    name: 'first NIC removed, dual stack',
    steps: [[first(dual), second(otherSix)], [second(otherSix)]],
  },
  { name: 'NIC added', steps: [[second(otherFour)], [first(dual), second(otherFour)]] },
  { name: 'gateway changed', steps: [[first(four)], [first({ ...four, gateway: '10.0.0.253' })]] },
];

/** At least 40 intents; each run takes a part. */
export const intents: readonly Intent[] = [...eachRouting, ...others];
