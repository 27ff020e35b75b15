import { expect, it } from 'vitest';
import { node } from '../../explain/testing/healthy.ts';
import { nodeRowOf } from './nodes.ts';
import { type ScreenAnswer, type ScreenName, screens } from './screens.ts';

const names = Object.keys(screens) as ScreenName[];

it.each(names)(
  'the screen %s takes its path parameters as input, and names unread sources',
  (name) => {
    const { path, input, answer } = screens[name];
    const parameters = [...path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter);
    expect(Object.keys(input.shape)).toEqual(expect.arrayContaining(parameters));
    expect(Object.keys(answer.shape)).toEqual(expect.arrayContaining(['at', 'unread', 'skipped']));
  },
);

it('the row of a node counts configured NICs, and unused ports inside the selected subnets only', () => {
  const outside = { portId: 'p1', reason: 'SubnetNotSelected', message: '' };
  const expected = { portId: 'p2', address: '10.50.0.9', reason: 'PortTooOld', message: '' };
  const row: ScreenAnswer<'nodes'>['items'][number] = nodeRowOf(
    node(18, { unusedPorts: [outside, expected] }),
  );
  const { nics, unusedPorts, networks } = screens.nodes.answer.shape.items
    .unwrap()
    .element.parse(row);
  expect({ nics, unusedPorts, networks }).toEqual({
    nics: { configured: 2, all: 2 },
    unusedPorts: 1,
    networks: ['data', 'tenant'],
  });
});
