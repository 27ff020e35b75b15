import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { elementsOf } from './routes.ts';

test('reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
      fc.constantFrom(undefined, 2),
      (objects, indent) => {
        const json = JSON.stringify(objects, undefined, indent);
        const read = [...elementsOf(json)].map((text): unknown => JSON.parse(text));
        expect(read).toEqual(JSON.parse(json));
      },
    ),
  );
});

test.each(['', '{}', '[', '[{}', '[{},', '[{}{}]', '[1]', '[{}] x', '[{}, 1]', '["{}"]', '[{"a'])(
  'refuses %j',
  (json) => {
    expect(() => [...elementsOf(json)]).toThrow(SyntaxError);
  },
);
