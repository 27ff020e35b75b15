import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { changed, placeOf, searchOf, views } from './place.ts';

it('a place survives the address bar, with any text in a filter', () => {
  const names = fc.constantFrom('node', 'cluster', 'text', 'continue');
  const texts = fc.string({ unit: 'binary', minLength: 1, maxLength: 255 });
  const places = fc.record({
    view: fc.constantFrom(...views),
    fields: fc.dictionary(
      names,
      texts.filter((text) => text.isWellFormed()),
      { noNullPrototype: true },
    ),
  });
  fc.assert(
    fc.property(places, (place) => {
      expect(placeOf(searchOf(place, 'ko'))).toEqual(place);
    }),
  );
});

it.each([
  ['', 'fleet', {}],
  ['?view=toString&node=a', 'fleet', { node: 'a' }],
  ['?view=nodes&text=&lang=ko', 'nodes', {}],
  [`?view=nodes&text=${'x'.repeat(2_000)}`, 'nodes', {}],
])('the query %.40s is the screen %s', (search, view, fields) => {
  expect(placeOf(search)).toEqual({ view, fields });
});

it('a different filter begins at the first page', () => {
  const fields = { state: 'Failed', text: 'a', continue: 'p2' };
  expect(changed(fields, { state: undefined, reason: 'NICInUse' })).toEqual({
    text: 'a',
    reason: 'NICInUse',
  });
});
