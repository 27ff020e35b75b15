import { expect, it } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { createViolas } from './violas.ts';

const settings = { violaTimeout: 1_000, violaInsecureTls: false, violaCa: undefined };
const endpoint = { field: 'spec.settings.violaEndpoint', url: 'https://evil.org', trusted: false };

it('does not send the operator’s token to a place that only the CR vouches for', async () => {
  await using violas = createViolas({ ...settings, violaTokenFile: '/token' }, createFakeClock());
  expect(() => violas.of(endpoint, 'biz-1')).toThrow(
    'spec.settings.violaEndpoint: "https://evil.org" is not in the operator\'s ALLOWED_ENDPOINTS',
  );
  expect(violas.of({ ...endpoint, trusted: true }, 'biz-1')).toBeDefined();
});

it('speaks to any Viola while there is no token to lose', async () => {
  await using violas = createViolas({ ...settings, violaTokenFile: undefined }, createFakeClock());
  expect(violas.of(endpoint, 'biz-1')).toBeDefined();
});
