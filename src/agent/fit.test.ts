import { expect, test } from 'vitest';
import { request } from '../../test/fixtures/agent-samples.ts';
import { fitOf } from './fit.ts';

const found = 'systemd-networkd manages eth0 by 10-netplan-eth0.network';

test('a request without a family counts as netplan', () => {
  const { backend, ...rest } = fitOf({ family: 'netplan', found }, request([]));
  expect(backend?.name).toBe('netplan');
  expect(rest).toEqual({ misfit: undefined, family: 'netplan' });
});

test("a run for another network manager gets no backend and reports the host's", () => {
  expect(fitOf({ family: 'netplan', found }, request([], { family: 'keyfile' }))).toEqual({
    backend: undefined,
    misfit: `host uses netplan (${found}), but the Job is for keyfile`,
    family: 'netplan',
  });
});

test('a run for another network manager gets no backend even if the agent supports both', () => {
  const finding = { family: 'keyfile', found: 'NetworkManager manages eth0' } as const;
  const { backend, family } = fitOf(finding, request([]));
  expect({ backend, family }).toEqual({ backend: undefined, family: 'keyfile' });
});

test("a host with an unknown network manager keeps the run's backend, for ending unfinished changes", () => {
  const { backend, ...rest } = fitOf({ found: 'two managers' }, request([]));
  expect(backend?.name).toBe('netplan');
  expect(rest).toEqual({ misfit: 'unsupported: two managers', family: undefined });
});
