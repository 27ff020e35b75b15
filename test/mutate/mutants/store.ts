import type { Mutant } from '../mutant.ts';

const contract = 'test/contract/store/sqlite.test.ts';
const own = 'src/store/store.test.ts';

function mutant(file: string, find: string, replace: string, test = contract): Mutant {
  return { file: `src/store/${file}.ts`, find, replace, tests: ['unit', test] };
}

export const storeMutants: readonly Mutant[] = [
  mutant('store', 'await Promise.allSettled([store.#opened()]);', 'await store.#opened();', own),
  mutant('store', "if (location.kind !== 'sqlite' || !isCorrupt(error)) throw error;", '', own),
  mutant(
    'migrations',
    "createTable('node_config')\n          .ifNotExists()",
    "createTable('node_config')",
    own,
  ),
  mutant('recording', '...unknown]', ']'),
  mutant('store', 'if (!replaced && !isCorrupt(error)) throw error;', '', own),
  mutant('server-nics', ".where('updated_at', '<', oldest)", ".where('updated_at', '<', '')"),
  mutant('server-nics', 'from += idsAtOnce', 'from += 2 * idsAtOnce'),
  mutant(
    'recording',
    'await rememberNics(\n    write.tx,',
    'if (before.size === 0) await rememberNics(\n    write.tx,',
  ),
  mutant('recording', 'row?.uid === uid && row.generation === generation', 'row?.uid === uid'),
  mutant('recording', '.filter((row) => !names.has(row.node_name))', '.slice(0, 0)'),
  mutant(
    'recording',
    'updated_at: before?.hash === hash ? before.updated_at : at,',
    'updated_at: at,',
  ),
  mutant(
    'node-configs',
    "eb('provider_id', '=', provider).and('node_name', '>', node)",
    "eb('node_name', '>', node)",
  ),
  mutant('recording', 'if (last > 0) await', 'if (false) await'),
  mutant(
    'recording',
    'filter(([, row]) => isBy(author, row))',
    'filter(([, row]) => row.provider_id !== author.name)',
    'src/store/recording.test.ts',
  ),
  mutant(
    'changes',
    'portId ? `port ${portId}` : `mac',
    'portId === null ? `port ${portId}` : `mac',
  ),
  mutant('server-nics', "rows.filter(({ instance_id }) => instance_id !== '')", '[...rows]'),
];
