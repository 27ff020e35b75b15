import { describe, expect, it } from 'vitest';
import { createHealth } from './health.ts';

describe('createHealth', () => {
  it('a new health is live and ready until a check fails', () => {
    const health = createHealth();
    expect(health.liveness()).toEqual({ ok: true, failing: {} });
    health.ready('cache', () => 'not listed yet');
    expect(health.liveness().ok).toBe(true);
    expect(health.readiness()).toEqual({ ok: false, failing: { cache: 'not listed yet' } });
  });

  it('a failing liveness check makes the process unready, too', () => {
    const health = createHealth();
    health.live('store', () => 'disk full');
    expect(health.readiness().failing).toEqual({ store: 'disk full' });
  });

  it('createHealth runs each check again for every report', () => {
    const health = createHealth();
    const answers = ['starting', undefined];
    health.ready('part', () => answers.shift());
    expect(health.readiness().ok).toBe(false);
    expect(health.readiness().ok).toBe(true);
  });
});
