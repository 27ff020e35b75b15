import { expect, it } from 'vitest';
import { createLogger } from '../../process/log.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { createViolas } from './violas.ts';

const settings = { violaTimeout: 1_000, violaInsecureTls: false, violaCa: undefined };
const log = createLogger({ part: 'test', level: 'silent' });
const deps = { clock: createFakeClock(), random: () => 0.5, log };
const endpoint = { field: 'spec.settings.violaEndpoint', url: 'https://evil.org', trusted: false };

it('does not send the operator’s token to a place that only the CR vouches for', async () => {
  await using violas = createViolas({ ...settings, violaTokenFile: '/token' }, deps);
  expect(() => violas.of(endpoint, 'biz-1')).toThrow(
    'spec.settings.violaEndpoint: "https://evil.org" is not in the operator\'s ALLOWED_ENDPOINTS',
  );
  expect(violas.of({ ...endpoint, trusted: true }, 'biz-1')).toBeDefined();
});

it('speaks to any Viola while there is no token to lose', async () => {
  await using violas = createViolas({ ...settings, violaTokenFile: undefined }, deps);
  expect(violas.of(endpoint, 'biz-1')).toBeDefined();
});
