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
  views.of(new FakeCloud('project-1'), 'team/one');
  views.of(new FakeCloud('project-2'), 'team/two');
  views.of(elsewhere, 'team/three');
  expect([...views.companions('team/one')]).toEqual(['team/one', 'team/two']);
  views.leave('team/two');
  expect([...views.companions('team/one')]).toEqual(['team/one']);
});
