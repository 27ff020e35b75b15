import { describe, expect, it } from 'vitest';
import type { OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import { Fields } from './fields.ts';
import { serverSelector } from './servers.ts';

type Selected = Pick<OpenstackConfigSpec, 'vmNames' | 'vmSelector'>;

const id = 'ABCDEF00-0000-4000-8000-000000000001';

function selectorOf(spec: Selected) {
  return serverSelector(spec, new Fields());
}

function refusalsOf(spec: Selected): string[] {
  const fields = new Fields();
  serverSelector(spec, fields);
  return fields.problems.map(({ message }) => message);
}

describe('serverSelector', () => {
  it('serverSelector takes UUIDs of either case as ids, without duplicates, and other texts as names', () => {
    const vmNames = [
      id,
      ` ${id.toLowerCase()} `,
      ' worker-1 ',
      'worker-1',
      'Worker-1',
      '7',
      `${id}0`,
    ];
    expect(selectorOf({ vmNames })).toEqual({
      ids: [id.toLowerCase()],
      names: ['worker-1', 'Worker-1', '7', `${id}0`],
      carrying: undefined,
    });
  });

  it('serverSelector takes metadata and tags, with or without names', () => {
    const metadata = { pool: 'data', empty: '' };
    expect(selectorOf({ vmSelector: { metadata, tags: ['a', 'b', 'a'] } })).toEqual({
      ids: [],
      names: [],
      carrying: { metadata, tags: ['a', 'b'] },
    });
    expect(refusalsOf({ vmNames: [], vmSelector: { tags: ['a'] } })).toEqual([]);
    expect(refusalsOf({ vmNames: ['x'], vmSelector: { metadata } })).toEqual([]);
  });

  it.each<[Selected, string]>([
    [{}, 'spec.vmNames must name at least one server; to remove all its NICs, delete'],
    [{ vmNames: ['a', ' '] }, 'spec.vmNames[1] is blank; remove it'],
    [{ vmNames: ['a'], vmSelector: {} }, 'spec.vmSelector must have a metadata key or a tag'],
    [{ vmSelector: { metadata: {}, tags: [] } }, 'spec.vmSelector must have a metadata key'],
    [{ vmSelector: { tags: ['a', ''] } }, 'spec.vmSelector.tags[1] "" is not a tag of Nova'],
    [{ vmSelector: { tags: ['a,b'] } }, 'spec.vmSelector.tags[0] "a,b" is not a tag of Nova'],
    [{ vmSelector: { tags: ['a/b'] } }, 'spec.vmSelector.tags[0] "a/b" is not a tag of Nova'],
  ])('serverSelector refuses %j', (spec, message) => {
    expect(refusalsOf(spec)).toEqual([expect.stringContaining(message) as unknown]);
  });
});
