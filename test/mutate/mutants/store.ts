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
  // What the deployed system's tables say.
  mutant(
    'interface-rows',
    'row.deleted_at !== null || row.attached_node_name !== nodeName',
    'row.deleted_at !== null',
  ),
  mutant(
    'interface-rows',
    'created_at: sqlTimeOf(port.createdAt) ?? created',
    "created_at: sqlTimeOf(port.createdAt) ?? ''",
  ),
  mutant('interface-rows', 'if (row && isSameJson({ ...row, ...columns }, row)) return [];', ''),
  mutant(
    'interface-rows',
    "const { port_status = '', addresses = '' } = row ?? {};",
    "const [port_status, addresses] = ['', ''];",
  ),
  mutant('interface-rows', '...(row ? { id: row.id } : {}), ...columns', '...columns'),
  mutant(
    'interface-rows',
    'row.deleted_at === null && row.subnet_id === was?.subnet_id',
    'row.subnet_id === was?.subnet_id',
  ),
  mutant(
    'interface-rows',
    ".deleteFrom('multi_interface')\n      .where('provider_id', '=', '')",
    ".deleteFrom('multi_interface')",
  ),
  mutant(
    'server-rows',
    'row.deleted_at !== null || row.attached_node_name !== node_name',
    'row.deleted_at !== null',
  ),
  mutant(
    'server-rows',
    'row?.attached_node_name === name && row.deleted_at === null',
    'row?.attached_node_name === name',
  ),
  mutant(
    'server-rows',
    '!wanted.has(before.instance_id) ? [before]',
    'wanted.has(before.instance_id) ? [before]',
  ),
  mutant('subnet-rows', 'ids.filter((id) => !inUse.has(id))', '[...ids]'),
  mutant('subnet-rows', 'row === undefined || row.deleted_at !== null', 'row === undefined'),
  mutant('subnet-rows', "networkName === '' ? (row?.network_name ?? '') :", ''),
  mutant('subnet-rows', 'created_at: row?.created_at ?? now', 'created_at: now'),
  mutant('config-rows', "if (specHash === '') return false;", ''),
  mutant('config-rows', 'return row?.spec_hash !== specHash;', 'return row === undefined;'),
  mutant(
    'config-rows',
    "    .where('cr_namespace', '=', namespace)\n    .where('cr_name', '=', name)\n    .execute();",
    "    .where('cr_namespace', '=', namespace)\n    .execute();",
  ),
  mutant('sighting', '.toWellFormed()', ''),
  mutant('sighting', 'year >= 1000 && year <= 9999', 'year <= 9999'),
  mutant(
    'sighting',
    'port.status, port.createdAt, ...port.addresses',
    'port.status, port.createdAt',
  ),
  mutant('sighting', '[id, configured.has(id), port.status', '[id, port.status'),
  mutant('port-notes', '`${portId.toLowerCase()} ${providerId}`', 'portId.toLowerCase()'),
  mutant('port-notes', ".onRef('subnet.provider_id', '=', 'nic.provider_id')\n        ", ''),
  mutant('port-notes', 'fromSqlTime(created_at)', 'created_at'),
  mutant(
    'retention',
    "'multi_interface', 'multi_subnet', 'node_table'",
    "'multi_interface', 'multi_subnet'",
  ),
  mutant('retention', '365 * 86_400_000', '3_650 * 86_400_000'),
  mutant('batches', 'Math.ceil(', 'Math.floor('),
  mutant('deployed-tables', "unique: ['provider_id', 'port_id']", "unique: ['port_id']"),
  mutant(
    'deployed-tables',
    "unique: ['provider_id', 'attached_node_id']",
    "unique: ['attached_node_id']",
  ),
];
