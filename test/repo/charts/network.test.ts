import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import { describe, expect, it } from 'vitest';
import { flows, parties } from './flows.ts';
import { ofKind, renderedAs } from './manifests.ts';
import { isAllowed, type Party } from './network.ts';

describe.each(Object.entries(flows))('with the policies of %s', (name, table) => {
  const policies = ofKind<NetworkPolicy>(renderedAs(name), 'NetworkPolicy');

  it.each(
    table.map(([from, to, port, verdict, protocol = 'TCP']) => ({
      from,
      to,
      port,
      verdict,
      protocol,
    })),
  )('$from to $to at $protocol $port is $verdict', ({ from, to, verdict, ...door }) => {
    const allowed = isAllowed(policies, { from: parties[from], to: parties[to], ...door });
    expect(allowed ? 'allowed' : 'denied').toBe(verdict);
  });
});

type Spec = NonNullable<NetworkPolicy['spec']>;

function policy(spec: Spec): NetworkPolicy {
  return { metadata: { namespace: 'default' }, spec };
}

describe('what policies let through', () => {
  const inDefault = { ip: '10.0.0.1', pod: { namespace: 'default', labels: { app: 'a' } } };
  const elsewhere = { ip: '10.0.0.2', pod: { namespace: 'other', labels: { app: 'a' } } };
  const to = (spec: Spec, from: Party = elsewhere) =>
    isAllowed([policy(spec)], { from, to: inDefault, port: 80 });

  it.each<[string, boolean, Spec]>([
    ['selects another Pod', true, { podSelector: { matchLabels: { app: 'b' } } }],
    ['has no rules', false, { podSelector: {} }],
    ['is about the other way', true, { podSelector: {}, policyTypes: ['Egress'] }],
    ['has a rule that names nothing', true, { podSelector: {}, ingress: [{}] }],
    [
      'lets Pods of its own namespace in',
      false,
      {
        podSelector: {},
        ingress: [{ from: [{ podSelector: {} }] }],
      },
    ],
    [
      'lets Pods of all namespaces in',
      true,
      {
        podSelector: {},
        ingress: [{ from: [{ namespaceSelector: {} }] }],
      },
    ],
    [
      'wants both selectors of one peer',
      false,
      {
        podSelector: {},
        ingress: [
          { from: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: 'b' } } }] },
        ],
      },
    ],
    [
      'lets addresses in',
      true,
      {
        podSelector: {},
        ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/24' } }], ports: [{ port: 80 }] }],
      },
    ],
    [
      'lets addresses in but for this one',
      false,
      {
        podSelector: {},
        ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/24', except: ['10.0.0.2/32'] } }] }],
      },
    ],
    ['lets another port in', false, { podSelector: {}, ingress: [{ ports: [{ port: 81 }] }] }],
    [
      'lets a range of ports in',
      true,
      {
        podSelector: {},
        ingress: [{ ports: [{ port: 79, endPort: 81 }] }],
      },
    ],
  ])('one that %s: %s', (_about, allowed, spec) => {
    expect(to(spec)).toBe(allowed);
  });

  it('needs the consent of both ends', () => {
    const shut = policy({ podSelector: {}, policyTypes: ['Egress'] });
    expect(isAllowed([shut], { from: inDefault, to: elsewhere, port: 80 })).toBe(false);
    expect(isAllowed([shut], { from: elsewhere, to: inDefault, port: 80 })).toBe(true);
  });
});
