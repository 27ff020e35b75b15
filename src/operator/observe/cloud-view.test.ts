import { expect, it } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { FakeCloud } from '../testing/fake-cloud.ts';
import { CloudViews } from './cloud-view.ts';

const { signal } = new AbortController();

it('tells who looks at the same OpenStack, by whatever account, project or provider id', () => {
  const views = new CloudViews(createFakeClock(), signal);
  const elsewhere = new (class extends FakeCloud {
    override readonly name = 'https://another.test';
  })();
  views.of(new FakeCloud('project-1'), 'team/one', false);
  views.of(new FakeCloud('project-2'), 'team/two', false);
  views.of(elsewhere, 'team/three', false);
  expect([...views.companions('team/one')]).toEqual(['team/one', 'team/two']);
  expect(views.knows('team/one', ['net-x', 'net-a'])).toBe(false);
  const known = { id: 'net-a', name: '', mtu: 1450 };
  views.of(Object.assign(new FakeCloud('project-1'), { networks: [known] }), 'team/one', false);
  expect(views.knows('team/one', ['net-x', 'net-a'])).toBe(true);
  views.leave('team/two');
  expect([...views.companions('team/one')]).toEqual(['team/one']);
});
