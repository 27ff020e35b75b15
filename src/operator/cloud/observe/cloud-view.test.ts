import { describe, expect, it } from 'vitest';
import { nothingHappened } from '../../../openstack/notifications/envelope.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { CloudViews } from './cloud-view.ts';

const { signal } = new AbortController();

it('CloudViews.knows() returns whether an OpenstackConfig reads a network', () => {
  const views = new CloudViews(createFakeClock(), signal);
  views.of(new FakeCloud('project-1'), 'team/one', false);
  expect(views.knows('team/one', ['net-x', 'net-a'])).toBe(false);
  const known = { id: 'net-a', name: '', mtu: 1450 };
  views.of(Object.assign(new FakeCloud('project-1'), { networks: [known] }), 'team/one', false);
  expect(views.knows('team/one', ['net-x', 'net-a'])).toBe(true);
});

describe('CloudViews after an OpenstackConfig left its cloud', () => {
  const server = '00000000-0000-4000-8000-000000000001';
  const network = { id: 'net-a', name: '', mtu: 1450 };

  /**
   * Returns views with a single OpenstackConfig; `concerned` lists whether each event kind concerns the
   * config.
   */
  async function viewsWithOneConfig() {
    const views = new CloudViews(createFakeClock(), signal);
    const cloud = Object.assign(new FakeCloud(), { networks: [network] });
    const { ports } = views.of(cloud, 'team/one', true);
    await ports.portsOf('team/one', [server], 0, signal);
    const concerned = (): unknown[] => [
      views.concerned('team/one', { ...nothingHappened, servers: [server] }),
      views.knows('team/one', ['net-a']),
      views.chooses('team/one', ['project-1']),
      views.readsAs('team/one', ['user-1']),
    ];
    return { views, ports, concerned };
  }

  it('an OpenstackConfig without a cloud is concerned by no event, and its servers are dropped', async () => {
    const { views, ports, concerned } = await viewsWithOneConfig();
    expect(concerned()).toEqual([[server], true, true, true]);
    views.leave('team/one');
    expect(concerned()).toEqual([[], false, false, false]);
    expect(ports.serversOf('team/one')).toEqual([]);
  });

  it('an OpenstackConfig that moved to a new cloud is concerned by events of the new cloud only', async () => {
    const { views, ports, concerned } = await viewsWithOneConfig();
    views.of(new FakeCloud('project-2'), 'team/one', true);
    expect(concerned()).toEqual([[], false, false, true]);
    expect(ports.serversOf('team/one')).toEqual([]);
  });
});
