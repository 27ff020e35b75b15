import { expect, test } from 'vitest';
import { request } from '../../test/fixtures/agent-samples.ts';
import { fitOf } from './fit.ts';

const found = 'systemd-networkd manages eth0 by 10-netplan-eth0.network';

test('a run of an older controller was made for netplan', () => {
  const { backend, ...rest } = fitOf({ family: 'netplan', found }, request([]));
  expect(backend?.name).toBe('netplan');
  expect(rest).toEqual({ misfit: undefined, family: 'netplan' });
});

test('a run that was made for another family touches nothing, and tells which agent it takes', () => {
  expect(fitOf({ family: 'netplan', found }, request([], { family: 'keyfile' }))).toEqual({
    backend: undefined,
    misfit: `found netplan (${found}), but the Job is for keyfile`,
    family: 'netplan',
  });
});

test('nor does it where this agent has files for both', () => {
  const finding = { family: 'keyfile', found: 'NetworkManager manages eth0' } as const;
  const { backend, family } = fitOf(finding, request([]));
  expect({ backend, family }).toEqual({ backend: undefined, family: 'keyfile' });
});

test('what is in hand is ended where nobody knows what manages the host', () => {
  const { backend, ...rest } = fitOf({ found: 'two managers' }, request([]));
  expect(backend?.name).toBe('netplan');
  expect(rest).toEqual({ misfit: 'found two managers', family: undefined });
});
