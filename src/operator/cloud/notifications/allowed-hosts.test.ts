import { expect, it } from 'vitest';
import { metricTable } from '../../../api/metrics.ts';
import { createLogger } from '../../../process/log.ts';
import { createMetrics } from '../../../process/metrics.ts';
import { readSettings } from '../../../process/settings.ts';
import { systemAuthorities } from '../../../requests/ca-bundle.ts';
import { createFakeClock, until } from '../../../time/fake-clock.ts';
import { operatorSettings } from '../../model/settings/operator.ts';
import { environment } from '../../testing/scene.ts';
import { createNotifications } from './notifications.ts';

// Nothing listens on port 1 (tcpmux) of the local machine.
const broker = { username: 'r', password: 'p', hosts: ['localhost:1'] };
const denied = 'resolves to a loopback, link-local or metadata address';

it.each([
  ['', denied],
  ['http://localhost:1', 'does not answer'],
  ['http://localhost:2', denied],
  ['*', denied],
])(
  'a broker name with a loopback address, with ALLOWED_ENDPOINTS "%s": %s',
  async (allowed, expected) => {
    const env = { ...environment, ALLOWED_ENDPOINTS: allowed };
    const settings = readSettings(operatorSettings, { env, flags: {} });
    const clock = createFakeClock();
    const notifications = createNotifications({
      settings,
      clock,
      authorities: { contrabass: systemAuthorities, openstack: systemAuthorities },
      metrics: createMetrics(metricTable),
      random: () => 0.5,
      log: createLogger({ part: 'test', level: 'silent' }),
      onEvent: () => undefined,
    });
    const stop = new AbortController();
    const message = () => notifications.conditionOf('ns/a', [])?.message;
    await notifications.during(stop.signal, async () => {
      notifications.join('ns/a', broker);
      const isTried = () => message() !== undefined || clock.waits.includes(1_000);
      await until('it is tried', isTried);
      await clock.advance(60_000);
      expect(message()).toContain(expected);
    });
  },
);
